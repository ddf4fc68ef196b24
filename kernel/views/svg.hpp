#pragma once
/// Writes one static picture. Colours stand in the style sheet only, so a script can exchange it for the dark card.

#include "kernel/views/palette.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace xpto::views {

std::string escape(std::string_view text);       // for text and attribute values; control characters become blanks
std::string number(double v);                    // one decimal, none when whole
/// Estimated width in pixels of a label in the system font; CJK counts as a full em.
double text_width(std::string_view utf8, double size, bool bold = false, bool mono = false);
/// Cut in the middle to `most` code points: "very_long_na…e_of_a_tile".
std::string clip_middle(std::string_view utf8, std::size_t most = 24);
/// Cut in the middle until the estimate fits.
std::string clip_to(std::string_view utf8, double width, double size, bool bold = false, bool mono = false);

/// Where a label was put, for the test that no two overlap. Widths are those of a wide-running font (DejaVu Sans), so most others
/// leave some 15 % of room.
struct LabelBox {
    double left = 0, top = 0, right = 0, bottom = 0;
    std::string text;
};

enum class Anchor : std::uint8_t { start, middle, end };

/// Text classes of the style sheet: size and weight.
enum class Type : std::uint8_t { heading, verdict, body, small, name, mono, label, bold };

class Svg {
  public:
    Svg(double width, std::string title, std::string description);

    /// `cls` are style-sheet classes ("h3" stage hue fill, "o3" outline only, "lane", "card" ...); `attributes` is raw and ours.
    void rect(double x, double y, double w, double h, double rx, std::string_view cls, std::string_view attributes = {}, std::string_view hover = {});
    void line(double x1, double y1, double x2, double y2, std::string_view cls, std::string_view attributes = {});
    void path(std::string_view d, std::string_view cls, std::string_view attributes = {}, std::string_view hover = {});
    void circle(double x, double y, double r, std::string_view cls, std::string_view attributes = {}, std::string_view hover = {});
    /// A label at the baseline y. `cls` adds a colour class.
    void text(double x, double y, Type type, std::string_view utf8, Anchor anchor = Anchor::start, std::string_view cls = {}, std::string_view hover = {});
    /// Two-part label: bold name, then text after `gap`.
    void title_text(double x, double y, std::string_view name, std::string_view rest);
    /// Groups what belongs together; `key` links parts of several bands ("e3"), hover text goes to the line under the figure.
    void open(std::string_view key, std::string_view hover = {});
    void close();

    std::string arrow(int hue);                  // id of an arrow head in that hue; -1 ink
    std::string hatch(int hue);                  // paint server of a paid wait; -1 unlawful red
    void use(std::string_view classes);
    void grow(double height) { m_height = height > m_height ? height : m_height; }
    double height() const { return m_height; }
    std::size_t rectangles() const { return m_rectangles; }
    const std::vector<LabelBox>& labels() const { return m_labels; }
    /// The finished picture. The card is painted behind everything.
    std::string finish() const;
    /// The style sheet of `theme` for the classes used.
    std::string style(Theme theme) const;

  private:
    std::string id(std::string_view what) const;
    double m_width, m_height = 0;
    std::string m_title, m_description, m_body;
    mutable std::set<int> m_arrows, m_hatches;
    std::set<std::string> m_classes;
    std::vector<LabelBox> m_labels;
    std::size_t m_rectangles = 0;
};

/// FNV-1a of the content as 16 hex digits: ids that repeat for equal input.
std::string content_hash(std::string_view bytes);

} // namespace xpto::views

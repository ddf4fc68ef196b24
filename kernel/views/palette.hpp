#pragma once
/// Colours of the views, light card and dark card, and which stage has which hue. Hue is stage everywhere.

#include "engine/isa/enums.hpp"
#include "engine/report/common.hpp"

#include <string>
#include <utility>
#include <vector>

namespace xpto::views {

enum class Theme : std::uint8_t { light, dark };

struct Rgb {
    int r = 0, g = 0, b = 0;
};
Rgb rgb(std::string_view hex);
std::string css(Rgb c);
/// `part` of `over` on top of `under`.
Rgb mix(Rgb under, Rgb over, double part);
double contrast(Rgb a, Rgb b);

struct Roles {
    std::string card, lane, ink, muted, faint, good, warn, bad, border, grid;
};
const Roles& roles(Theme theme);
const std::string& tone_colour(pto::report::Tone tone, Theme theme);

/// Eight hues: 0..3 cube stages (cool), 4..7 vector stages (warm). A fifth stage of one core starts over with a notched corner.
struct StageHue {
    int hue = 0;
    bool notched = false;
};
inline constexpr int hue_count = 8;
const std::string& hue_colour(int hue, Theme theme);
/// White or ink, whichever contrasts more.
std::string label_on(const std::string& colour);
/// The hue with 35 % ink.
std::string outline(const std::string& colour, Theme theme);
std::vector<StageHue> stage_hues(const std::vector<pto::isa::Core>& cores);

/// Eight steps of cividis, for heat maps.
const std::string& cividis(double share);

} // namespace xpto::views

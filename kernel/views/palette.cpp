#include "kernel/views/palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace xpto::views {

using pto::report::Tone;

namespace {

const std::array<Roles, 2> role_table{{
    {"#FCFCFA", "#F2F3F5", "#14181D", "#59626E", "#8A929C", "#1A7F37", "#8A5A00", "#B3261E", "#D3D7DC", "#E4E6E9"},
    {"#171A1F", "#1F232A", "#E8EAED", "#A5ADB7", "#7C8590", "#57C277", "#E0B04A", "#FF8A80", "#3A4049", "#2C3139"},
}};
const std::array<std::array<std::string, hue_count>, 2> hues{{
    {"#1F59B2", "#6DBDF7", "#2D968C", "#7875E6", "#FEC22A", "#B65A16", "#F682B3", "#6C4C24"},
    {"#3B6DD6", "#AFDFFB", "#44A18C", "#AE97F3", "#FCE26A", "#CA7618", "#F2A0B8", "#906748"},
}};
const std::array<std::string, 16> cividis_steps{"#00224E", "#002F6F", "#273D6D", "#3D4A6B", "#4E576C", "#5D646E", "#6C7073", "#7B7D78",
                                                "#8B8A78", "#9B9876", "#ACA671", "#BEB56A", "#D0C45F", "#E2D350", "#F4E33D", "#FDEA45"};

double linear(int c) {
    const double v = c / 255.0;
    return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}
double luminance(Rgb c) { return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b); }

} // namespace

Rgb rgb(std::string_view s) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
    if (s.size() < 7) return {};
    return {digit(s[1]) * 16 + digit(s[2]), digit(s[3]) * 16 + digit(s[4]), digit(s[5]) * 16 + digit(s[6])};
}

std::string css(Rgb c) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string s = "#";
    for (int v : {c.r, c.g, c.b}) s += {digits[v / 16], digits[v % 16]};
    return s;
}

Rgb mix(Rgb under, Rgb over, double part) {
    const auto m = [part](int a, int b) { return std::clamp(int(std::lround(a + (b - a) * part)), 0, 255); };
    return {m(under.r, over.r), m(under.g, over.g), m(under.b, over.b)};
}

double contrast(Rgb a, Rgb b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

const Roles& roles(Theme theme) { return role_table[std::size_t(theme)]; }

const std::string& tone_colour(Tone tone, Theme theme) {
    const Roles& r = roles(theme);
    return tone == Tone::good ? r.good : tone == Tone::warn ? r.warn : tone == Tone::bad ? r.bad : r.muted;
}

const std::string& hue_colour(int hue, Theme theme) { return hues[std::size_t(theme)][std::size_t(hue)]; }

std::string label_on(const std::string& colour) {
    const Rgb c = rgb(colour);
    return contrast(c, rgb("#FFFFFF")) > contrast(c, rgb("#14181D")) ? "#FFFFFF" : "#14181D";
}

std::string outline(const std::string& colour, Theme theme) { return css(mix(rgb(colour), rgb(roles(theme).ink), 0.35)); }

std::vector<StageHue> stage_hues(const std::vector<pto::isa::Core>& cores) {
    std::vector<StageHue> out;
    int seen[2] = {0, 0};
    for (pto::isa::Core c : cores) {
        const int group = c == pto::isa::Core::cube ? 0 : 1, n = seen[group]++;
        out.push_back({group * 4 + n % 4, n >= 4});
    }
    return out;
}

const std::string& cividis(double share) {
    const double v = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0);
    return cividis_steps[std::min<std::size_t>(cividis_steps.size() - 1, std::size_t(v * double(cividis_steps.size())))];
}

} // namespace xpto::views

#include "engine/report/sweep.hpp"

#include "engine/report/json_fields.hpp"
#include "engine/report/text.hpp"

#include <algorithm>

namespace pto::report {

namespace {

using State = SweepPoint::State;

std::string setting(const SweepPoint& p, bool zh) {
    std::string s = "preload " + std::to_string(p.preload);
    for (const auto& [name, v] : p.setting) s += ", " + name + " " + v + (zh ? "" : "");
    return s;
}
bool valid_best(const Sweep& s) { return s.best >= 0 && std::size_t(s.best) < s.points.size() && s.points[std::size_t(s.best)].state == State::right; }
std::string dash(std::int64_t v) { return v < 0 ? "-" : std::to_string(v); }

} // namespace

Status status(const Sweep& s) {
    for (const SweepPoint& p : s.points)
        if (p.state == State::hang) return Status::hang;
    for (const SweepPoint& p : s.points)
        if (p.state == State::wrong) return Status::different;
    if (valid_best(s)) return honest(Status::right, s.provenance);
    return s.run > 0 ? Status::warned : Status::refused;
}

std::string progress_line(const Sweep& s, double seconds_left, Language language) {
    std::string line = std::to_string(s.run) + "/" + std::to_string(s.settings);
    const bool zh = language == Language::zh;
    if (valid_best(s)) line += (zh ? "，最佳 " : ", best ") + fixed(s.points[std::size_t(s.best)].us, 2) + " us (" + setting(s.points[std::size_t(s.best)], zh) + ")";
    if (seconds_left >= 0) line += zh ? "，约剩 " + fixed(seconds_left, 0) + " s" : ", about " + fixed(seconds_left, 0) + " s left";
    return line;
}

std::string to_text(const Sweep& s, Language language) {
    const bool zh = language == Language::zh;
    std::string line;
    const std::string a = std::to_string(s.run), n = std::to_string(s.settings);
    if (valid_best(s)) {
        const SweepPoint& b = s.points[std::size_t(s.best)];
        line = zh ? "最佳 " + setting(b, zh) + "：" + fixed(b.us, 2) + " us；" + n + " 个配置中 " + a + " 个可运行"
                  : std::string(word(status(s))) + "  " + s.kernel + ": best " + setting(b, zh) + ": " + fixed(b.us, 2) + " us; " + a + " of " + n + " settings run";
        if (status(s) == Status::right) line += zh ? "，均与 preload 0 逐位相同" : ", all equal preload 0";
    } else line = std::string(word(status(s))) + "  " + s.kernel + ": " + (s.run ? "no setting ran and was right" : "no setting could run") + "; " + a + " of " + n + " settings run";
    if (s.interrupted) line += zh ? "；已中断" : "; interrupted";
    std::string out = wrapped(line, 2);
    std::string second = s.provenance.computed_by + ", " + plural(s.tasks, "task", "tasks");
    if (!s.swept.empty()) second += "; " + s.swept;
    if (!s.compared.empty()) second += "; compared " + s.compared;
    out += wrapped(second, 2);
    std::vector<std::pair<std::string, int>> names;
    for (const SweepPoint& p : s.points)
        for (const auto& [name, v] : p.setting) {
            auto f = std::find_if(names.begin(), names.end(), [&](const auto& x) { return x.first == name; });
            if (f == names.end()) names.push_back({name, std::max(columns(name), columns(v)) + 2});
            else f->second = std::max(f->second, columns(v) + 2);
        }
    for (auto& [name, width] : names) width = std::max(width, 5);
    out += pad("preload", 9);
    for (const auto& [name, width] : names) out += pad(name, width);
    out += pad("depth", 7) + pad("ids", 6) + pad("prefire", 9) + pad("L1 KiB", 9) + pad("time us", 9) + pad("vs 0", 8) + "verdict\n";
    for (std::size_t i = 0; i < s.points.size(); ++i) {
        const SweepPoint& p = s.points[i];
        std::string row = pad(std::to_string(p.preload), 9);
        for (const auto& [name, width] : names) {
            std::string v;
            for (const auto& [key, text] : p.setting)
                if (key == name) v = text;
            row += pad(v, width);
        }
        row += pad(dash(p.depth), 7) + pad(dash(p.ids), 6) + pad(dash(p.prefire), 9) + pad(p.l1_bytes < 0 ? "-" : std::to_string(p.l1_bytes / 1024), 9);
        row += pad(p.us < 0 ? "-" : fixed(p.us, 2), 9) + pad(p.us > 0 && s.serial_us > 0 ? fixed(s.serial_us / p.us, 2) : "-", 8);
        static constexpr std::string_view words[] = {"right", "predicted", "refused", "WRONG", "HANG", "not yet"};
        row += words[std::size_t(p.state)];
        if (!p.reason.empty()) row += " " + p.reason;
        if (!p.note.empty()) row += "  (" + p.note + ")";
        if (valid_best(s) && std::size_t(s.best) == i) row += "  <- best";
        out += row + "\n";
    }
    if (s.floor_us >= 0) out += wrapped(pad("floor", 9) + fixed(s.floor_us, 2) + " us" + (s.floor_note.empty() ? "" : ": " + s.floor_note), 9);
    if (!s.advice.empty()) out += wrapped(pad("advice", 9) + s.advice, 9);
    return fit(out);
}

NLOHMANN_JSON_SERIALIZE_ENUM(State, {{State::right, "right"}, {State::predicted, "predicted"}, {State::refused, "refused"}, {State::wrong, "wrong"}, {State::hang, "hang"}, {State::pending, "pending"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SweepPoint, state, preload, setting, depth, ids, prefire, l1_bytes, us, fastest_us, slowest_us, reason, note)
PTO_JSON_FIELDS(Sweep, kernel, swept, compared, tasks, settings, run, points, best, serial_us, floor_us, floor_note, advice, interrupted)

nlohmann::json json_of(const Sweep& s) {
    nlohmann::json j = head(s.provenance);
    j["status"] = word(status(s));
    json_put(j, s);
    return j;
}
Sweep sweep_from_json(const nlohmann::json& j) {
    Sweep s{provenance_of(j)};
    json_take(j, s);
    return s;
}

} // namespace pto::report

#include "engine/report/hang.hpp"

#include "engine/report/chinese.hpp"
#include "engine/report/json_fields.hpp"
#include "engine/report/text.hpp"

namespace pto::report {

Status status(const Hang& h) { return h.device.empty() ? Status::hang : Status::no_answer; }

std::string to_text(const Hang& h, Language language) {
    const bool zh = language == Language::zh;
    std::string out;
    if (!h.device.empty()) {
        out = zh ? "无响应：" + h.device + " 在 " + fixed(h.timeout_s, 0) + " 秒内未完成" + (h.device_error.empty() ? "" : "（" + h.device_error + "）") + "；变量已保留\n"
                 : "NO ANSWER  " + h.device + " did not finish within " + fixed(h.timeout_s, 0) + " s" + (h.device_error.empty() ? "" : " (" + h.device_error + ")") + "; your variables are kept\n";
        out += provenance_line(h.provenance, language) + "\n";
        out += wrapped(pad("known", 11) + "the launch of " + h.kernel + " was stopped after the limit; why it did not finish is not known from the card", 11);
        out += wrapped(pad("simulator", 11) + (h.simulator_says.empty() ? "not asked: run the same launch with device=simulator" : "the same launch " + h.simulator_says), 11);
        out += wrapped(pad("device", 11) + (h.device_state.empty() ? "state not known" : h.device_state), 11);
        if (h.stuck.empty()) return fit(out);
    } else {
        const std::string n = std::to_string(h.stuck.size());
        out = zh ? "挂死 " + h.kernel + " 于 " + fixed(h.at_us, 2) + " us（" + grouped(h.at_cycles) + " 周期）：" + n + " 条流水等待，无法继续\n"
                 : "HANG  " + h.kernel + " stops at " + fixed(h.at_us, 2) + " us (" + grouped(h.at_cycles) + " cycles): " + plural(std::int64_t(h.stuck.size()), "pipe waits", "pipes wait") + ", nothing can run\n";
        std::string second = h.provenance.computed_by;
        if (!h.ran.empty()) second += ", " + h.ran;
        if (!h.preload.empty()) second += ", preload " + h.preload;
        out += wrapped(second + (zh ? "；未触碰任何卡" : "; no card was touched"), 2);
    }
    if (!h.missing_cores.empty()) out += wrapped(pad(zh ? "原因" : "cause", 11) + h.missing_cores, 11);
    for (std::size_t i = 0; i < h.circle.size(); ++i) out += wrapped(pad(i ? "" : zh ? "循环等待" : "circle", 11) + h.circle[i], 11);
    int who = 10;
    for (const StuckPipe& s : h.stuck)
        if (!s.cause) who = std::max(who, columns(s.cores + " " + s.pipe) + 2);
    bool first_cause = true, first_follow = true;
    for (const StuckPipe& s : h.stuck) {
        const std::string name = s.cores + " " + s.pipe;
        if (s.cause) {
            std::string line = pad(!first_cause ? "" : zh ? "原因" : "cause", 11) + pad(name, columns(name) + 2) + (zh ? "等待 " : "wait ") + s.waits_for + (s.before.empty() ? "" : (zh ? "，在 " : " before ") + s.before + (zh ? " 之前" : ""));
            if (s.place.valid()) line = pad(line, 84) + text_of(s.place);
            out += wrapped(line, 11);
            out += wrapped(pad("", 11) + (zh ? "已 set " + std::to_string(s.sets) + " 次，已等待 " + std::to_string(s.waits) + " 次" : "set " + plural(s.sets, "time", "times") + ", awaited " + plural(s.waits, "time", "times")) +
                               (s.id >= 0 ? (zh ? "，任何程序中都不再有 id " + std::to_string(s.id) + " 的 set" : ", and no set of id " + std::to_string(s.id) + " is left in any program") : std::string{}), 11);
            if (!s.expected.empty()) {
                std::string expected = pad("", 11) + (zh ? "应有：" : "expected: ") + s.expected;
                if (s.expected_place.valid()) expected = pad(expected, 84) + text_of(s.expected_place);
                out += wrapped(expected, 11);
            }
            first_cause = false;
        } else {
            std::string line = pad(!first_follow ? "" : zh ? "后果" : "follows", 11) + pad(name, who);
            line += (s.waits_for.rfind("id ", 0) == 0 ? (zh ? "等待 " : "wait ") : "") + s.waits_for + (s.before.empty() ? "" : (zh ? "，在 " : " before ") + s.before + (zh ? " 之前" : "")) + (s.because.empty() ? "" : (zh ? "：" : ": ") + s.because);
            out += wrapped(line, 11 + who);
            first_follow = false;
        }
    }
    std::vector<std::string> done;
    for (const StageProgress& p : h.progress) done.push_back(p.stage + " " + std::to_string(p.done) + (zh ? " / " : " of ") + std::to_string(p.tasks));
    if (!done.empty()) out += listed(zh ? "完成" : "done", done, "   ", 11);
    for (std::size_t i = 0; i < h.fix.size(); ++i) out += wrapped(pad(zh ? (i ? "或者" : "修改") : i ? "or" : "fix", 11) + said(h.fix[i], language), 11);
    return fit(out);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StuckPipe, cores, pipe, waits_for, before, id, stage, task, sets, waits, expected, because, place, expected_place, queue, cause, waits_on)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageProgress, stage, done, tasks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CounterState, id, what, sets, waits, awaited)
PTO_JSON_FIELDS(Hang, kernel, preload, ran, at_us, at_cycles, stuck, circle, missing_cores, progress, counters, fix, device, timeout_s, device_error, simulator_says, device_state)

nlohmann::json json_of(const Hang& h) {
    nlohmann::json j = head(h.provenance);
    j["status"] = word(status(h));
    json_put(j, h);
    return j;
}
Hang hang_from_json(const nlohmann::json& j) {
    Hang h{provenance_of(j)};
    json_take(j, h);
    return h;
}

} // namespace pto::report

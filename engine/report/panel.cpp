#include "engine/report/panel.hpp"

#include "engine/report/chinese.hpp"
#include "engine/report/json_fields.hpp"
#include "engine/report/text.hpp"

#include <algorithm>

namespace pto::report {

Status status(const Panel& p) {
    if (!p.stale.empty()) return Status::stale;
    if (p.findings && !p.findings->findings.empty() && status(*p.findings) == Status::refused) return Status::refused;
    if (p.memory && status(*p.memory) == Status::refused) return Status::refused;
    if (p.plan && !p.plan->loops.empty() && status(*p.plan) != Status::proven) return Status::not_proven;
    if (p.findings && !p.findings->findings.empty()) return Status::warned;
    return honest(Status::proven, p.provenance);
}

namespace {

std::string us_text(const Timeline& t, Ticks ticks) { return fixed(us(t, ticks), 2); }

std::size_t errors(const Panel& p) {
    std::size_t n = 0;
    if (p.findings)
        for (const Finding& f : p.findings->findings) n += f.severity == Severity::error;
    return n;
}

} // namespace

std::string headline(const Panel& p, Language language) {
    const bool zh = language == Language::zh;
    if (!p.stale.empty()) return p.kernel + (zh ? "：" + p.stale + "；请重新运行该单元" : ": " + p.stale + "; run the cell again");
    std::string line = p.kernel + (p.preload.empty() ? "" : "  preload " + p.preload);
    const Status s = status(p);
    if (s == Status::refused) {
        if (errors(p) == 1)
            for (const Finding& f : p.findings->findings)
                if (f.severity == Severity::error) return p.kernel + ": " + said(f.message, language);
        return line + (zh ? "：" : ": ") + (errors(p) ? plural(std::int64_t(errors(p)), zh ? "个错误" : "error", zh ? "个错误" : "errors") : zh ? "内存放不下" : "memory does not fit");
    }
    if (s == Status::not_proven && p.plan)
        for (const PlanLoop& loop : p.plan->loops)
            if (status(loop, p.plan->provenance) != Status::proven) {
                line += (zh ? "：" : ": ") + (first_open(loop.proof, language).empty() ? (zh ? "未经检查" : "nobody checked it") : first_open(loop.proof, language));
                break;
            }
    if (p.timeline && p.timeline->total > 0) {
        const Timeline& t = *p.timeline;
        line += (s == Status::not_proven ? "; " : zh ? "：" : ": ") + std::string(zh ? "预测 " : "predicted ") + us_text(t, t.total) + " us";
        if (t.serial_total > 0) {
            const std::string ratio = fixed(double(t.serial_total) / double(t.total), 2);
            line += zh ? "，相对 preload 0 提速 " + ratio + " 倍（" + us_text(t, t.serial_total) + " us）" : ", " + ratio + " times faster than preload 0 (" + us_text(t, t.serial_total) + " us)";
        }
    } else if (s != Status::not_proven && p.plan && p.plan->loops.empty()) line += zh ? "：没有流水循环" : ": no pipeline loop";
    return line;
}

std::string second_line(const Panel& p, Language language) {
    const bool zh = language == Language::zh;
    std::string line;
    if (p.compile_ms >= 0) line = (zh ? "编译用时 " : "compiled in ") + fixed(p.compile_ms, p.compile_ms < 100 ? 1 : 0) + (zh ? " ms，" : " ms, ");
    line += zh && p.provenance.computed_by == "nothing was run" ? "未运行" : p.provenance.computed_by;
    if (!p.target.empty()) line += (zh ? "；目标 " : "; target ") + p.target;
    if (p.timeline && p.timeline->total > 0) {
        const std::string guessed = std::to_string(p.timeline->provenance.guessed_percent);
        line += zh ? "；耗时为估算（" + guessed + " % 的时序行是猜测值）" : "; time is an estimate (" + guessed + " % guessed rows)";
    }
    return line;
}

namespace {

std::string loop_lines(const PlanLoop& loop) {
    std::string line = pad("loop", 10) + loop.name + (loop.place.valid() ? ", " + text_of(loop.place) : "");
    line = pad(line, 31) + (loop.tasks >= 0 ? plural(loop.tasks, "task", "tasks") : std::string("tasks at run time")) + "   ring depth " + std::to_string(loop.ring_depth) +
           "   drain beats " + std::to_string(loop.drain_beats);
    std::string out = line + "\n";
    for (isa::Core core : {isa::Core::cube, isa::Core::vector}) {
        std::vector<std::string> items;
        for (const PlanStage& s : loop.stages)
            if (s.core == core) items.push_back(s.name + " task b" + (s.delay ? "-" + std::to_string(s.delay) : ""));
        if (!items.empty()) out += listed("  " + std::string(isa::name(core)), items, "   ", 10);
    }
    return out;
}

std::string sync_lines(const SyncPlan& plan, const PlanLoop& loop) {
    const PlanCounts n = counts(loop);
    const Proof& p = loop.proof;
    std::string line;
    if (status(loop, plan.provenance) == Status::proven)
        line = "for every number of tasks: no hang, no race, counters at most " + std::to_string(p.max_pending) + " of " + std::to_string(p.limit) + ", waits = sets";
    else line = "NOT PROVEN: " + (first_open(p, Language::en).empty() ? std::string("nobody checked it") : first_open(p, Language::en));
    std::string out = wrapped(pad("sync", 10) + line, 10);
    out += pad("", 10) + plural(n.hand_overs, "hand-over", "hand-overs") + ": " + plural(n.waits + n.sets, "site", "sites") + " in the loop, " + std::to_string(n.prefire) + " prefire, " +
           std::to_string(n.drain) + " drain; event ids " + std::to_string(n.ids_used) + " of " + std::to_string(loop.ids.size()) + "\n";
    return out;
}

std::string time_line(const Timeline& t) {
    std::vector<std::string> items;
    if (t.fill > 0 || t.drain > 0) items.push_back("fill " + us_text(t, t.fill) + ", drain " + us_text(t, t.drain) + " us");
    std::vector<const Lane*> busy;
    for (const Lane& l : t.lanes) busy.push_back(&l);
    std::stable_sort(busy.begin(), busy.end(), [](const Lane* a, const Lane* b) { return a->totals.busy > b->totals.busy; });
    std::string shares;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, busy.size()); ++i)
        shares += (i ? ", " : "") + busy[i]->pipe + (i ? " " : " busy ") + fixed(100.0 * double(busy[i]->totals.busy) / double(std::max<Ticks>(1, t.total)), 0) + " %";
    if (!shares.empty()) items.push_back(shares);
    if (t.steady >= 0)
        items.push_back(std::string("steady pace ") + (t.steady_is_floor ? "at least " : "") + grouped((t.steady + 512) / ticks_per_cycle) + " cycles a task (" +
                        (t.pace_core.rfind("AIC", 0) == 0 ? "cube " : "vector ") + t.pace_pipe + ")");
    return items.empty() ? std::string{} : listed("time", items, "; ", 10);
}

std::string memory_line(const MemoryMap& m) {
    if (status(m) == Status::refused) {
        const std::string text = to_text(m);
        return wrapped(pad("memory", 10) + text.substr(0, text.find('\n')), 10);
    }
    std::vector<std::string> items;
    std::size_t overlaps = 0;
    for (const MemorySpaceMap& s : m.memories) {
        const MemoryUse u = use_of(s);
        items.push_back(s.name + " " + fixed(double(u.used) / 1024, u.used % 1024 ? 1 : 0) + " of " + std::to_string(s.usable / 1024) + (items.empty() ? " KiB" : ""));
        overlaps += s.overlaps.size();
    }
    if (items.empty()) return {};
    items.back() += overlaps ? "; " + plural(std::int64_t(overlaps), "lawful overlap", "lawful overlaps") : "; no overlap";
    return listed("memory", items, ", ", 10);
}

std::size_t line_count(const std::string& text) {
    return std::size_t(std::count(text.begin(), text.end(), '\n')) + (text.empty() || text.back() == '\n' ? 0 : 1);
}

} // namespace

std::string to_text(const Panel& p, Language language) {
    const bool zh = language == Language::zh;
    static constexpr std::pair<Status, std::string_view> chinese[] = {{Status::proven, "已证明"}, {Status::not_proven, "未证明"}, {Status::refused, "已拒绝"}, {Status::warned, "警告"}, {Status::stale, "已过期"}};
    std::string state(word(status(p)));
    if (zh)
        for (const auto& [s, w] : chinese)
            if (s == status(p)) state = w;
    std::string out = wrapped(state + "  " + headline(p, language), 2) + wrapped(second_line(p, language), 2);
    if (!p.stale.empty()) return fit(out);
    if (p.findings && !p.findings->findings.empty()) out += "\n" + to_text(*p.findings, language) + (status(p) == Status::refused ? "" : "\n");
    if (status(p) == Status::refused && errors(p)) return fit(out);
    if (p.plan) {
        for (const PlanLoop& loop : p.plan->loops) out += loop_lines(loop) + sync_lines(*p.plan, loop);
        if (p.plan->loops.empty()) out += "loop      no pipeline loop, so there is no sync plan\n";
    }
    if (p.timeline) out += time_line(*p.timeline);
    if (p.memory) out += memory_line(*p.memory);
    std::vector<std::string> code;
    if (p.code) code.push_back(p.code->new_name + " +" + std::to_string(p.code->added) + " -" + std::to_string(p.code->removed) + " lines");
    if (!p.cpp.empty()) code.push_back(p.cpp_name + " " + plural(std::int64_t(line_count(p.cpp)), "line", "lines"));
    if (!code.empty()) out += listed("code", code, "; ", 10);
    for (const auto& [part, why] : p.missing) out += wrapped(pad(part, 10) + "not shown: " + why, 10);
    if (!p.decorator_line.empty()) out += wrapped(pad("paste", 10) + p.decorator_line, 10);
    if (!p.since.empty()) out += wrapped(pad("since", 10) + (zh ? "与上次相比：" : "last run of this cell: ") + p.since, 10);
    out += "more      %pto_sync  %pto_memory  %pto_code  %pto_cpp  %pto_profile " + p.kernel + "(...)\n";
    return fit(out);
}

nlohmann::json json_of(const Panel& p) {
    nlohmann::json j = head(p.provenance);
    j["kernel"] = p.kernel;
    j["target"] = p.target;
    j["status"] = word(status(p));
    j["headline"] = headline(p, Language::en);
    j["preload"] = p.preload;
    j["compile_ms"] = p.compile_ms;
    j["diagnostics"] = p.findings ? json_of(*p.findings)["diagnostics"] : nlohmann::json::array();
    j["loops"] = nlohmann::json::array();
    if (p.plan)
        for (const PlanLoop& loop : p.plan->loops) j["loops"].push_back(json_of(loop));
    if (p.plan && !p.plan->loops.empty()) j["sync"] = {{"status", word(status(*p.plan))}, {"proofs", nlohmann::json::array()}};
    if (p.plan)
        for (const PlanLoop& loop : p.plan->loops) j["sync"]["proofs"].push_back(json_of(loop)["proof"]);
    j["memory"] = p.memory ? json_of(*p.memory)["memories"] : nlohmann::json::array();
    if (p.timeline) {
        const Timeline& t = *p.timeline;
        j["predicted"] = {{"us", us(t, t.total)}, {"cycles", t.total / ticks_per_cycle}, {"serial_us", t.serial_total < 0 ? nlohmann::json(nullptr) : nlohmann::json(us(t, t.serial_total))}};
    }
    if (p.code) j["code"] = {{"name", p.code->new_name}, {"added", p.code->added}, {"removed", p.code->removed}};
    if (!p.cpp.empty()) j["cpp"] = {{"name", p.cpp_name}, {"lines", line_count(p.cpp)}};
    j["since"] = p.since;
    j["stale"] = p.stale;
    j["checks"] = p.checks;
    j["versions"] = p.versions;
    j["missing"] = nlohmann::json::object();
    for (const auto& [part, why] : p.missing) j["missing"][part] = why;
    return j;
}

} // namespace pto::report

#include "engine/report/advice.hpp"

#include "engine/report/json_fields.hpp"
#include "engine/report/text.hpp"

#include <algorithm>
#include <cmath>

namespace pto::report {
namespace {

/// "p 3 (has 2)" where slots are missing, "p 2" else; a loop's name only where there are several.
std::string need_text(const SlotNeed& n, bool name_loop, bool zh) {
    std::string out = n.buffer + " " + std::to_string(n.needs);
    if (n.has < n.needs) out += zh ? "（现有 " + std::to_string(n.has) + "）" : " (has " + std::to_string(n.has) + ")";
    return name_loop ? out + (zh ? "，循环 " : " in ") + n.loop : out;
}

bool several_loops(const Advice& a) { return a.preload.size() > 1; }

std::string list_name(const ListAdvice& l, bool name_loop, bool zh) {
    const std::string keyword = l.forward ? "fwd_ids" : "bwd_ids";
    if (zh) return l.buffer + " 的 " + keyword + (name_loop ? "（循环 " + l.loop + "）" : "");
    return keyword + " of " + l.buffer + (name_loop ? " in loop " + l.loop : "");
}

bool is_current(const Advice& a, std::int32_t preload) {
    return !a.preload.empty() && std::all_of(a.preload.begin(), a.preload.end(), [&](std::int32_t p) { return p == preload; });
}

} // namespace

std::string headline(const Advice& a, Language language) {
    const bool zh = language == Language::zh;
    std::string out = zh ? "最大的安全 preload：" : "largest safe preload ";
    out += a.largest ? std::to_string(*a.largest) : zh ? "无" : "none";
    if (!a.largest && !zh) out = "no preload is accepted";
    const auto next = std::find_if(a.sweep.begin(), a.sweep.end(), [&](const AdviceRow& r) { return !r.accepted && (!a.largest || r.preload > *a.largest); });
    if (next == a.sweep.end()) return out + (zh ? "（更深的未尝试）" : ", the deepest that was tried");
    std::vector<std::string> missing;
    for (const SlotNeed& n : next->slots)
        if (n.has < n.needs)
            missing.push_back(zh ? n.buffer + " 需要 " + std::to_string(n.needs) + " 个槽位（现有 " + std::to_string(n.has) + "）"
                                 : n.buffer + " needs " + std::to_string(n.needs) + " slots (it has " + std::to_string(n.has) + ")");
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end()); // one buffer of several loops
    out += (zh ? "；preload " : "; at ") + std::to_string(next->preload) + (zh ? "：" : " ");
    return out + (missing.empty() ? next->why : join(missing, zh ? "，" : " and "));
}

std::vector<std::vector<std::string>> sweep_cells(const Advice& a, Language language) {
    const bool zh = language == Language::zh, many = several_loops(a);
    const bool timed = std::any_of(a.sweep.begin(), a.sweep.end(), [](const AdviceRow& r) { return !r.cycles_per_task.empty(); });
    std::vector<std::vector<std::string>> rows{zh ? std::vector<std::string>{"preload", "环深", "id", "所需槽位"} : std::vector<std::string>{"preload", "depth", "ids", "slots needed"}};
    if (timed) rows[0].push_back(zh ? "每任务周期" : "cycles a task");
    rows[0].push_back(zh ? "结论" : "verdict");
    for (const AdviceRow& r : a.sweep) {
        std::vector<std::string> depth, slots, cycles;
        for (std::int32_t d : r.ring_depths) depth.push_back(std::to_string(d));
        for (const SlotNeed& n : r.slots) slots.push_back(need_text(n, many, zh));
        for (double c : r.cycles_per_task) cycles.push_back(grouped(std::int64_t(std::llround(c))));
        std::string needed = join(slots, ", ");
        if (columns(needed) > 42) { // many channels: only what is missing
            slots.clear();
            for (const SlotNeed& n : r.slots)
                if (n.has < n.needs) slots.push_back(need_text(n, many, zh));
            needed = slots.empty() ? (zh ? "够用" : "all have enough") : join(slots, ", ");
        }
        rows.push_back({std::to_string(r.preload), join(depth, ","), r.accepted ? std::to_string(r.ids) : "-", needed.empty() ? "-" : needed});
        if (timed) rows.back().push_back(cycles.empty() ? "-" : join(cycles, " + "));
        // Missing slots stand in their column already.
        const bool slots_say_it = std::any_of(r.slots.begin(), r.slots.end(), [](const SlotNeed& n) { return n.has < n.needs; });
        const std::string code = r.code.rfind("PTO-", 0) == 0 ? r.code.substr(4) : r.code;
        std::string verdict = r.accepted ? (zh ? "接受" : "accepted") : (zh ? "拒绝 " : "refused ") + code;
        if (is_current(a, r.preload)) verdict += zh ? "（当前）" : " <- this one";
        if (!r.accepted && !slots_say_it) verdict += (zh ? "：" : ": ") + r.why;
        rows.back().push_back(verdict);
    }
    return rows;
}

std::vector<std::string> hints(const Advice& a, Language language) {
    const bool zh = language == Language::zh, many = several_loops(a);
    std::vector<std::string> out, names;
    for (const ListAdvice& l : a.redundant) names.push_back(list_name(l, many, zh));
    if (!names.empty())
        out.push_back(zh ? "可以去掉：" + join(names, "，") + "（其余交接已经保证顺序）" : "could go: " + join(names, ", ") + "; the other hand-overs keep that order already");
    const bool short_of_ids = std::any_of(a.sweep.begin(), a.sweep.end(), [](const AdviceRow& r) { return r.code == "PTO-K44"; });
    std::int32_t saved = 0;
    for (auto a_list = a.share.begin(); a_list != a.share.end();) { // lists with one price in one sentence
        std::vector<std::string> same;
        auto next = a_list;
        for (; next != a.share.end() && next->saves == a_list->saves && next->pending == a_list->pending; ++next) same.push_back(list_name(*next, many, zh)), saved += next->saves;
        const std::string each = same.size() > 1 ? zh ? "各" : " each" : "";
        out.push_back(zh ? "可以共用一个 id：" + join(same, "，") + "，" + each + "省 " + std::to_string(a_list->saves) + " 个；该 id 最多积累 " + std::to_string(a_list->pending) +
                               " 次 set（上限 " + std::to_string(a.pending_limit) + "），不增加等待"
                         : "could share one id: " + join(same, ", ") + "; that frees " + plural(a_list->saves, "id", "ids") + each + ", costs no time, and up to " +
                               std::to_string(a_list->pending) + " of " + std::to_string(a.pending_limit) + " sets may be pending on it");
        a_list = next;
    }
    if (short_of_ids)
        out.push_back(zh ? "16 个 id 不够时共用以上列表，共可省 " + std::to_string(saved) + " 个"
                         : "where " + std::to_string(a.event_ids) + " ids do not suffice, sharing these lists frees " + std::to_string(saved) + " of them");
    const bool timed = std::any_of(a.sweep.begin(), a.sweep.end(), [](const AdviceRow& r) { return !r.cycles_per_task.empty(); });
    if (timed)
        out.push_back(zh ? "周期：同一张图上最大的环均值，各流水的时长取自当前 preload 的预测；不含核内 buffer 的槽位"
                         : "cycles: the largest mean over the circles of the same graph, with each pipe's predicted time at this preload; slots of buffers inside a core are left out");
    else if (!a.not_predicted.empty()) out.push_back((zh ? "没有周期预测：" : "no cycles: ") + a.not_predicted);
    return out;
}

std::string to_text(const Advice& a, Language language) {
    std::string out = wrapped(pad(language == Language::zh ? "建议" : "advice", 10) + headline(a, language), 10);
    if (out.empty() || out.back() != '\n') out += "\n";
    const auto cells = sweep_cells(a, language);
    std::vector<int> widths;
    for (const auto& row : cells)
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (widths.size() <= k) widths.push_back(0);
            widths[k] = std::max(widths[k], columns(row[k]) + 2);
        }
    if (widths.size() > 3) widths[3] = std::min(widths[3], 44);
    for (const auto& row : cells) {
        std::string line;
        for (std::size_t k = 0; k + 1 < row.size(); ++k) line += pad(row[k], widths[k]);
        const bool fits = columns(line) + columns(row.back()) <= text_columns;
        line = wrapped(line + row.back(), fits ? 0 : 9);
        out += line + (line.back() == '\n' ? "" : "\n");
    }
    for (const std::string& h : hints(a, language)) {
        const std::string line = wrapped(h, 10);
        out += line + (line.back() == '\n' ? "" : "\n");
    }
    return fit(out);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SlotNeed, loop, buffer, has, needs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AdviceRow, preload, accepted, code, why, ring_depths, slots, ids, cycles_per_task)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ListAdvice, loop, buffer, forward, saves, pending)

nlohmann::json json_of(const Advice& a) {
    nlohmann::json j = head(a.provenance);
    j["kernel"] = a.kernel;
    j["preload"] = a.preload;
    j["largest_preload"] = a.largest ? nlohmann::json(*a.largest) : nlohmann::json(nullptr);
    j["sweep"] = a.sweep;
    j["redundant"] = a.redundant;
    j["share"] = a.share;
    j["event_ids"] = a.event_ids;
    j["pending_limit"] = a.pending_limit;
    j["not_predicted"] = a.not_predicted;
    return j;
}

Advice advice_from_json(const nlohmann::json& j) {
    Advice a{provenance_of(j), j.at("kernel"), j.at("preload"), {}, j.at("sweep"), j.at("redundant"), j.at("share"), j.at("event_ids"), j.at("pending_limit"), j.at("not_predicted")};
    if (!j.at("largest_preload").is_null()) a.largest = j.at("largest_preload").get<std::int32_t>();
    return a;
}

} // namespace pto::report

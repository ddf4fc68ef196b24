#include "engine/report/race.hpp"

#include "engine/report/chinese.hpp"
#include "engine/report/json_fields.hpp"
#include "engine/report/text.hpp"

#include <algorithm>

namespace pto::report {

Status status(const Race& r) {
    if (r.before_run) return Status::not_proven;
    for (const RacePair& p : r.pairs)
        if (!p.same_pipe) return Status::race;
    return Status::warned;
}

namespace {

std::string who(const RaceAccess& a, bool zh) {
    const std::string name = a.stage.empty() ? a.core + " " + a.pipe : a.stage;
    if (a.task < 0 && !a.iteration.empty()) return name + (zh ? "（第 " + a.iteration + " 次迭代）" : " (iteration " + a.iteration + ")");
    if (a.task < 0) return name;
    return name + (zh ? "（任务 " + std::to_string(a.task) + "）" : " (task " + std::to_string(a.task) + ")");
}

std::string sentence(const RacePair& p, bool zh) {
    const std::string what = p.buffer + (p.slot >= 0 ? (zh ? " 槽 " : " slot ") + std::to_string(p.slot) : "");
    const bool both = p.first.writes && p.second.writes;
    if (zh) return what + "：" + who(p.first, zh) + (both ? "与 " + who(p.second, zh) + " 可能写同一数据" : "可能覆写 " + who(p.second, zh) + " 仍在读取的数据");
    return what + ": " + who(p.first, zh) + (both ? " and " + who(p.second, zh) + " may write the same bytes in either order" : " may overwrite what " + who(p.second, zh) + " still reads");
}

std::string access_line(const RaceAccess& a, int name, int text, bool zh) {
    std::string where = text_of(a.place);
    std::string line = pad(zh ? (a.writes ? "写" : "读") : a.writes ? "write" : "read", 10) + pad(a.core + " " + a.pipe, name) + pad(a.text, text) + pad(where, columns(where) + 3);
    if (a.task < 0 && !a.iteration.empty()) line += (zh ? "第 " : "iteration ") + a.iteration + (zh ? " 次迭代" : "");
    line += a.stage + (a.task >= 0 ? (zh ? "，任务 " : ", task ") + std::to_string(a.task) : "") + (a.block >= 0 ? ", block " + std::to_string(a.block) : "");
    return wrapped(without_trailing_blanks(line), 10);
}

} // namespace

std::string to_text(const Race& r, Language language) {
    const bool zh = language == Language::zh;
    if (r.pairs.empty()) return zh ? "没有竞争\n" : "no race found\n";
    const RacePair& p = r.pairs.front();
    std::string state(word(status(r)));
    if (zh) state = r.before_run ? "未证明" : "竞争";
    std::string out = wrapped(state + "  " + sentence(p, zh), 2);
    std::string second = r.provenance.computed_by + (r.preload.empty() ? "" : ", preload " + r.preload);
    if (!r.found_by.empty()) second += "; " + said(r.found_by, language);
    if (!r.values_note.empty()) second += "; " + r.values_note;
    out += wrapped(second, 2);
    const int name = std::max(columns(p.first.core + p.first.pipe), columns(p.second.core + p.second.pipe)) + 3;
    const int text = std::min(44, std::max(columns(p.first.text), columns(p.second.text)) + 3);
    out += access_line(p.first, name, text, zh) + access_line(p.second, name, text, zh);
    std::string bytes;
    if (p.from >= 0) bytes = p.memory + " " + hex(p.from) + "-" + hex(p.to);
    if (!p.bytes_note.empty()) bytes += (bytes.empty() ? "" : ", ") + said(p.bytes_note, language);
    if (!bytes.empty()) out += wrapped(pad(zh ? "字节" : "bytes", 10) + bytes, 10);
    if (!p.order.empty()) out += wrapped(pad(zh ? "次序" : "order", 10) + said(p.order, language), 10);
    if (!p.luck.empty()) out += wrapped(pad(zh ? "后果" : "luck", 10) + said(p.luck, language), 10);
    for (std::size_t i = 0; i < p.fix.size(); ++i) out += wrapped(pad(zh ? (i ? "或者" : "修改") : i ? "or" : "fix", 10) + said(p.fix[i], language), 10);
    for (std::size_t i = 0; i < r.same.size(); ++i) out += wrapped(pad(i ? "" : zh ? "同类" : "same", 10) + said(r.same[i], language), 10);
    const std::size_t shown = std::min(r.pairs.size(), std::size_t(6));
    for (std::size_t i = 1; i < shown; ++i) out += wrapped(pad(i != 1 ? "" : zh ? "另有" : "also", 10) + sentence(r.pairs[i], zh), 10);
    if (r.pairs.size() > shown) out += pad("", 10) + (zh ? "还有 " : "and ") + std::to_string(r.pairs.size() - shown) + (zh ? " 处\n" : " more\n");
    return fit(out);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RaceAccess, writes, core, pipe, text, place, stage, task, block, iteration, start_cycles, end_cycles, clock, awaited)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RacePair, buffer, slot, first, second, memory, from, to, bytes_note, order, luck, fix, same_pipe)
PTO_JSON_FIELDS(Race, kernel, preload, before_run, found_by, values_note, pairs, same)

nlohmann::json json_of(const Race& r) {
    nlohmann::json j = head(r.provenance);
    j["status"] = word(status(r));
    json_put(j, r);
    return j;
}
Race race_from_json(const nlohmann::json& j) {
    Race r{provenance_of(j)};
    json_take(j, r);
    return r;
}

} // namespace pto::report

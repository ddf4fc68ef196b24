#include "engine/report/precision.hpp"

#include "engine/report/json_fields.hpp"
#include "engine/report/text.hpp"

#include <cmath>
#include <cstdio>
#include <limits>

namespace pto::report {

Status status(const Precision& p) { return honest(p.verdict, p.provenance); }

namespace {

std::string short_number(double v) {
    char b[40];
    std::snprintf(b, sizeof b, "%.2g", v);
    std::string s = b;
    // 2.3e-05 -> 2.3e-5
    if (const auto e = s.find('e'); e != std::string::npos && e + 2 < s.size() && s[e + 2] == '0') s.erase(e + 2, 1);
    return s;
}
std::string value(double v) {
    char b[40];
    std::snprintf(b, sizeof b, "%.4g", v);
    return b;
}

std::string element(const std::string& name, const ElementError& e, bool zh) {
    std::string s = name + "[";
    for (std::size_t i = 0; i < e.index.size(); ++i) s += (i ? "," : "") + std::to_string(e.index[i]);
    s += "]";
    if (e.task >= 0) s += (zh ? " 任务 " : " task ") + std::to_string(e.task);
    if (e.subblock >= 0) s += (zh ? "，AIV" : ", AIV") + std::to_string(e.subblock);
    if (zh) return s + "：误差 " + short_number(e.error) + "，6 σ 为 " + short_number(6 * e.sigma) + "，上限 " + short_number(e.limit) + "，值 " + value(e.got);
    return s + ": error " + short_number(e.error) + ", 6 sigma " + short_number(6 * e.sigma) + ", limit " + short_number(e.limit) + ", value " + value(e.got);
}

} // namespace

std::string to_text(const Precision& p, Language language) {
    const bool zh = language == Language::zh;
    const Status s = status(p);
    std::string line, z = fixed(p.worst_sigma, 1), n = grouped(p.elements);
    if (zh) {
        if (s == Status::bitwise) line = "逐位相同：" + p.output + " 的 " + n + " 个元素";
        else if (s == Status::match) line = "一致：最大 " + z + " σ，" + n + " 个元素均不超过 6";
        else if (s == Status::rounding) line = "舍入偏大：" + grouped(p.above_sigma) + " 个超过 6 σ，均在上限内" + (p.kind.empty() ? "" : "；可能是" + p.kind);
        else if (s == Status::order) line = "顺序相关：合法顺序不同导致，波动在上限内";
        else {
            line = "不一致：" + p.output + " 的 " + n + " 个元素中有 " + grouped(p.above_limit) + " 个超过上限";
            if (!p.first_wrong_stage.empty()) line += "；最早出错 " + p.first_wrong_stage + (p.first_wrong_task >= 0 ? "，任务 " + std::to_string(p.first_wrong_task) : "");
        }
    } else {
        line = std::string(word(s)) + "  " + p.output;
        if (s == Status::bitwise) line += " (" + p.shape + " " + p.dtype + "): all " + n + " elements equal the reference bit for bit";
        else if (s == Status::match) line += " (" + p.shape + " " + p.dtype + ") against the reference: worst " + z + " sigma, 0 of " + n + " above 6";
        else if (s == Status::rounding) line += ": " + grouped(p.above_sigma) + " of " + n + " above 6 sigma, all within the limit" + (p.kind.empty() ? "" : "; likely " + p.kind);
        else if (s == Status::order) line += ": the result depends on a lawful order, spread within the limit";
        else {
            line += ": " + grouped(p.above_limit) + " of " + n + " above the limit";
            if (!p.first_wrong_stage.empty()) line += "; first wrong stage: " + p.first_wrong_stage + (p.first_wrong_task >= 0 ? ", task " + std::to_string(p.first_wrong_task) : "");
        }
    }
    std::string out = wrapped(line, 2);
    std::string second = (zh ? "计算于 " : "computed on ") + p.provenance.computed_by + (zh ? "，参考 " : ", reference ") + p.reference;
    if (!p.tolerance.empty()) second += "; " + p.tolerance;
    out += wrapped(second, 2);
    const auto row = [&](std::string_view en, std::string_view label_zh, const std::string& text) {
        const std::string_view label = zh ? label_zh : en;
        if (!text.empty()) out += wrapped(pad(label, 11) + text, 11);
    };
    if (s == Status::bitwise) return fit(out);
    const std::string to = zh ? " 至 " : " to ";
    row("threshold", "阈值", p.derivation + (zh ? "：σ " : ": sigma ") + short_number(p.sigma_low) + to + short_number(p.sigma_high) + (zh ? "，上限 " : ", limit ") + short_number(p.limit_low) + to + short_number(p.limit_high));
    std::string where = p.where;
    if (!p.scope.empty()) where += (where.empty() ? "" : zh ? "；" : "; ") + p.scope;
    row("where", "位置", where);
    std::vector<std::string> stages;
    for (const StageCheck& c : p.stages) stages.push_back(c.stage + " " + c.what + (c.right ? (zh ? " 正确" : " right") : zh ? " 错误" : " wrong") + (c.note.empty() ? "" : " (" + c.note + ")"));
    if (!stages.empty()) out += listed(zh ? "各 stage" : "stages", stages, "   ", 11);
    row("kind", "类型", p.kind);
    row("see", "另见", p.see);
    if (!p.worst.empty()) row("worst", "最差", element(p.output, p.worst.front(), zh));
    if (!p.largest.empty()) row("largest", "误差最大", element(p.output, p.largest.front(), zh));
    row("spread", "分布", zh ? "一半元素低于 " + fixed(p.median_sigma, 2) + " σ，99 % 低于 " + fixed(p.p99_sigma, 1)
                             : "half of all below " + fixed(p.median_sigma, 2) + " sigma, 99 % below " + fixed(p.p99_sigma, 1));
    return fit(out);
}

/// JSON has no infinity: cells above the limit are null.
inline void to_json(nlohmann::json& j, const ErrorMap& m) {
    nlohmann::json z = nlohmann::json::array();
    for (double v : m.z) z.push_back(std::isfinite(v) ? nlohmann::json(v) : nlohmann::json(nullptr));
    j = {{"rows", m.rows}, {"columns", m.columns}, {"element_rows", m.element_rows}, {"element_columns", m.element_columns}, {"z", z}, {"task_rows", m.task_rows}, {"task_labels", m.task_labels}};
}
inline void from_json(const nlohmann::json& j, ErrorMap& m) {
    j.at("rows").get_to(m.rows);
    j.at("columns").get_to(m.columns);
    j.at("element_rows").get_to(m.element_rows);
    j.at("element_columns").get_to(m.element_columns);
    for (const auto& v : j.at("z")) m.z.push_back(v.is_null() ? std::numeric_limits<double>::infinity() : v.get<double>());
    j.at("task_rows").get_to(m.task_rows);
    j.at("task_labels").get_to(m.task_labels);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ElementError, index, task, subblock, got, expected, error, sigma, limit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HistogramBar, from, to, count)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageCheck, stage, what, right, note)
PTO_JSON_FIELDS(Precision, verdict, output, shape, dtype, reference, elements, above_sigma, above_limit, worst_sigma, median_sigma, p99_sigma, sigma_low, sigma_high, limit_low,
                limit_high, derivation, tolerance, where, scope, first_wrong_stage, first_wrong_task, kind, see, stages, worst, largest, map, histogram)

nlohmann::json json_of(const Precision& p) {
    nlohmann::json j = head(p.provenance);
    json_put(j, p);
    j["status"] = word(status(p));
    return j;
}
Precision precision_from_json(const nlohmann::json& j) {
    Precision p{provenance_of(j)};
    json_take(j, p);
    return p;
}

} // namespace pto::report

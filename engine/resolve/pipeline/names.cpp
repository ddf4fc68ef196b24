/// Last step: names the transform will generate, and reserved ones. Pipeline reference, 12; K36, S5.

#include "engine/resolve/pipeline/scan.hpp"

namespace pto::pipeline {

bool Scan::check_generated_names() {
    std::set<std::string> generated;
    for (const Loop& l : model.loops) {
        if (l.preload == 0) {
            generated.insert("_pl_sync_id" + l.suffix);
            continue;
        }
        for (const char* base : {"_pl_ctx_arr", "_pl_task_id", "_pl_drain", "_pl_ctx_0"}) generated.insert(base + l.suffix);
        const std::int64_t n = std::int64_t(l.stages.size());
        for (std::int64_t j = 1; j < n; ++j) generated.insert("_pl_ctx_neg" + std::to_string(j / 2 * l.preload + j % 2) + l.suffix);
    }
    std::map<std::string, Span> used;
    for (const syntax::Parameter& p : kernel.function->parameters) used.emplace(p.name, p.at);
    syntax::walk(body, [&](const Stmt& st) {
        walk_exprs(st, [&](const Expr& e) { if (e.kind == ExprKind::name) used.emplace(e.text, e.at); });
    });
    for (const auto& [name, at] : used) {
        model.names.insert(name);
        if (name.rfind("_pl_", 0) != 0) continue;
        if (generated.count(name)) report(Code::generated_name_used, at, "`" + name + "` is a name the transform generates for this kernel").advice.push_back("rename it");
        else report(Code::reserved_name, at, "`" + name + "` begins with _pl_, which is reserved").advice.push_back("rename it");
    }
    return !blocks(diagnostics);
}

} // namespace pto::pipeline

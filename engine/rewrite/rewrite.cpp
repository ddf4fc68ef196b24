#include "engine/rewrite/rewrite.hpp"

#include "engine/rewrite/collect.hpp"
#include "engine/rewrite/kernel_text.hpp"

namespace pto::rewrite {
namespace {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Function;

/// Renames free names inside the copied text of a function.
void rename(std::vector<TextEdit>& edits, const Function& f, const std::map<std::string, std::string>& renamed) {
    if (renamed.empty()) return;
    if (auto found = renamed.find(f.name); found != renamed.end()) edits.push_back({f.name_at.begin, f.name_at.end, found->second, f.name_at});
    std::set<std::string> parameters;
    for (const syntax::Parameter& p : f.parameters) parameters.insert(p.name);
    auto in = [&](const Expr& root) {
        syntax::walk(root, [&](const Expr& e) {
            if (e.kind != ExprKind::name || parameters.count(e.text)) return;
            if (auto found = renamed.find(e.text); found != renamed.end()) edits.push_back({e.at.begin, e.at.end, found->second, e.at});
        });
    };
    for (const Expr& d : f.decorators) in(d);
    for (const syntax::Parameter& p : f.parameters) in(p.annotation), in(p.fallback);
    in(f.returns);
    syntax::walk(f.body, [&](const syntax::Stmt& st) {
        in(st.value);
        in(st.annotation);
        for (const Expr& t : st.targets) in(t);
    });
}

struct Region {
    FileId file;
    std::int32_t begin = 0, end = 0;
};

/// Whole lines of a function, decorators included.
Region lines_of(const SourceMap& sources, const Function& f) {
    Text t(sources, f.at.file);
    return {f.at.file, t.line_start(f.at.begin), t.next_line(std::max(f.at.begin, f.at.end - 1))};
}

std::vector<TextEdit> kernel_edits(const SourceMap& sources, const pipeline::Model& model, const schedule::Schedule& schedule, const sync::SyncPlan& plan) {
    KernelEdits k{model, Text(sources, model.source.function->at.file), {}};
    remove_pipeline_keyword(k);
    edit_folded(k);
    for (const pipeline::Loop& loop : model.loops) edit_loop(k, loop, schedule.loops[std::size_t(loop.index)], plan.loops[std::size_t(loop.index)]);
    return std::move(k.edits);
}

void end_line(Builder& out, const std::string& text) {
    if (!text.empty() && text.back() != '\n') out.generated("\n");
}

} // namespace

Generated unchanged(const SourceMap& sources, FileId file) {
    Builder out(sources);
    out.verbatim(file, 0, std::int32_t(sources.file(file).text.size()));
    return out.take();
}

Result<Generated> rewrite(const SourceMap& sources, syntax::Environment& names, const pipeline::Model& model, const schedule::Schedule& schedule,
                          const sync::SyncPlan& plan, const RewriteOptions& options) {
    Result<Generated> result;
    const Function& f = *model.source.function;
    const Region kernel = lines_of(sources, f);
    std::vector<TextEdit> edits = kernel_edits(sources, model, schedule, plan);
    Builder out(sources);
    if (options.layout == Layout::whole_file) {
        out.verbatim(kernel.file, 0, kernel.begin);
        out.edited(kernel.file, kernel.begin, kernel.end, std::move(edits), 0);
        out.verbatim(kernel.file, kernel.end, std::int32_t(sources.file(kernel.file).text.size()));
        result.value = out.take();
        return result;
    }

    Collected c = collect(sources, names, model, result.diagnostics);
    if (has_errors(result.diagnostics)) return result;
    rename(edits, f, c.kernel_renamed);
    out.generated(header(sources, model, schedule, plan), f.name_at);
    if (c.future_annotations) out.generated("from __future__ import annotations\n");
    if (c.dataclasses) out.generated("from dataclasses import dataclass\n");
    for (const std::string& i : c.imports) out.generated(i + "\n");
    if (!c.constants.empty()) out.generated("\n");
    for (const CollectedLine& l : c.constants) out.generated((l.text.find('\n') != std::string::npos ? "\n" : "") + l.text + (l.text.find('\n') != std::string::npos ? "\n\n" : "\n"), l.origin);
    for (const CollectedFunction& one : c.functions) {
        const Function& g = *one.ref.function;
        const Region r = lines_of(sources, g);
        out.generated("\n\n# from " + sources.place(g.name_at) + "\n", g.name_at);
        std::vector<TextEdit> renames;
        rename(renames, g, one.renamed);
        out.edited(r.file, r.begin, r.end, std::move(renames), g.column);
        end_line(out, sources.file(r.file).text.substr(0, std::size_t(r.end)));
    }
    out.generated("\n\n# from " + sources.place(f.name_at) + "\n", f.name_at);
    out.edited(kernel.file, kernel.begin, kernel.end, std::move(edits), f.column);
    end_line(out, sources.file(kernel.file).text.substr(0, std::size_t(kernel.end)));
    result.value = out.take();
    return result;
}

} // namespace pto::rewrite

#include "engine/resolve/pipeline/analyse.hpp"

#include "engine/resolve/pipeline/scan.hpp"

#include <algorithm>

namespace pto::pipeline {

Scan::Scan(const syntax::KernelSource& k, syntax::Environment& n, const Facts& f, const AnalyseOptions& o)
    : kernel(k), names(n), facts(f), options(o), ops(o.ops ? *o.ops : isa::Catalogue::builtin()) {
    model.source = k;
}

Diagnostic& Scan::report(Code code, Span at, std::string message) {
    diagnostics.push_back(diagnose(code, at, std::move(message)));
    return diagnostics.back();
}

AnalyseOptions options_of(const syntax::KernelOptions& kernel) {
    AnalyseOptions o;
    if (!kernel.preload.empty() || kernel.preload_is_sequence) o.preload = kernel.preload, o.preload_is_sequence = kernel.preload_is_sequence;
    if (kernel.sync_only) o.preload = {0}, o.preload_is_sequence = false;
    o.auto_mutex = kernel.auto_mutex;
    o.preload_at = kernel.pipeline_at;
    return o;
}

namespace {

void collect_names(const Body& body, std::set<std::string>& bound) {
    syntax::walk(body, [&](const Stmt& st) {
        if (st.kind == StmtKind::function) bound.insert(st.text);
        if (st.kind != StmtKind::assign && st.kind != StmtKind::annotated && st.kind != StmtKind::augmented && st.kind != StmtKind::loop) return;
        for (const Expr& t : st.targets) {
            if (t.kind == ExprKind::name) bound.insert(t.text);
            if (t.kind == ExprKind::tuple || t.kind == ExprKind::list)
                for (const Expr& x : t.args)
                    if (x.kind == ExprKind::name) bound.insert(x.text);
        }
    });
}

/// How the kernel spells the language module, from its own text: sections first, else any language call.
std::string language_prefix(Scan& s) {
    std::string found;
    syntax::walk(s.kernel.function->body, [&](const Stmt& st) {
        if (!found.empty()) return;
        for (const Expr& t : st.targets)
            if (!section_of(st).empty()) found = t.args.front().args.front().dotted();
        if (st.kind == StmtKind::loop && st.value.kind == ExprKind::call && st.value.args.front().kind == ExprKind::attribute && s.operation(s.kernel.scope, st.value.args.front()) == "range")
            found = st.value.args.front().args.front().dotted();
    });
    return found.empty() ? "pl" : found;
}

/// A MIX sync_all that surely runs between the outer loops of two neighbouring pipeline loops.
void find_barriers(Scan& s) {
    std::vector<Span> barriers;
    struct Search {
        Scan& s;
        std::vector<Span>& out;
        void in(const Body& body) {
            for (const Stmt& st : body) {
                if (st.kind == StmtKind::expression && st.value.kind == ExprKind::call && s.operation(s.kernel.scope, st.value.args.front()) == "system.sync_all") {
                    const Expr* type = st.value.keyword("core_type");
                    if (!type || s.operation(s.kernel.scope, *type) == "SyncCoreType.MIX") out.push_back(st.at);
                }
                if (st.kind == StmtKind::with && section_of(st).empty()) in(st.body);
            }
        }
    };
    Search{s, barriers}.in(s.body);
    for (std::size_t i = 1; i < s.model.loops.size(); ++i)
        s.model.loops[i].barrier_before = std::any_of(barriers.begin(), barriers.end(), [&](const Span& b) {
            return b.begin >= s.model.loops[i - 1].outer.end && b.end <= s.model.loops[i].outer.begin;
        });
}

void fill_stages(Scan& s) {
    for (std::size_t l = 0; l < s.nodes.size(); ++l) {
        Loop& loop = s.model.loops[l];
        const Expr& range = s.nodes[l].loop->value;
        if (s.options.sources) {
            const SourceFile& file = s.options.sources->file(loop.outer.file);
            const auto line = std::upper_bound(file.line_starts.begin(), file.line_starts.end(), loop.outer.begin) - 1;
            loop.outer_column = loop.outer.begin - *line;
        }
        loop.stop = range.args.size() == 2 ? range.args[1].at : range.args[2].at;
        for (const LoopNode::StageNode& n : s.nodes[l].stages) {
            Stage st;
            st.name = n.statement->value.args.front().text;
            st.core = *core_of(*n.section);
            st.call = n.statement->value;
            st.statement = n.statement->at, st.section = n.section->at, st.section_header = n.section->header;
            st.function = *s.function(s.kernel.scope, st.name);
            loop.stages.push_back(std::move(st));
        }
    }
}

bool check_preload(Scan& s) {
    const AnalyseOptions& o = s.options;
    const Span at = o.preload_at.valid() ? o.preload_at : s.kernel.function->name_at;
    if (o.preload.empty()) {
        s.report(Code::preload_value, at, "preload is an empty sequence").advice.push_back("give an int, or one int for each pipeline loop");
        return false;
    }
    for (std::int64_t p : o.preload)
        if (p < 0) {
            s.report(Code::preload_value, at, "preload is " + std::to_string(p)).advice.push_back("0 keeps the serial order, 1 and more run ahead");
            return false;
        }
    return true;
}

} // namespace

Result<Model> analyse(const syntax::KernelSource& kernel, syntax::Environment& names, const Facts& facts, const AnalyseOptions& options) {
    Scan s(kernel, names, facts, options);
    s.model.language = language_prefix(s);
    for (const syntax::Parameter& p : kernel.function->parameters) s.bound.insert(p.name);
    collect_names(kernel.function->body, s.bound);

    bool ok = check_preload(s) && s.fold_constant_branches();
    if (ok) {
        syntax::walk(s.body, [&](const Stmt& st) {
            if ((st.kind == StmtKind::assign || st.kind == StmtKind::annotated) && st.targets.size() == 1 && st.targets[0].kind == ExprKind::name && st.value.kind != ExprKind::absent)
                s.assigned[st.targets[0].text].push_back(&st);
            std::optional<isa::Core> core = core_of(st);
            if (core) s.sections.emplace_back(st.at, *core == isa::Core::cube ? Place::cube : Place::vector);
        });
        ok = s.find_pipeline_loops() && s.check_loops();
    }
    if (ok) {
        fill_stages(s);
        find_barriers(s);
        ok = s.read_buffers();
    }
    if (ok) {
        s.bind_kernel_names();
        ok = s.read_outer_picks() && s.scan_accesses() && s.classify_arguments() && s.check_generated_names();
    }
    if (ok && !options.auto_mutex) {
        Diagnostic& d = s.report(Code::pipeline_no_auto_mutex, kernel.options.pipeline_at.valid() ? kernel.options.pipeline_at : kernel.function->name_at,
                                 "the plan relies on auto_mutex for the order of pipes inside a core, and auto_mutex is off");
        d.advice.push_back("set auto_mutex=True, or order the pipes of each core by hand");
    }
    Result<Model> result;
    result.diagnostics = std::move(s.diagnostics);
    if (ok) result.value = std::move(s.model);
    return result;
}

} // namespace pto::pipeline

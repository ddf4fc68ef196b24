/// Step 3: rules about loops and the chain of stages. Pipeline reference, 6 and 7 (K8 to K18, S6).

#include "engine/resolve/pipeline/scan.hpp"

#include <algorithm>

namespace pto::pipeline {
namespace {


/// The value a kernel name is assigned when it is one call of this language operation; null otherwise.
const Stmt* bound_to(Scan& s, const std::string& name, std::string_view operation) {
    auto found = s.assigned.find(name);
    if (found == s.assigned.end()) return nullptr;
    for (const Stmt* st : found->second)
        if (st->value.kind == ExprKind::call && s.operation(s.kernel.scope, st->value.args.front()) == operation) return st;
    return nullptr;
}

void struct_arguments(Scan& s) {
    for (std::size_t l = 0; l < s.nodes.size(); ++l)
        for (const LoopNode::StageNode& node : s.nodes[l].stages) {
            const Expr& call = node.statement->value;
            for (std::size_t i = 1; i < call.args.size(); ++i) {
                if (call.args[i].kind != ExprKind::name) continue;
                if (const Stmt* made = bound_to(s, call.args[i].text, "struct_array")) {
                    Diagnostic& d = s.report(Code::struct_array_argument, made->value.at, "`" + call.args[i].text + "` is a struct array and is passed to stage `" + call.args.front().text + "`");
                    d.labels.push_back({call.args[i].at, "passed here"});
                    d.advice.push_back("use a pl.struct: the transform makes one slot of it for every task in flight");
                }
            }
        }
    for (std::size_t l = 0; l < s.nodes.size(); ++l)
        for (const LoopNode::StageNode& node : s.nodes[l].stages) {
            const Expr& call = node.statement->value;
            for (std::size_t i = 1; i < call.args.size(); ++i) {
                if (call.args[i].kind != ExprKind::name) continue;
                if (!bound_to(s, call.args[i].text, "struct")) continue;
                for (const Stmt* st : s.assigned[call.args[i].text])
                    if (s.inside(*s.nodes[l].loop, *st)) {
                        Diagnostic& d = s.report(Code::struct_bound_in_loop, st->at, "struct `" + call.args[i].text + "` is bound inside the pipeline loop");
                        d.labels.push_back({call.args[i].at, "passed to stage `" + call.args.front().text + "`"});
                        d.advice.push_back("bind it in front of the loop and assign its fields inside");
                    }
            }
        }
}

void preloads(Scan& s) {
    const AnalyseOptions& o = s.options;
    const Span at = o.preload_at.valid() ? o.preload_at : s.kernel.options.pipeline_at.valid() ? s.kernel.options.pipeline_at : s.kernel.function->name_at;
    if (o.preload_is_sequence && o.preload.size() != s.model.loops.size()) {
        Diagnostic& d = s.report(Code::preload_count, at, "preload has " + std::to_string(o.preload.size()) + " values, the kernel has " + std::to_string(s.model.loops.size()) +
                                                              (s.model.loops.size() == 1 ? " pipeline loop" : " pipeline loops"));
        for (const Loop& l : s.model.loops) d.labels.push_back({l.header, "pipeline loop " + std::to_string(l.index)});
        d.advice.push_back("a single int applies to every loop");
        return;
    }
    for (Loop& l : s.model.loops) l.preload = std::int32_t(o.preload_is_sequence ? o.preload[std::size_t(l.index)] : o.preload.front());
}

void outer_loops(Scan& s) {
    for (std::size_t i = 0; i < s.model.loops.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (s.model.loops[i].outer == s.model.loops[j].outer) {
                Diagnostic& d = s.report(Code::shared_outer_loop, s.model.loops[i].header, "this pipeline loop and the one before it share an outer loop");
                d.labels.push_back({s.model.loops[j].header, "the other pipeline loop"});
                d.labels.push_back({s.model.loops[i].outer_header, "the outer loop"});
                d.advice.push_back("give each pipeline loop an outer loop of its own");
                break;
            }
}

void stage_returns(Scan& s) {
    std::set<std::string> seen;
    for (const LoopNode& node : s.nodes)
        for (const LoopNode::StageNode& st : node.stages) {
            const Expr& call = st.statement->value;
            if (!seen.insert(call.args.front().text).second) continue;
            const FunctionRef* f = s.function(s.kernel.scope, call.args.front().text);
            if (!f->function) {
                Diagnostic& d = s.report(Code::pipeline_source_missing, call.args.front().at, "the source of stage `" + f->name + "` cannot be read" + (f->missing.empty() ? "" : ": " + f->missing));
                d.advice.push_back("define the stage in a cell or a file");
                continue;
            }
            walk_here(f->function->body, [&](const Stmt& r) {
                if (r.kind != StmtKind::ret || r.value.kind == ExprKind::absent || r.value.kind == ExprKind::none) return;
                Diagnostic& d = s.report(Code::stage_returns, r.at, "stage `" + f->name + "` returns a value");
                d.labels.push_back({call.at, "called as a stage here"});
                d.advice.push_back("write the result into a cross-core buffer that the stage receives");
            });
        }
}

void chain(Scan& s) {
    for (std::size_t l = 0; l < s.nodes.size(); ++l) {
        const LoopNode& node = s.nodes[l];
        for (const LoopNode::StageNode& st : node.stages)
            if (!st.section) {
                Diagnostic& d = s.report(Code::stage_without_section, st.statement->at, "stage `" + st.statement->value.args.front().text + "` is called outside a section");
                d.advice.push_back("put the call into `with " + s.model.language + ".section_cube():` or `with " + s.model.language + ".section_vector():`");
            }
    }
    for (const LoopNode& node : s.nodes) {
        std::map<std::string, const Stmt*> first;
        for (const LoopNode::StageNode& st : node.stages) {
            auto [here, inserted] = first.emplace(st.statement->value.args.front().text, st.statement);
            if (inserted) continue;
            Diagnostic& d = s.report(Code::stage_twice, st.statement->at, "stage `" + here->first + "` is called a second time in this loop");
            d.labels.push_back({here->second->at, "the first call"});
            d.advice.push_back("give the second use a stage function of its own that calls a shared helper");
        }
    }
    for (const LoopNode& node : s.nodes)
        for (std::size_t i = 1; i < node.stages.size(); ++i) {
            const auto &a = node.stages[i - 1], &b = node.stages[i];
            if (!a.section || !b.section || *core_of(*a.section) != *core_of(*b.section)) continue;
            const std::string core(isa::name(*core_of(*a.section)));
            const std::string &an = a.statement->value.args.front().text, &bn = b.statement->value.args.front().text;
            Diagnostic& d = s.report(Code::neighbours_one_core, b.statement->at, "stages `" + an + "` and `" + bn + "` follow each other on the " + core + " core");
            d.labels.push_back({a.statement->at, "`" + an + "` runs on " + core + " too"});
            d.advice.push_back("merge them into one stage, or move one to the other core: stages alternate between cube and vector");
        }
}

void zones(Scan& s) {
    for (std::size_t l = 0; l < s.nodes.size(); ++l) {
        const LoopNode& node = s.nodes[l];
        Loop& loop = s.model.loops[l];
        std::set<const Stmt*> stage_statements;
        for (const LoopNode::StageNode& st : node.stages) stage_statements.insert(st.section ? st.section : st.statement);
        std::size_t seen = 0;
        for (const Stmt& st : node.loop->body) {
            if (stage_statements.count(&st)) { ++seen; continue; }
            if (seen == 0) loop.zone1.push_back(st.at);
            else if (seen == node.stages.size()) loop.zone3.push_back(st.at);
            else {
                const std::string &before = node.stages[seen - 1].statement->value.args.front().text, &after = node.stages[seen].statement->value.args.front().text;
                Diagnostic& d = s.report(Code::between_stages, st.at, "a statement between stages `" + before + "` and `" + after + "`");
                d.labels.push_back({node.stages.front().statement->at, "the first stage"});
                d.advice.push_back("move it in front of the first stage, behind the last one, or into a stage: between stages it would run once a beat, not once a task");
            }
        }
    }
}

void steps(Scan& s) {
    for (const LoopNode& node : s.nodes) {
        const Expr& range = node.loop->value;
        if (range.args.size() != 4) continue;
        const Expr& step = range.args[3];
        std::optional<std::int64_t> value = s.integer(s.kernel.scope, step, true);
        if (value ? *value > 0 : !(step.kind == ExprKind::unary && step.text == "-")) continue;
        Diagnostic& d = s.report(Code::step_sign, step.at, value ? "the step of this pipeline loop is " + std::to_string(*value) : "the step of this pipeline loop is negated");
        d.advice.push_back("count upwards and compute the descending index from the loop variable");
    }
}

/// K18: follows plain functions from every stage.
void stage_reaches_stage(Scan& s) {
    std::set<std::string> done;
    struct Reach {
        Scan& s;
        std::vector<std::pair<std::string, Span>> chain;
        std::set<const syntax::Function*> on_path;
        const FunctionRef* root = nullptr;
        void follow(const FunctionRef& f) {
            if (!f.function || !on_path.insert(f.function.get()).second) return;
            walk_here(f.function->body, [&](const Stmt& st) {
                walk_exprs(st, [&](const Expr& e) {
                    if (e.kind != ExprKind::call || e.args.front().kind != ExprKind::name) return;
                    const FunctionRef* callee = s.function(f.scope, e.args.front().text);
                    if (!callee) return;
                    if (callee->kind == FunctionRef::Kind::stage) {
                        std::string path = "`" + root->name + "`";
                        for (const auto& [name, at] : chain) path += " calls `" + name + "`, which";
                        Diagnostic& d = s.report(Code::stage_calls_stage, e.at, path + " calls stage `" + callee->name + "`");
                        for (const auto& [name, at] : chain) d.labels.push_back({at, "`" + name + "` is called here"});
                        d.advice.push_back("move the shared part of `" + callee->name + "` into a plain helper that both stages call");
                    } else if (callee->kind == FunctionRef::Kind::plain) {
                        chain.emplace_back(callee->name, e.at);
                        FunctionRef copy = *callee;
                        follow(copy);
                        chain.pop_back();
                    }
                });
            });
        }
    };
    for (const LoopNode& node : s.nodes)
        for (const LoopNode::StageNode& st : node.stages) {
            const std::string& name = st.statement->value.args.front().text;
            if (!done.insert(name).second) continue;
            const FunctionRef* f = s.function(s.kernel.scope, name);
            Reach reach{s, {}, {}, f};
            reach.follow(*f);
        }
}

/// S6, and what would skip the task counter or the drain.
void strict_rules(Scan& s) {
    for (const LoopNode& node : s.nodes)
        for (const LoopNode::StageNode& st : node.stages) {
            const Expr& call = st.statement->value;
            if (call.keywords.empty()) continue;
            const FunctionRef* f = s.function(s.kernel.scope, call.args.front().text);
            const syntax::Keyword& first = call.keywords.front();
            Diagnostic& d = s.report(Code::stage_keyword, first.name_at.valid() ? first.name_at : call.at, "stage `" + call.args.front().text + "` is called with keyword argument `" + first.name + "`");
            bool in_order = f && f->function;
            for (std::size_t k = 0; in_order && k < call.keywords.size(); ++k) {
                const std::size_t position = call.args.size() - 1 + k;
                in_order = position < f->function->parameters.size() && f->function->parameters[position].name == call.keywords[k].name;
            }
            if (in_order) {
                Fix fix{"pass the arguments by position", {}};
                for (const syntax::Keyword& k : call.keywords) fix.edits.push_back({{k.name_at.file, k.name_at.begin, k.value.front().at.begin}, ""});
                d.fix = std::move(fix);
            } else {
                d.advice.push_back("pass every argument by position");
            }
        }

    struct Jumps {
        Scan& s;
        void look(const Stmt& st, bool own_loop) {
            if (own_loop && (st.kind == StmtKind::break_ || st.kind == StmtKind::continue_)) {
                Diagnostic& d = s.report(Code::pipeline_break, st.at, std::string(st.kind == StmtKind::break_ ? "`break`" : "`continue`") +
                                                                          " behind the stages skips the task counter: the next task takes this one's slot and its event ids no longer balance");
                d.advice.push_back("move the test in front of the first stage, or guard the statements behind it with the opposite condition");
            }
            const bool nested = st.kind == StmtKind::loop || st.kind == StmtKind::while_loop;
            if (st.kind == StmtKind::function) return;
            for (const Stmt& b : st.body) look(b, own_loop && !nested);
            for (const Stmt& b : st.orelse) look(b, own_loop && !nested);
        }
    };
    for (std::size_t l = 0; l < s.nodes.size(); ++l) {
        const LoopNode& node = s.nodes[l];
        Jumps jumps{s};
        for (const Stmt& st : node.loop->body)
            if (std::find(s.model.loops[l].zone3.begin(), s.model.loops[l].zone3.end(), st.at) != s.model.loops[l].zone3.end()) jumps.look(st, true);
        walk_here(node.outer->body, [&](const Stmt& st) {
            if (st.kind != StmtKind::ret) return;
            Diagnostic& d = s.report(Code::pipeline_return, st.at, "`return` between the start and the end of a pipeline leaves tasks unfinished and event ids set");
            d.labels.push_back({node.outer->header, "the pipeline starts in front of this loop and ends behind it"});
            d.advice.push_back("end the loop by its bounds, or return in front of it");
        });
    }
}

} // namespace

bool Scan::check_loops() {
    struct_arguments(*this);
    preloads(*this);
    outer_loops(*this);
    stage_returns(*this);
    chain(*this);
    if (blocks(diagnostics)) return false;
    zones(*this);
    steps(*this);
    stage_reaches_stage(*this);
    strict_rules(*this);
    return !blocks(diagnostics);
}

} // namespace pto::pipeline

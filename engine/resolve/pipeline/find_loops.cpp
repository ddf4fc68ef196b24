/// Step 2: which loops call stages, in which sections, around what. Pipeline reference, 5.

#include "engine/resolve/pipeline/scan.hpp"

#include <algorithm>

namespace pto::pipeline {

std::string section_of(const Stmt& s) {
    if (s.kind != StmtKind::with || s.targets.empty()) return {};
    const Expr& item = s.targets.front();
    if (item.kind != ExprKind::call || item.args.front().kind != ExprKind::attribute) return {};
    const std::string& name = item.args.front().text;
    return name == "section_cube" || name == "section_vector" ? name : std::string();
}

std::optional<isa::Core> core_of(const Stmt& s) {
    std::string name = section_of(s);
    if (name.empty()) return std::nullopt;
    return name == "section_cube" ? isa::Core::cube : isa::Core::vector;
}

namespace {

class Finder {
  public:
    explicit Finder(Scan& scan) : m_scan(scan) {}

    void search(const Body& statements, const Stmt* outer) {
        for (const Stmt& st : statements) {
            if (st.kind == StmtKind::loop) {
                const Stmt* outermost = outer ? outer : &st;
                LoopNode node;
                node.loop = &st, node.outer = outermost;
                read_stages(st, node);
                if (!node.stages.empty()) m_scan.nodes.push_back(std::move(node));
                search(st.body, outermost);
            } else if (st.kind == StmtKind::with) {
                search(st.body, outer);
            }
        }
    }

    const std::set<const Expr*>& claimed() const { return m_claimed; }

  private:
    Scan& m_scan;
    std::set<const Expr*> m_claimed;

    bool calls_stage(const Stmt& s) { return s.kind == StmtKind::expression && m_scan.is_stage_call(s.value); }

    void read_stages(const Stmt& loop, LoopNode& node) {
        for (const Stmt& st : loop.body) {
            if (calls_stage(st)) {
                m_claimed.insert(&st.value);
                node.stages.push_back({nullptr, &st});
            } else if (st.kind == StmtKind::with) {
                auto first = std::find_if(st.body.begin(), st.body.end(), [&](const Stmt& s) { return calls_stage(s); });
                if (first == st.body.end()) continue;
                for (const Stmt& s : st.body)
                    if (calls_stage(s)) m_claimed.insert(&s.value);
                if (section_of(st).empty()) {
                    Diagnostic& d = m_scan.report(Code::stage_in_other_with, st.header, "stage `" + name(*first) + "` is called in a `with` that names no core");
                    d.labels.push_back({first->at, "the stage call"});
                    d.advice.push_back("write `with " + m_scan.model.language + ".section_cube():` or `with " + m_scan.model.language + ".section_vector():`");
                    continue;
                }
                for (const Stmt& s : st.body) {
                    if (&s == &*first) continue;
                    if (calls_stage(s)) {
                        Diagnostic& d = m_scan.report(Code::two_stages_in_section, s.at, "a second stage, `" + name(s) + "`, in one section");
                        d.labels.push_back({first->at, "the first stage of this section"});
                        d.advice.push_back("give `" + name(s) + "` a section of its own; neighbouring stages alternate between cube and vector");
                    } else {
                        Diagnostic& d = m_scan.report(Code::extra_in_section, s.at, "a statement beside stage `" + name(*first) + "` in its section");
                        d.labels.push_back({first->at, "the stage call"});
                        d.advice.push_back("move the statement into the stage, or in front of the first stage of the loop");
                    }
                }
                node.stages.push_back({&st, &*first});
            }
        }
    }

    static const std::string& name(const Stmt& s) { return s.value.args.front().text; }
};

} // namespace

bool Scan::find_pipeline_loops() {
    Finder finder(*this);
    finder.search(body, nullptr);
    if (blocks(diagnostics)) return false;

    // [S] A stage call nobody claimed runs in serial order beside the pipeline, unsynchronised.
    syntax::walk(body, [&](const Stmt& s) {
        auto look = [&](const Expr& e) {
            if (!is_stage_call(e) || finder.claimed().count(&e)) return;
            Diagnostic& d = report(Code::pipeline_stage_outside_loop, e.at, "this call of stage `" + e.args.front().text + "` belongs to no pipeline loop");
            d.advice.push_back("call a stage as a statement of its own, in a section directly in the body of a `for` loop");
        };
        syntax::walk(s.value, look);
        for (const Expr& t : s.targets) syntax::walk(t, look);
    });

    if (nodes.empty()) {
        if (blocks(diagnostics)) return false;
        Diagnostic& d = report(Code::no_pipeline_loop, kernel.function->name_at, "`" + kernel.function->name + "` asks for a pipeline, but no loop of it calls a stage");
        if (kernel.options.pipeline_at.valid()) d.labels.push_back({kernel.options.pipeline_at, "asked for here"});
        d.advice.push_back("decorate the stage functions with @" + model.language + ".pipeline.stage and call each in its own section inside the loop");
        return false;
    }

    for (const LoopNode& node : nodes) {
        const Stmt& st = *node.loop;
        Loop loop;
        loop.index = std::int32_t(model.loops.size());
        loop.suffix = loop.index == 0 ? "" : "_" + std::to_string(loop.index);
        loop.at = st.at, loop.header = st.header, loop.iterable = st.value.at;
        loop.outer = node.outer->at, loop.outer_header = node.outer->header;
        loop.last_statement = st.body.back().at;
        if (st.targets.front().kind != ExprKind::name)
            report(Code::loop_variable_name, st.targets.front().at, "the variable of a pipeline loop is one name");
        else
            loop.variable = st.targets.front().text;
        const std::size_t count = st.value.kind == ExprKind::call ? st.value.args.size() - 1 : 0;
        if (count < 1 || count > 3)
            report(Code::loop_iterable, st.value.at, "a pipeline loop runs over `" + model.language + ".range(...)` with one to three positional arguments");
        model.loops.push_back(std::move(loop));
    }
    return !blocks(diagnostics);
}

} // namespace pto::pipeline

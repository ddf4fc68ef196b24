/// Step 1: constant branches disappear, so that every later step sees exactly the code that can run. Pipeline reference, 4.

#include "engine/resolve/pipeline/scan.hpp"

namespace pto::pipeline {
namespace {

class Folding {
  public:
    explicit Folding(Scan& scan) : m_scan(scan) {}

    Body fold(const Body& statements) {
        Body out;
        for (const Stmt& st : statements) fold_into(out, st);
        return out;
    }

  private:
    Scan& m_scan;

    void fold_into(Body& out, const Stmt& st) {
        if (st.kind == StmtKind::branch) {
            auto known = m_scan.facts.if_const.find(st.value.at);
            std::optional<bool> value = known == m_scan.facts.if_const.end() ? std::nullopt : known->second;
            if (value) {
                const Body& taken = *value ? st.body : st.orelse;
                FoldedBranch f;
                f.at = st.at, f.header = st.header, f.condition = st.value.at, f.value = *value, f.taken_is_else = !*value;
                if (!taken.empty()) f.taken = {st.at.file, taken.front().at.begin, taken.back().at.end};
                m_scan.model.folded.push_back(f);
                for (const Stmt& s : taken) fold_into(out, s);
                return;
            }
            refuse_stages_below(st);
        }
        Stmt copy = shallow(st);
        const bool entered = st.kind == StmtKind::branch || st.kind == StmtKind::loop || st.kind == StmtKind::with;
        copy.body = entered ? fold(st.body) : st.body;
        copy.orelse = entered ? fold(st.orelse) : st.orelse;
        if (st.kind == StmtKind::with && copy.body.empty()) return;
        out.push_back(std::move(copy));
    }

    static Stmt shallow(const Stmt& st) {
        Stmt s;
        s.kind = st.kind, s.at = st.at, s.header = st.header, s.text = st.text, s.targets = st.targets, s.value = st.value;
        s.annotation = st.annotation, s.is_docstring = st.is_docstring;
        return s;
    }

    /// K1: a stage is timed and synchronised unconditionally.
    void refuse_stages_below(const Stmt& st) {
        const Expr* call = nullptr;
        auto look = [&](const Body& body) {
            syntax::walk(body, [&](const Stmt& s) {
                auto in = [&](const Expr& e) { if (!call && m_scan.is_stage_call(e)) call = &e; };
                syntax::walk(s.value, in);
                for (const Expr& t : s.targets) syntax::walk(t, in);
            });
        };
        look(st.body);
        look(st.orelse);
        if (!call) return;
        std::string operands;
        syntax::walk(st.value, [&](const Expr& e) {
            if (e.kind != ExprKind::name || !m_scan.bound.count(e.text)) return;
            if (operands.find("`" + e.text + "`") == std::string::npos) operands += (operands.empty() ? "`" : ", `") + e.text + "`";
        });
        Diagnostic& d = m_scan.report(Code::stage_under_if, st.value.at,
                                      "stage `" + call->args.front().text + "` is called under a condition that is not a compile-time constant" +
                                          (operands.empty() ? "" : ": " + operands + (operands.find(',') == std::string::npos ? " is" : " are") + " known at run time only"));
        d.labels.push_back({call->at, "the stage call"});
        d.advice.push_back("make the condition a compile-time constant: a module constant or a tiling-key field");
        d.advice.push_back("call the stage unconditionally and test the condition inside it, after its slots are taken");
    }
};

} // namespace

bool Scan::fold_constant_branches() {
    body = Folding(*this).fold(kernel.function->body);
    return !blocks(diagnostics);
}

} // namespace pto::pipeline

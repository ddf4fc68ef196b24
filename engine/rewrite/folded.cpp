/// Constant branches: the winning body keeps its bytes below `if True:`, everything else of the statement goes. Pipeline reference, 4.

#include "engine/rewrite/kernel_text.hpp"

#include <map>

namespace pto::rewrite {
namespace {

using syntax::Body;
using syntax::Stmt;
using syntax::StmtKind;

class Folding {
  public:
    explicit Folding(KernelEdits& k) : m_k(k) {
        for (const pipeline::FoldedBranch& f : k.model.folded) m_folded.emplace(f.at, &f);
    }

    void body(const Body& statements) {
        bool any_left = false;
        for (const Stmt& st : statements) any_left |= survives(st);
        for (const Stmt& st : statements) {
            auto found = m_folded.find(st.at);
            if (st.kind == StmtKind::branch && found != m_folded.end()) {
                folded(st, *found->second, st.at.begin, any_left);
                any_left = true; // one `pass` is enough
            } else if (st.kind == StmtKind::branch) {
                body(st.body);
                if (is_elif(st)) chain(st.orelse.front());
                else body(st.orelse);
            } else if (st.kind == StmtKind::loop || st.kind == StmtKind::with) {
                body(st.body);
                body(st.orelse);
            }
        }
    }

  private:
    KernelEdits& m_k;
    std::map<Span, const pipeline::FoldedBranch*> m_folded;

    bool is_elif(const Stmt& st) const { return st.orelse.size() == 1 && st.orelse[0].kind == StmtKind::branch && m_k.text.all.compare(std::size_t(st.orelse[0].at.begin), 4, "elif") == 0; }

    bool survives(const Stmt& st) const {
        auto found = m_folded.find(st.at);
        return st.kind != StmtKind::branch || found == m_folded.end() || found->second->taken.valid();
    }

    /// An elif below an `if` that stays: its own branches may fold.
    void chain(const Stmt& st) {
        auto found = m_folded.find(st.at);
        if (found == m_folded.end()) {
            body(st.body);
            if (is_elif(st)) chain(st.orelse.front());
            else body(st.orelse);
            return;
        }
        const pipeline::FoldedBranch& f = *found->second;
        if (f.value) { // the rest of the chain is an else now
            header(f, st.at.begin, "else:");
            drop_tail(st, f);
            body(st.body);
        } else if (!f.taken.valid()) {
            m_k.add(m_k.text.line_start(st.at.begin), m_k.text.next_line(st.at.end), "", st.at);
        } else if (is_elif(st)) {
            m_k.add(st.at.begin, st.orelse[0].at.begin, "", st.at);
            chain(st.orelse.front());
        } else {
            m_k.add(st.at.begin, else_end(f), "else:", st.at);
            body(st.orelse);
        }
    }

    std::string why(const pipeline::FoldedBranch& f) const {
        const std::string condition = m_k.text.one_line(f.condition);
        return "  # " + std::string(f.value ? "" : "not ") + (f.value ? condition : "(" + condition + ")");
    }

    void header(const pipeline::FoldedBranch& f, std::int32_t from, const std::string& word) {
        const bool own_line = m_k.text.line_end(f.header.end) < f.taken.begin;
        m_k.add(from, f.header.end, word + (own_line ? why(f) : ""), f.at);
    }

    /// Everything behind the winning body.
    void drop_tail(const Stmt& st, const pipeline::FoldedBranch& f) {
        const std::int32_t begin = m_k.text.next_line(f.taken.end);
        if (begin < st.at.end) m_k.add(begin, m_k.text.next_line(st.at.end), "", st.at);
    }

    /// End of the `else:` that leads to the taken branch.
    std::int32_t else_end(const pipeline::FoldedBranch& f) const {
        std::int32_t line = m_k.text.line_start(f.taken.begin);
        for (;;) {
            const std::int32_t word = line + std::int32_t(m_k.text.indent(line).size());
            if (m_k.text.all.compare(std::size_t(word), 4, "else") == 0) return std::int32_t(m_k.text.all.find(':', std::size_t(word))) + 1;
            if (line <= f.at.begin) return f.taken.begin;
            line = m_k.text.line_start(line - 1);
        }
    }

    /// `from`: where the text of this statement begins now (an elif inherits the place of the `if` it replaces).
    void folded(const Stmt& st, const pipeline::FoldedBranch& f, std::int32_t from, bool something_left) {
        if (f.value) {
            header(f, from, "if True:");
            drop_tail(st, f);
            body(st.body);
            return;
        }
        if (!f.taken.valid()) {
            if (something_left) m_k.add(m_k.text.line_start(st.at.begin), m_k.text.next_line(st.at.end), "", st.at);
            else m_k.add(st.at.begin, st.at.end, "pass" + why(f), st.at);
            return;
        }
        if (is_elif(st)) {
            const Stmt& next = st.orelse.front();
            auto found = m_folded.find(next.at);
            if (found != m_folded.end()) {
                if (found->second->taken.valid()) {
                    m_k.add(st.at.begin, next.at.begin, "", st.at);
                    folded(next, *found->second, next.at.begin, something_left);
                } else {
                    m_k.add(st.at.begin, st.at.end, "pass" + why(f), st.at);
                }
            } else { // a run-time elif becomes the first test
                m_k.add(st.at.begin, next.at.begin + 2, "", st.at);
                body(next.body);
                if (is_elif(next)) chain(next.orelse.front());
                else body(next.orelse);
            }
            return;
        }
        const std::int32_t end = else_end(f);
        const bool own_line = m_k.text.line_end(end) < f.taken.begin;
        m_k.add(from, end, "if True:" + (own_line ? why(f) : std::string()), st.at);
        body(st.orelse);
    }
};

} // namespace

void edit_folded(KernelEdits& k) {
    if (!k.model.folded.empty()) Folding(k).body(k.model.source.function->body);
}

} // namespace pto::rewrite

/// `//` and `%` on numbers that may be negative: Python floors, the device truncates toward zero. Source: language 1.9, 9.1 #4.
#include "engine/check/context.hpp"

#include <map>

namespace pto::check {
namespace {

/// What is certain about the sign of an integer expression. `unknown` (a parameter, a field) is not complained about: the language's own
/// kernels divide such numbers all the time; a subtraction that can cross zero is.
enum class Sign : std::uint8_t { not_negative, may_be_negative, unknown };

class Signs {
  public:
    explicit Signs(const ir::Function& f) : m_f(f) {
        ir::for_each_statement(f.body, [&](const ir::Stmt& s) {
            if (const auto* a = std::get_if<ir::Assign>(&s.what)) m_values[a->var.index].push_back(a->value);
            if (const auto* l = std::get_if<ir::Loop>(&s.what)) m_loops[l->var.index].push_back(l);
        });
    }

    Sign of(ir::ExprId id, int depth = 0) const {
        if (!id.valid() || depth > 24) return Sign::unknown;
        using Op = ir::ExprOp;
        const ir::Expr& e = m_f[id];
        if (isa::is_unsigned_int(e.dtype)) return Sign::not_negative;
        switch (e.op) {
        case Op::integer: return e.integer < 0 ? Sign::may_be_negative : Sign::not_negative;
        case Op::dim:
        case Op::block_idx:
        case Op::block_num:
        case Op::subblock_idx:
        case Op::subblock_num:
        case Op::valid_dim:
        case Op::spr:
        case Op::address: return Sign::not_negative;
        case Op::var: return variable(e.var, depth);
        case Op::cast: return of(e.a, depth + 1);
        case Op::negate: {
            Sign s = of(e.a, depth + 1);
            return s == Sign::not_negative ? Sign::may_be_negative : Sign::unknown;
        }
        case Op::add:
        case Op::sub: return sum(id, depth);
        case Op::mul:
        case Op::floor_div:
        case Op::shr:
        case Op::shl:
        case Op::bit_or: return join(of(e.a, depth + 1), of(e.b, depth + 1));
        case Op::mod:
        case Op::bit_and: return of(e.a, depth + 1) == Sign::not_negative ? Sign::not_negative : join(of(e.a, depth + 1), of(e.b, depth + 1));
        case Op::max:
            if (of(e.a, depth + 1) == Sign::not_negative || of(e.b, depth + 1) == Sign::not_negative) return Sign::not_negative;
            return join(of(e.a, depth + 1), of(e.b, depth + 1));
        case Op::min: return join(of(e.a, depth + 1), of(e.b, depth + 1));
        case Op::select: return join(of(e.b, depth + 1), of(e.c, depth + 1));
        case Op::eq:
        case Op::ne:
        case Op::lt:
        case Op::le:
        case Op::gt:
        case Op::ge:
        case Op::logical_and:
        case Op::logical_or:
        case Op::logical_not: return Sign::not_negative;
        default: return Sign::unknown;
        }
    }

  private:
    static Sign join(Sign a, Sign b) {
        if (a == Sign::may_be_negative || b == Sign::may_be_negative) return Sign::may_be_negative;
        return a == Sign::unknown || b == Sign::unknown ? Sign::unknown : Sign::not_negative;
    }

    Sign variable(ir::VarId var, int depth) const {
        if (!var.valid() || m_f[var].param.valid()) return Sign::unknown;
        Sign s = Sign::not_negative;
        bool known = false;
        if (auto loops = m_loops.find(var.index); loops != m_loops.end())
            for (const ir::Loop* l : loops->second) {
                known = true;
                auto step = m_f.constant(l->step);
                // Counting up from a start that is not negative stays so; counting down ends at the last value above stop.
                Sign bound = step && *step < 0 ? of(l->stop, depth + 1) : of(l->start, depth + 1);
                s = join(s, step || !l->step.valid() ? bound : Sign::unknown);
            }
        if (auto values = m_values.find(var.index); values != m_values.end()) {
            if (m_busy[var.index]) return Sign::not_negative; // x = x + ...: as the other values have it
            m_busy[var.index] = true;
            for (ir::ExprId v : values->second) {
                known = true;
                s = join(s, of(v, depth + 1));
            }
            m_busy[var.index] = false;
        }
        return known ? s : Sign::unknown;
    }

    /// Terms of a sum: what is added, what is taken away, and the constant left over.
    void terms(ir::ExprId id, bool minus, std::vector<ir::ExprId>& plus, std::vector<ir::ExprId>& less, std::int64_t& constant) const {
        const ir::Expr& e = m_f[id];
        if (e.op == ir::ExprOp::integer) {
            constant += minus ? -e.integer : e.integer;
        } else if (e.op == ir::ExprOp::add || e.op == ir::ExprOp::sub) {
            terms(e.a, minus, plus, less, constant);
            terms(e.b, e.op == ir::ExprOp::sub ? !minus : minus, plus, less, constant);
        } else {
            (minus ? less : plus).push_back(id);
        }
    }

    Sign sum(ir::ExprId id, int depth) const {
        std::vector<ir::ExprId> plus, less;
        std::int64_t constant = 0;
        terms(id, false, plus, less, constant);
        // stop - i is positive inside the loop over i that ends at stop.
        for (std::size_t i = 0; i < less.size();) {
            const ir::Expr& e = m_f[less[i]];
            bool cancelled = false;
            for (std::size_t j = 0; j < plus.size() && !cancelled; ++j)
                if (same(plus[j], less[i]) || (e.op == ir::ExprOp::var && ends_at(e.var, plus[j]))) {
                    plus.erase(plus.begin() + std::ptrdiff_t(j));
                    cancelled = true;
                }
            if (cancelled) less.erase(less.begin() + std::ptrdiff_t(i));
            else ++i;
        }
        Sign s = constant < 0 ? Sign::may_be_negative : Sign::not_negative;
        for (ir::ExprId p : plus) s = join(s, of(p, depth + 1));
        if (less.empty()) return constant < 0 && !plus.empty() && s == Sign::may_be_negative ? Sign::may_be_negative : s;
        for (ir::ExprId l : less)
            if (of(l, depth + 1) == Sign::unknown) return Sign::unknown;
        return Sign::may_be_negative;
    }

    bool ends_at(ir::VarId var, ir::ExprId stop) const {
        auto loops = m_loops.find(var.index);
        if (loops == m_loops.end() || m_values.count(var.index)) return false;
        for (const ir::Loop* l : loops->second) {
            auto step = l->step.valid() ? m_f.constant(l->step) : std::optional<std::int64_t>(1);
            if ((step && *step < 0) || !same(l->stop, stop)) return false;
        }
        return true;
    }

    bool same(ir::ExprId a, ir::ExprId b) const {
        if (a == b) return true;
        if (!a.valid() || !b.valid()) return false;
        const ir::Expr &x = m_f[a], &y = m_f[b];
        return x.op == y.op && x.dtype == y.dtype && x.integer == y.integer && x.real == y.real && x.var == y.var && x.tensor == y.tensor && x.structure == y.structure &&
               x.tile == y.tile && same(x.a, y.a) && same(x.b, y.b) && same(x.c, y.c) && x.op != ir::ExprOp::field;
    }

    const ir::Function& m_f;
    std::map<std::int32_t, std::vector<ir::ExprId>> m_values;
    std::map<std::int32_t, std::vector<const ir::Loop*>> m_loops;
    mutable std::map<std::int32_t, bool> m_busy;
};

} // namespace

void check_arithmetic(Context& c) {
    Signs signs(c.f);
    std::set<std::int32_t> seen;
    auto visit = [&](auto&& self, ir::ExprId id, bool guarded) -> void {
        if (!id.valid() || !seen.insert(id.index).second) return;
        const ir::Expr& e = c.f[id];
        // What stands behind `and` counts only where the condition before it holds: `i in pl.range(6, n, 2)` is i >= 6 and (i - 6) % 2 == 0.
        bool behind = guarded || e.op == ir::ExprOp::logical_and;
        self(self, e.a, guarded);
        self(self, e.b, behind);
        self(self, e.c, guarded);
        if (guarded) return;
        if ((e.op != ir::ExprOp::floor_div && e.op != ir::ExprOp::mod) || isa::is_float(e.dtype)) return;
        if (c.constant(e.a) && c.constant(e.b)) return;
        if (signs.of(e.a) != Sign::may_be_negative && signs.of(e.b) != Sign::may_be_negative) return;
        const char* which = e.op == ir::ExprOp::mod ? "%" : "//";
        Diagnostic& d = c.report(Code::negative_division, e.at,
                                 std::string("an operand of ") + which + " may be negative here; the device " +
                                     (e.op == ir::ExprOp::mod ? "keeps the sign of the dividend, Python that of the divisor" : "rounds toward zero, Python rounds down"));
        if (d.advice.empty() && e.op == ir::ExprOp::mod) d.advice.push_back("add a multiple of the divisor before %");
    };
    ir::for_each_statement(c.f.body, [&](const ir::Stmt& s) { ir::for_each_expression(s, [&](ir::ExprId e) { visit(visit, e, false); }); });
}

} // namespace pto::check

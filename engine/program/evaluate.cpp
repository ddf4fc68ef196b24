/// The scalar unit's arithmetic: INDEX wraps at 64 bits without undefined behaviour, // and % truncate, reals round to their type.

#include "engine/program/prepared.hpp"

#include <cmath>

namespace pto::program {
namespace {

using K = ScalarKind;
constexpr std::uint64_t u(std::int64_t x) { return std::uint64_t(x); }

std::int64_t to_integer(double x, isa::DType t) {
    if (std::isnan(x)) return 0;
    const int bits = t == isa::DType::boolean ? 1 : isa::bits(t);
    if (t == isa::DType::boolean) return x != 0;
    const bool is_unsigned = isa::is_unsigned_int(t);
    const double high = std::ldexp(1.0, is_unsigned ? bits : bits - 1), low = is_unsigned ? 0 : -high;
    x = std::trunc(x);
    if (x >= high) return is_unsigned ? std::int64_t(bits == 64 ? ~0ull : (1ull << bits) - 1) : std::int64_t((1ull << (bits - 1)) - 1);
    if (x <= low) return is_unsigned ? 0 : wrap_integer(std::int64_t(1ull << (bits - 1)) * (bits == 64 ? 1 : -1), t);
    if (is_unsigned && bits == 64) return std::int64_t(std::uint64_t(x));
    return std::int64_t(x);
}

} // namespace

bool Sequencer::evaluate(const CompiledExpr& e, Cell& out) {
    if (e.end > e.begin) {
        const std::vector<ScalarOp>& ops = m_code->scalars.ops;
        if (!run({ops.data() + e.begin, std::size_t(e.end - e.begin)})) return false;
    }
    out = m_frame[std::size_t(e.cell)];
    return true;
}

bool Sequencer::run(std::span<const ScalarOp> ops) {
    Cell* const frame = m_frame.data();
    const ir::Function& f = *m_code->core.function;
    m_scalar_total += std::int64_t(ops.size()), m_scalar_since += std::int64_t(ops.size());
    for (const ScalarOp& op : ops) {
        const Cell a = frame[op.a], b = frame[op.b];
        Cell r;
        r.known = a.known && b.known;
        bool integer = true;
        switch (op.kind) {
        case K::move:
            r = a;
            integer = !is_real(op.dtype);
            break;
        case K::to_real:
            r.known = a.known, integer = false;
            r.real = isa::DType(op.aux) == isa::DType::uint64 ? double(u(a.integer)) : double(a.integer);
            break;
        case K::to_integer: r.known = a.known, r.integer = to_integer(a.real, op.dtype); break;
        case K::neg_i: r.known = a.known, r.integer = std::int64_t(0 - u(a.integer)); break;
        case K::bit_not: r.known = a.known, r.integer = ~a.integer; break;
        case K::lnot: r.known = a.known, r.integer = op.c ? a.real == 0 : a.integer == 0; break;
        case K::neg_f: r.known = a.known, r.real = -a.real, integer = false; break;
        case K::add_i: r.integer = std::int64_t(u(a.integer) + u(b.integer)); break;
        case K::sub_i: r.integer = std::int64_t(u(a.integer) - u(b.integer)); break;
        case K::mul_i: r.integer = std::int64_t(u(a.integer) * u(b.integer)); break;
        case K::div_s:
        case K::mod_s:
        case K::div_u:
        case K::mod_u: {
            if (b.known && b.integer == 0) return fail(op.at, "division by zero");
            if (!r.known) break;
            const bool divide = op.kind == K::div_s || op.kind == K::div_u;
            if (op.kind == K::div_u || op.kind == K::mod_u) r.integer = std::int64_t(divide ? u(a.integer) / u(b.integer) : u(a.integer) % u(b.integer));
            else if (b.integer == -1) r.integer = divide ? std::int64_t(0 - u(a.integer)) : 0; // INT64_MIN / -1 wraps
            else r.integer = divide ? a.integer / b.integer : a.integer % b.integer;
            break;
        }
        case K::bit_and: r.integer = a.integer & b.integer; break;
        case K::bit_or: r.integer = a.integer | b.integer; break;
        case K::bit_xor: r.integer = a.integer ^ b.integer; break;
        case K::shl: r.integer = u(b.integer) > 63 ? 0 : std::int64_t(u(a.integer) << b.integer); break;
        case K::shr_s: r.integer = u(b.integer) > 63 ? (a.integer < 0 ? -1 : 0) : a.integer >> b.integer; break;
        case K::shr_u: r.integer = u(b.integer) > 63 ? 0 : std::int64_t(u(a.integer) >> b.integer); break;
        case K::min_s: r.integer = std::min(a.integer, b.integer); break;
        case K::max_s: r.integer = std::max(a.integer, b.integer); break;
        case K::min_u: r.integer = std::int64_t(std::min(u(a.integer), u(b.integer))); break;
        case K::max_u: r.integer = std::int64_t(std::max(u(a.integer), u(b.integer))); break;
        case K::eq_i: r.integer = a.integer == b.integer; break;
        case K::ne_i: r.integer = a.integer != b.integer; break;
        case K::lt_s: r.integer = a.integer < b.integer; break;
        case K::le_s: r.integer = a.integer <= b.integer; break;
        case K::lt_u: r.integer = u(a.integer) < u(b.integer); break;
        case K::le_u: r.integer = u(a.integer) <= u(b.integer); break;
        case K::add_f: r.real = a.real + b.real, integer = false; break;
        case K::sub_f: r.real = a.real - b.real, integer = false; break;
        case K::mul_f: r.real = a.real * b.real, integer = false; break;
        case K::div_f: r.real = a.real / b.real, integer = false; break;
        case K::floor_f: r.real = std::trunc(a.real / b.real), integer = false; break;
        case K::mod_f: r.real = std::fmod(a.real, b.real), integer = false; break;
        case K::min_f: r.real = std::fmin(a.real, b.real), integer = false; break;
        case K::max_f: r.real = std::fmax(a.real, b.real), integer = false; break;
        case K::eq_f: r.integer = a.real == b.real; break;
        case K::ne_f: r.integer = a.real != b.real; break;
        case K::lt_f: r.integer = a.real < b.real; break;
        case K::le_f: r.integer = a.real <= b.real; break;
        case K::land:
        case K::lor: {
            // An operand that decides alone decides even when the other one is unknown.
            const bool ta = op.c & 1 ? a.real != 0 : a.integer != 0, tb = op.c & 2 ? b.real != 0 : b.integer != 0;
            const bool decisive = op.kind == K::lor;
            r.integer = decisive ? ta || tb : ta && tb;
            r.known = (a.known && b.known) || (a.known && ta == decisive) || (b.known && tb == decisive);
            if (r.known && !(a.known && b.known)) r.integer = decisive;
            break;
        }
        case K::select: {
            const Cell c = frame[op.c];
            const bool take = op.aux ? a.real != 0 : a.integer != 0;
            r = take ? b : c;
            integer = !is_real(op.dtype);
            if (!a.known) r.known = b.known && c.known && (integer ? b.integer == c.integer : b.real == c.real);
            break;
        }
        case K::load_field: {
            const ir::StructId id{op.aux};
            const ir::Struct& s = f[id];
            const ir::Field& field = s.fields[std::size_t(op.c)];
            const FieldPlace at = m_code->scalars.field_place(id, op.c);
            integer = !is_real(op.dtype);
            if (!r.known) break;
            if (a.integer < 0 || a.integer >= std::max(1, s.count))
                return fail(op.at, "index " + std::to_string(a.integer) + " of the " + std::to_string(s.count) + " records of " + s.name);
            if (b.integer < 0 || b.integer >= std::max(1, field.length))
                return fail(op.at, "index " + std::to_string(b.integer) + " of the " + std::to_string(field.length) + " elements of " + s.name + "." + field.name);
            r = frame[at.base + a.integer * at.record + b.integer];
            break;
        }
        case K::dim: {
            const TensorValue& t = m_tensors[std::size_t(op.aux)];
            r.integer = op.c >= 0 && op.c < t.rank ? t.shape[std::size_t(op.c)] : 0;
            r.known = r.integer >= 0;
            break;
        }
        case K::address:
            r.integer = m_tensors[std::size_t(op.aux)].address;
            r.known = m_tensor_known[std::size_t(op.aux)];
            break;
        case K::valid_dim: {
            const Handle& h = m_tiles[std::size_t(op.aux)];
            if (!h.bound) return fail(op.at, "tile " + f.tiles[std::size_t(op.aux)].name + " is used before it is bound");
            const ValidCell& v = m_valid[std::size_t(h.value.valid_cell)];
            r.integer = op.c == 0 ? v.rows : v.cols;
            r.known = v.known;
            break;
        }
        }
        if (integer) r.integer = wrap_integer(r.integer, op.dtype);
        else r.real = round_real(r.real, op.dtype);
        frame[op.dst] = r;
    }
    return true;
}

} // namespace pto::program

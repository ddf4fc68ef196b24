/// The matrix unit: shapes, MX rules, unit-flag phases, accumulators. Source: language 3.4.
#include "engine/check/context.hpp"

#include <map>

namespace pto::check {
namespace {

using isa::DType;
using isa::Semantics;
using Shape = std::array<std::int32_t, 2>;

bool is_matmul(const ir::Op& op) {
    Semantics s = op.row->semantics;
    return s == Semantics::matmul || s == Semantics::matmul_acc || s == Semantics::matmul_mx || s == Semantics::matmul_mx_acc;
}

std::size_t place(const ir::Op& op, std::string_view operand) {
    for (std::size_t i = 0; i < op.row->operands.size(); ++i)
        if (op.row->operands[i].name == operand) return i;
    return op.row->operands.size();
}

bool fp8(DType t) { return t == DType::fp8e4m3 || t == DType::fp8e5m2; }
bool fp4(DType t) { return t == DType::fp4e2m1 || t == DType::fp4e1m2; }

void shapes(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    std::size_t l = place(op, "lhs"), r = place(op, "rhs");
    const ir::TileVar *lhs = c.tile(op, l), *rhs = c.tile(op, r), *dst = c.tile(op, 0);
    if (!lhs || !rhs || !dst) return;
    std::optional<Shape> a = c.known_valid(op, l), b = c.known_valid(op, r);
    if (a && b && (*a)[1] != (*b)[0])
        c.report(Code::matmul_shape, stmt.at,
                 ticked(lhs->name) + " has " + std::to_string((*a)[1]) + " columns, " + ticked(rhs->name) + " has " + std::to_string((*b)[0]) + " rows; K is one number");
    if ((a && (*a)[0] > dst->type.shape[0]) || (b && (*b)[1] > dst->type.shape[1]))
        c.report(Code::matmul_shape, c.at(op, stmt, 0),
                 ticked(dst->name) + " is " + shape_text(dst->type.shape[0], dst->type.shape[1]) + "; the product of " + ticked(lhs->name) + " and " + ticked(rhs->name) +
                     " is " + (a ? std::to_string((*a)[0]) : std::string("?")) + "x" + (b ? std::to_string((*b)[1]) : std::string("?")));
    for (const Shape* s : {a ? &*a : nullptr, b ? &*b : nullptr})
        if (s && ((*s)[0] > 4095 || (*s)[1] > 4095)) c.report(Code::matmul_shape, stmt.at, "a side of the product is longer than 4095");

    bool mx = op.row->shape == isa::ShapeRule::matmul_mx;
    DType x = lhs->type.dtype, y = rhs->type.dtype;
    if (mx) return;
    bool pair = x == y || (fp8(x) && fp8(y));
    if (!pair)
        c.report(Code::type_mismatch, stmt.at,
                 ticked(lhs->name) + " has dtype " + std::string(language_name(x)) + ", " + ticked(rhs->name) + " has " + std::string(language_name(y)));
    DType wanted = x == DType::int8 ? DType::int32 : DType::fp32;
    if (dst->type.dtype != wanted)
        c.report(Code::type_mismatch, c.at(op, stmt, 0),
                 ticked(dst->name) + " has dtype " + std::string(language_name(dst->type.dtype)) + "; products of " + std::string(language_name(x)) + " accumulate in " +
                     std::string(language_name(wanted)));
    if (const ir::TileVar* bias = c.tile(op, place(op, "bias")); bias && bias->type.dtype != wanted) {
        Diagnostic& d = c.report(Code::type_mismatch, c.at(op, stmt, place(op, "bias")),
                                 ticked(bias->name) + " has dtype " + std::string(language_name(bias->type.dtype)) + "; a bias has the accumulator's, " + std::string(language_name(wanted)));
        d.severity = Severity::error; // the bias table holds 32-bit words only
        d.advice.push_back("declare the tile in Bias as " + std::string(language_name(wanted)) + ": the move from Mat converts");
    }
    if (const ir::TileVar* bias = c.tile(op, place(op, "bias")); bias && (bias->type.shape[0] != 1 || bias->type.shape[1] < rhs->type.shape[1]))
        c.report(Code::matmul_shape, c.at(op, stmt, place(op, "bias")),
                 ticked(bias->name) + " is " + shape_text(bias->type.shape[0], bias->type.shape[1]) + "; a bias is 1x" + std::to_string(rhs->type.shape[1]));
}

/// Slot addresses of the one declaration behind a tile; empty when there are several.
std::vector<std::int64_t> addresses(const Context& c, const ir::TileVar& t) {
    return t.may_be.size() == 1 ? c.f[t.may_be[0]].addresses : std::vector<std::int64_t>{};
}

void mx(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar *lhs = c.tile(op, "lhs"), *rhs = c.tile(op, "rhs"), *sa = c.tile(op, "scale_a"), *sb = c.tile(op, "scale_b"), *dst = c.tile(op, 0);
    if (!lhs || !rhs || !sa || !sb || !dst) return;
    auto say = [&](const std::string& text) { c.report(Code::mx_rule, stmt.at, text); };
    std::int64_t m = lhs->type.shape[0], k = lhs->type.shape[1], n = rhs->type.shape[1];
    if (rhs->type.shape[0] != k) say("K is " + std::to_string(k) + " on the left and " + std::to_string(rhs->type.shape[0]) + " on the right");
    if (k % 64 != 0) say("K is " + std::to_string(k) + ", not a multiple of 64");
    if (dst->type.dtype != DType::fp32) say(ticked(dst->name) + " has dtype " + std::string(language_name(dst->type.dtype)) + "; MX products accumulate in DT_FP32");
    if (dst->type.shape != Shape{std::int32_t(m), std::int32_t(n)})
        say(ticked(dst->name) + " is " + shape_text(dst->type.shape[0], dst->type.shape[1]) + "; the product is " + shape_text(m, n));
    if (sa->type.shape != Shape{std::int32_t(m), std::int32_t(k / 32)})
        say(ticked(sa->name) + " is " + shape_text(sa->type.shape[0], sa->type.shape[1]) + "; the scales of the left operand are " + shape_text(m, k / 32));
    if (sb->type.shape != Shape{std::int32_t(k / 32), std::int32_t(n)})
        say(ticked(sb->name) + " is " + shape_text(sb->type.shape[0], sb->type.shape[1]) + "; the scales of the right operand are " + shape_text(k / 32, n));
    DType x = lhs->type.dtype, y = rhs->type.dtype;
    if (!((fp8(x) && fp8(y)) || (fp4(x) && fp4(y)))) say(std::string(language_name(x)) + " with " + std::string(language_name(y)) + "; MX takes two FP8 or two FP4 operands");
    auto pair = [&](const ir::TileVar& scale, const ir::TileVar& data) {
        std::vector<std::int64_t> s = addresses(c, scale), d = addresses(c, data);
        if (s.size() != 1 || d.size() != 1 || s[0] == d[0] >> 4) return;
        say(ticked(scale.name) + " lies at " + hex(s[0]) + "; the hardware reads the scales of " + ticked(data.name) + " (" + hex(d[0]) + ") at " + hex(d[0] >> 4));
    };
    pair(*sa, *lhs);
    pair(*sb, *rhs);
}

/// What the whole program does with each accumulator.
struct AccUse {
    const ir::Stmt *accumulates = nullptr, *final_store = nullptr, *phased_matmul = nullptr, *plain_read = nullptr, *plain_matmul = nullptr, *phased_store = nullptr;
    bool written = false, final_matmul = false;
};

void accumulators(Context& c) {
    std::map<std::int32_t, AccUse> uses;
    auto each = [&](const ir::TileVar* t, auto f) {
        if (t && t->type.memory == isa::MemorySpace::acc)
            for (ir::TileDeclId d : t->may_be) f(uses[d.index]);
    };
    ir::for_each_statement(c.f.body, [&](const ir::Stmt& s) {
        const auto* op = std::get_if<ir::Op>(&s.what);
        if (!op) return;
        if (is_matmul(*op)) {
            bool adds = op->row->semantics == Semantics::matmul_acc || op->row->semantics == Semantics::matmul_mx_acc;
            auto phase = c.enumerator<isa::AccPhase>(*op, "phase").value_or(isa::AccPhase::unspecified);
            if (adds) each(c.tile(*op, "acc"), [&](AccUse& u) { u.accumulates = u.accumulates ? u.accumulates : &s; });
            each(c.tile(*op, 0), [&](AccUse& u) {
                u.written = u.written || !adds;
                if (phase == isa::AccPhase::unspecified) u.plain_matmul = u.plain_matmul ? u.plain_matmul : &s;
                else u.phased_matmul = u.phased_matmul ? u.phased_matmul : &s;
                u.final_matmul = u.final_matmul || phase == isa::AccPhase::final;
            });
        } else if (op->row->semantics == Semantics::store) {
            auto phase = c.enumerator<isa::StPhase>(*op, "phase").value_or(isa::StPhase::unspecified);
            each(c.tile(*op, 1), [&](AccUse& u) {
                if (phase == isa::StPhase::unspecified) u.plain_read = u.plain_read ? u.plain_read : &s;
                else u.phased_store = u.phased_store ? u.phased_store : &s;
                if (phase == isa::StPhase::final) u.final_store = u.final_store ? u.final_store : &s;
            });
        } else if (op->row->semantics == Semantics::move) {
            each(c.tile(*op, 1), [&](AccUse& u) { u.plain_read = u.plain_read ? u.plain_read : &s; });
        }
    });
    for (const auto& [decl, u] : uses) {
        std::string who = ticked(c.f.decls[std::size_t(decl)].name);
        // Two declarations on the same bytes may start one another's sums.
        bool aliased = false;
        for (std::size_t other = 0; other < c.f.decls.size(); ++other)
            if (std::int32_t(other) != decl && c.f.decls[other].type.memory == isa::MemorySpace::acc)
                for (std::int64_t a : c.f.decls[other].addresses)
                    for (std::int64_t b : c.f.decls[std::size_t(decl)].addresses)
                        aliased = aliased || (a < b + c.f.decls[std::size_t(decl)].slot_bytes && b < a + c.f.decls[other].slot_bytes);
        if (aliased) continue;
        if (u.accumulates && !u.written) {
            Diagnostic& d = c.report(Code::accumulator_unwritten, u.accumulates->at, who + " is added to, but no matmul ever starts its sum: it begins with what was in L0C before");
            d.advice.push_back("use pl.matmul for the first K block");
        }
        if (u.final_store && !u.final_matmul)
            c.report(Code::phase_pairing, u.final_store->at, "a final store waits for a final matmul into " + who + "; there is none, so it would wait for ever");
        if (u.phased_matmul && u.plain_read)
            c.report(Code::phase_pairing, u.plain_read->at, who + " is read without phase= while its matmul hands it over by phase=: nothing orders the two")
                .labels.push_back({u.phased_matmul->at, "the matmul with phase="});
        if (u.phased_store && u.plain_matmul && !u.phased_matmul)
            c.report(Code::phase_pairing, u.phased_store->at, who + " is stored with phase= while no matmul into it has one")
                .labels.push_back({u.plain_matmul->at, "the matmul without phase="});
    }
}

} // namespace

void check_cube(Context& c) {
    ir::for_each_statement(c.f.body, [&](const ir::Stmt& s) {
        const auto* op = std::get_if<ir::Op>(&s.what);
        if (!op || !is_matmul(*op)) return;
        shapes(c, *op, s);
        if (op->row->shape == isa::ShapeRule::matmul_mx) mx(c, *op, s);
    });
    accumulators(c);
}

} // namespace pto::check

/// Conversions between register types. Source: codegen 2.6 (table of conversion classes); language 5.7.
#include "engine/emit/writer.hpp"

namespace pto::emit {

using S = isa::Semantics;
using D = isa::DType;

namespace {

bool is_fp4(D t) { return t == D::fp4 || t == D::fp4e2m1 || t == D::fp4e1m2; }
bool is_fp8(D t) { return t == D::fp8e4m3 || t == D::fp8e5m2; }

} // namespace

bool Writer::register_cast(const ir::Op& op) {
    if (op.row->semantics != S::reg_cast || !op.row->emit.empty()) return false;
    const D from = register_type(op.operands[0]), to = result_type(op);
    const int fb = isa::bits(from), tb = isa::bits(to), layout = int(number(op, "layout", 0));
    const bool real_from = isa::is_float(from), real_to = isa::is_float(to), wider = tb > fb, narrower = tb < fb;
    static const std::map<std::string, std::string> rounds = {{"CAST_RINT", "ROUND_R"},  {"CAST_ROUND", "ROUND_A"}, {"CAST_FLOOR", "ROUND_F"}, {"CAST_CEIL", "ROUND_C"},
                                                              {"CAST_TRUNC", "ROUND_Z"}, {"CAST_ODD", "ROUND_O"},   {"CAST_HYBRID", "ROUND_H"}};
    const auto named_round = rounds.find(attribute(op, "round_mode"));
    std::string round = named_round == rounds.end() ? "ROUND_R" : named_round->second;
    if ((to == D::hf8 || to == D::hf4) && round != "ROUND_H") round = "ROUND_A"; // these know two roundings only
    if (is_fp8(to)) round = "ROUND_R";
    const std::string saturate = attribute(op, "saturate") == "ON" ? "RS_ENABLE" : "RS_DISABLE";
    const std::string half = layout == 1 ? "PART_ODD" : "PART_EVEN", quarter = "PART_P" + std::to_string(layout);
    const bool by_four = std::max(fb, tb) / std::min(fb, tb) >= 4;
    std::string tail;
    if (from == D::int4) {
        const char* name = to == D::fp16 ? "vcvt_s42f16(" : to == D::bf16 ? "vcvt_s42bf16(" : to == D::int16 ? "vcvt_s42s16(" : nullptr;
        if (!name) return false;
        line(name + reg(op.registers.at(0)) + ", " + operand(op.operands[0]) + ", " + named(op, "preg") + ", " + quarter + merge_mode(op) + ");");
        return true;
    }
    if (to == D::int4) {
        if (from != D::fp16) return false;
        line("vcvt_f162s4(" + reg(op.registers.at(0)) + ", " + operand(op.operands[0]) + ", " + named(op, "preg") + ", " + round + ", " + saturate + ", " + quarter + merge_mode(op) + ");");
        return true;
    }
    if (is_fp4(from)) tail = quarter;
    else if (is_fp4(to)) tail = round + ", " + quarter;
    else if (fb == tb) tail = real_to ? round : round + ", " + saturate;
    else if (wider && by_four) tail = quarter;
    else if (wider && real_from && !real_to) tail = round + ", " + half;                 // float to a wider int
    else if (wider && isa::bits(from) == 32 && real_from) tail = round + ", " + half;    // fp32 to int64
    else if (wider) tail = half;
    else if ((from == D::int64 || from == D::uint64) && to == D::fp32) tail = round + ", " + half;
    else if ((from == D::int32 || from == D::uint32) && to == D::fp16) tail = round + ", " + half;
    else if (narrower && !real_from && !real_to) tail = saturate + ", " + (by_four ? quarter : half);
    else if (from == D::fp32 && tb == 8 && real_to) tail = round + ", RS_ENABLE, " + quarter;
    else tail = round + ", " + saturate + ", " + (by_four ? quarter : half);
    line("vcvt(" + reg(op.registers.at(0)) + ", " + operand(op.operands[0]) + ", " + named(op, "preg") + ", " + tail + ", MODE_ZEROING);");
    return true;
}

bool Writer::register_pack(const ir::Op& op) {
    if (op.row->semantics != S::reg_pack) return false;
    const bool pack = op.row->lane == isa::LaneFn::pack;
    const std::string r = reg(op.registers.at(0)), x = operand(op.operands[0]), part = attribute(op, "part") == "UPPER" ? "HIGHER" : "LOWER";
    if (is_mask(op.operands[0])) {
        line((pack ? "ppack(" : "punpack(") + r + ", " + x + ", " + part + ");");
        return true;
    }
    const D from = register_type(op.operands[0]), to = result_type(op);
    const int fb = isa::bits(from), tb = isa::bits(to);
    auto as = [](int bits, bool with_sign, const std::string& name) { return "(RegTensor<" + std::string(with_sign ? "int" : "uint") + std::to_string(bits) + "_t>&)" + name; };
    if (pack && fb == 64) { // even words of the register, the other half zero
        const std::string zero = temporary("zero_"), rest = temporary("rest_");
        line("RegTensor<int32_t> " + zero + ", " + rest + ";");
        line("vbr(" + zero + ", (int32_t)0);");
        if (part == "LOWER") line("vdintlv(" + as(32, true, r) + ", " + rest + ", " + as(32, true, x) + ", " + zero + ");");
        else line("vdintlv(" + as(32, true, r) + ", " + rest + ", " + zero + ", " + as(32, true, x) + ");");
        return true;
    }
    if (!pack && tb == 64) { // words alternate with zeros or copies of the sign
        const bool with_sign = isa::is_signed_int(to);
        const std::string high = temporary("high_"), rest = temporary("rest_");
        line("RegTensor<int32_t> " + high + ", " + rest + ";");
        if (with_sign) line("vshrs(" + high + ", " + as(32, true, x) + ", (int16_t)31, " + all_lanes(D::int32) + ", MODE_ZEROING);");
        else line("vbr(" + high + ", (int32_t)0);");
        const std::string low = as(32, true, r);
        if (part == "LOWER") line("vintlv(" + low + ", " + rest + ", " + as(32, true, x) + ", " + high + ");");
        else line("vintlv(" + rest + ", " + low + ", " + as(32, true, x) + ", " + high + ");");
        return true;
    }
    if (pack) line("vpack(" + as(fb / 2, false, r) + ", " + as(fb, isa::is_signed_int(from), x) + ", " + part + ");");
    else line("vunpack(" + as(fb * 2, isa::is_signed_int(to), r) + ", " + as(fb, isa::is_signed_int(to), x) + ", " + part + ");");
    return true;
}

} // namespace pto::emit

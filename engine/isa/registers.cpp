/// Register operations of vector functions (vf.*). Source: language 5.3 to 5.7; codegen 2.6.
///
/// Operands follow the written order; the mask comes last. Keywords may be given by position after the operands. Emit forms name results
/// {r0}, {r1}: registers are variables of the emitted scope.
#include "engine/isa/families.hpp"
#include "engine/isa/row_parts.hpp"

namespace pto::isa {
using namespace parts;
namespace {

constexpr std::uint32_t reg_arithmetic = i8_16_32 | i64 | f16_b16_32;
constexpr std::uint32_t reg_wide = i16_32 | f16_b16_32;
constexpr std::string_view arithmetic_source = "language 5.5; codegen 2.6";

Operand reg(std::string_view name, std::uint32_t types = any_set) { return {name, K::reg, Role::read, false, any_set, types}; }
Operand mask(bool optional = false, std::string_view name = "preg") { return {name, K::mask, Role::read, optional}; }
Operand memory(Role role) { return {"tile", K::memory, role, false, vec, any_set}; }
Keyword merge(std::string_view fallback = "ZEROING") { return choice("mode", EnumKind::MergeMode, fallback); }
Keyword layout() { return choice("layout", EnumKind::CastLayout, "ZERO"); }
Keyword dtype(std::string_view fallback = {}, bool required = false) { return key("dtype", KeywordKind::dtype, fallback, required); }

OpRow vf(std::string_view name, std::vector<Operand> operands, std::vector<Keyword> keywords, Semantics semantics, LaneFn lane, std::string_view result,
         ResultType type, std::string_view timing, std::string_view emit, std::string_view doc, std::string_view source) {
    OpRow r;
    r.name = name;
    r.family = "registers";
    r.operands = std::move(operands);
    r.keywords = std::move(keywords);
    r.pipe = PipeRule::in_vector;
    r.semantics = semantics;
    r.lane = lane;
    r.positional_keywords = true;
    r.result = result;
    r.result_type = type;
    r.timing = timing;
    r.emit = emit;
    r.doc = doc;
    r.source = source;
    return r;
}
OpRow form(OpRow r, Form f) {
    r.form = f;
    return r;
}

void add_masks(Catalogue& c) {
    constexpr std::string_view source = "language 5.3; codegen 2.6";
    c.add(vf("vf.create_mask", {}, {choice("pattern", EnumKind::MaskPattern, "ALL"), dtype("DT_FP32")}, Semantics::reg_mask_create, LaneFn::none, "mask",
             ResultType::keyword, "reg.mask", "", "A mask by pattern: all lanes, none, the lowest n, half, quarter, every third or fourth.", source));
    c.add(vf("vf.update_mask", {number("n")}, {dtype("DT_FP32")}, Semantics::reg_mask_update, LaneFn::none, "mask", ResultType::keyword, "reg.mask", "",
             "A mask of the lowest min(n, lanes) lanes. n itself is not changed.", source));
    c.add(vf("vf.get_mask_spr", {}, {choice("width", EnumKind::MaskWidth, "B32")}, Semantics::reg_mask_other, LaneFn::none, "mask", ResultType::keyword, "reg.mask",
             "", "A mask from the vector mask register that set_vec_mask wrote.", source));
    c.add(vf("vf.mask_gen_with_reg_tensor", {reg("src")}, {key("offset", KeywordKind::integer, "0")}, Semantics::reg_mask_other, LaneFn::none, "mask",
             ResultType::first, "reg.mask", "", "A mask from the bits of one block of a register.", source));
    c.add(vf("vf.full", {{"x", K::reg_or_scalar, Role::read}, mask(true)}, {dtype(), merge({}), choice("pos", EnumKind::DuplicatePos)}, Semantics::reg_full,
             LaneFn::copy, "reg", ResultType::keyword_or_first, "reg.fill", "", "Every lane becomes a scalar (dtype= required), or the lowest or highest lane of a register.",
             source));
    c.add(vf("vf.arange", {number("start")}, {dtype({}, true), choice("index_order", EnumKind::IndexOrder, "INCREASE_ORDER")}, Semantics::reg_arange, LaneFn::none,
             "reg", ResultType::keyword, "reg.fill", "", "start + lane number; in decreasing order `start` stands in the last lane.", source));
    c.add(vf("vf.move", {{"src", K::reg_or_mask, Role::read}, mask(true)}, {merge("MERGING")}, Semantics::reg_move, LaneFn::copy, "reg|mask", ResultType::first,
             "reg.copy", "vmov({r0}, {0}, {1}, MODE_MERGING)|pmov({r0}, {0}, {1})", "Copies selected lanes and keeps the others of the register it is assigned to.",
             source));
    c.add(vf("vf.clear_spr", {}, {}, Semantics::reg_spr, LaneFn::none, "", ResultType::none, "reg.mask", "sprclr(SPR_AR)", "Clears the AR byte counter.", source));
    c.add(vf("vf.create_addr_reg", {number("i0"), number("s0"), number("i1", true), number("s1", true), number("i2", true), number("s2", true), number("i3", true), number("s3", true)},
             {dtype("DT_FP32")}, Semantics::reg_address, LaneFn::none, "address", ResultType::keyword, "reg.mask", "",
             "An address register: the sum of index times stride over up to four loops, in elements; an offset for aligned loads and stores.", source));
    c.add(vf("vf.mem_bar", {}, {choice("mode", EnumKind::MemBarMode, "VST_VLD")}, Semantics::reg_barrier, LaneFn::none, "", ResultType::none, "reg.barrier",
             "mem_bar({mode})", "Orders earlier accesses of UB of one class before later ones of another; without it loads and stores of a vector function are unordered.",
             source));
}

void add_memory(Catalogue& c) {
    constexpr std::string_view source = "language 5.4; codegen 2.6";
    std::vector<Keyword> load_keywords{dtype(), choice("dist", EnumKind::LoadDist), key("post_update", KeywordKind::boolean, "False"), key("block_stride", KeywordKind::scalar),
                                       key("repeat_stride", KeywordKind::scalar), choice("data_copy_mode", EnumKind::DataCopyMode)};
    c.add(vf("vf.load_align", {memory(Role::read), {"offset", K::offset, Role::read, true}}, load_keywords, Semantics::reg_load, LaneFn::none, "reg|mask|reg,reg",
             ResultType::keyword_or_first, "reg.load", "",
             "Loads 256 bytes (by dist: broadcast, up- or down-sampled, widened, de-interleaved into two registers) from a tile; an assigned mask name loads a mask.",
             source));
    c.add(form(vf("vf.load_align.blocks", {memory(Role::read), mask(false, "offset")}, load_keywords, Semantics::reg_load, LaneFn::none, "reg",
                  ResultType::keyword_or_first, "reg.load_strided", "", "Loads eight 32-byte blocks at distance block_stride; blocks outside the mask become zero.", source),
               {.of = "vf.load_align", .at = 1, .kind = K::mask}));
    std::vector<Keyword> store_keywords{choice("dist", EnumKind::StoreDist), choice("data_copy_mode", EnumKind::DataCopyMode), key("block_stride", KeywordKind::scalar),
                                        key("repeat_stride", KeywordKind::scalar), key("post_update", KeywordKind::boolean, "False")};
    c.add(vf("vf.store_align", {memory(Role::write), reg("src"), mask(true), {"offset", K::offset, Role::read, true}}, store_keywords, Semantics::reg_store, LaneFn::none,
             "", ResultType::none, "reg.store", "", "Stores the selected lanes of a register (by dist: packed, first lane only) to a tile; other bytes stay.", source));
    c.add(form(vf("vf.store_align.mask", {memory(Role::write), mask(false, "src"), {"offset", K::offset, Role::read, true}}, store_keywords, Semantics::reg_store,
                  LaneFn::none, "", ResultType::none, "reg.store", "", "Stores a mask register. A plain integer offset is ignored by the generated code.", source),
               {.of = "vf.store_align", .at = 1, .kind = K::mask}));
    c.add(form(vf("vf.store_align.pair", {memory(Role::write), reg("even"), reg("odd"), mask()}, store_keywords, Semantics::reg_store, LaneFn::none, "", ResultType::none,
                  "reg.store_pair", "", "Stores two registers interleaved (dist=INTLV).", source),
               {.of = "vf.store_align", .at = 2, .kind = K::reg}));
    c.add(vf("vf.load", {memory(Role::read)}, {key("stride", KeywordKind::scalar), key("post_update", KeywordKind::boolean, "False"), key("repeat_stride", KeywordKind::scalar),
                                                key("count", KeywordKind::scalar)},
             Semantics::reg_load_unaligned, LaneFn::none, "reg", ResultType::first, "reg.load_unaligned", "", "One load from an unaligned address.", source));
    c.add(vf("vf.store", {memory(Role::write), reg("src")}, {key("count", KeywordKind::scalar), key("post_update", KeywordKind::boolean, "False"),
                                                              key("repeat_stride", KeywordKind::scalar, "0")},
             Semantics::reg_store_unaligned, LaneFn::none, "", ResultType::none, "reg.store_unaligned", "",
             "One store of count elements to an unaligned address; consecutive stores to a tile append.", source));
    c.add(vf("vf.load_unalign_init", {}, {}, Semantics::reg_load_unaligned, LaneFn::none, "unaligned", ResultType::none, "reg.mask", "",
             "A register that carries the remainder between unaligned loads.", source));
    Operand carry{"u", K::unaligned, Role::read_write};
    c.add(vf("vf.load_unalign_pre", {carry, memory(Role::read)}, {}, Semantics::reg_load_unaligned, LaneFn::none, "", ResultType::none, "reg.load",
             "vldas({0}, {1})", "Fills the carry register before the first unaligned load.", source));
    std::vector<Keyword> post{key("post_update", KeywordKind::boolean, "False")};
    c.add(vf("vf.load_unalign", {memory(Role::read), carry, number("stride", true)}, post, Semantics::reg_load_unaligned, LaneFn::none, "reg", ResultType::first, "reg.load",
             "", "Next register of an unaligned stream; with stride the address advances by that many elements.", source));
    c.add(form(vf("vf.load_unalign.carry_first", {carry, memory(Role::read), number("stride", true)}, post, Semantics::reg_load_unaligned, LaneFn::none, "reg",
                  ResultType::first, "reg.load", "", "The same with the carry register first, as the generated stubs write it.", "language 5.4, 9.1 #23"),
               {.of = "vf.load_unalign", .at = 0, .kind = K::unaligned}));
    c.add(vf("vf.unalign_reg_for_store", {}, {}, Semantics::reg_store_unaligned, LaneFn::none, "unaligned", ResultType::none, "reg.mask", "",
             "A register that carries the remainder between unaligned stores.", source));
    c.add(vf("vf.store_unalign", {memory(Role::write), {"src", K::reg_or_mask, Role::read}, carry, number("stride", true)}, post, Semantics::reg_store_unaligned, LaneFn::none, "",
             ResultType::none, "reg.store", "", "Appends stride elements (without stride: the AR byte count) of a register to an unaligned stream.", source));
    c.add(vf("vf.store_unalign_post", {memory(Role::write), carry, number("stride", true)}, post, Semantics::reg_store_unaligned, LaneFn::none, "", ResultType::none, "reg.store",
             "", "Writes out what the carry register still holds.", source));
    c.add(vf("vf.gather", {{"src", K::memory_or_reg, Role::read, false, vec, any_set}, reg("index"), mask(true)}, {choice("data_copy_mode", EnumKind::DataCopyMode, "NORM")},
             Semantics::reg_gather, LaneFn::none, "reg", ResultType::first, "reg.gather", "", "Lane i becomes element index_i of a tile or register.", source));
    c.add(vf("vf.scatter", {memory(Role::write), reg("src"), reg("index"), mask()}, {}, Semantics::reg_scatter, LaneFn::none, "", ResultType::none, "reg.scatter",
             "vscatter({1}, {0}, {2}, {3})", "Element index_i of a tile becomes lane i; of equal indices one survives.", source));
}

void add_lanes(Catalogue& c) {
    auto binary = [&](std::string_view name, LaneFn lane, std::uint32_t types, std::string_view timing, std::string_view emit, std::string_view doc) {
        c.add(vf(name, {reg("a", types), reg("b", types), mask()}, {merge()}, Semantics::reg_lane, lane, "reg", ResultType::first, timing, emit, doc, arithmetic_source));
    };
    binary("vf.add", LaneFn::add, reg_arithmetic, "reg.add", "vadd({r0}, {0}, {1}, {2}, MODE_{mode})", "a + b on the selected lanes; MERGING keeps the others.");
    binary("vf.sub", LaneFn::sub, reg_arithmetic, "reg.add", "vsub({r0}, {0}, {1}, {2}, MODE_{mode})", "a - b on the selected lanes.");
    binary("vf.mul", LaneFn::mul, reg_wide, "reg.add", "vmul({r0}, {0}, {1}, {2}, MODE_{mode})", "a * b, for integers the low part.");
    binary("vf.div", LaneFn::div, i16_32 | f16_32, "reg.div", "vdiv({r0}, {0}, {1}, {2}, MODE_{mode})", "a / b on the selected lanes.");
    binary("vf.max", LaneFn::max, i8_16_32 | f16_b16_32, "reg.add", "vmax({r0}, {0}, {1}, {2}, MODE_{mode})", "The larger of a and b; MERGING keeps unselected lanes.");
    binary("vf.min", LaneFn::min, i8_16_32 | f16_b16_32, "reg.add", "vmin({r0}, {0}, {1}, {2}, MODE_{mode})", "The smaller of a and b.");
    binary("vf.abs_sub", LaneFn::abs_sub, f16_32, "reg.add", "vabsdif({r0}, {0}, {1}, {2}, MODE_{mode})", "|a - b| on the selected lanes.");
    binary("vf.prelu", LaneFn::prelu, f16_32, "reg.add", "vprelu({r0}, {0}, {1}, {2}, MODE_{mode})", "x where x >= 0, else slope * x with a slope per lane.");

    auto scalar = [&](std::string_view name, LaneFn lane, std::uint32_t types, std::string_view emit, std::string_view doc) {
        c.add(vf(name, {reg("src", types), number("x"), mask()}, {merge()}, Semantics::reg_lane, lane, "reg", ResultType::first, "reg.add_scalar", emit, doc,
                 arithmetic_source));
    };
    scalar("vf.adds", LaneFn::add, reg_arithmetic, "vadds({r0}, {0}, {1}, {2}, MODE_{mode})", "Register plus scalar.");
    scalar("vf.subs", LaneFn::sub, reg_arithmetic, "vadds({r0}, {0}, -({1}), {2}, MODE_{mode})", "Register minus scalar.");
    scalar("vf.muls", LaneFn::mul, i16_32 | f16_32, "vmuls({r0}, {0}, {1}, {2}, MODE_{mode})", "Register times scalar.");
    scalar("vf.maxs", LaneFn::max, i8_16_32 | f16_b16_32, "vmaxs({r0}, {0}, {1}, {2}, MODE_{mode})", "The larger of register and scalar.");
    scalar("vf.mins", LaneFn::min, i8_16_32 | f16_b16_32, "vmins({r0}, {0}, {1}, {2}, MODE_{mode})", "The smaller of register and scalar.");
    scalar("vf.leaky_relu", LaneFn::leaky_relu, f16_32, "vlrelu({r0}, {0}, {1}, {2}, MODE_{mode})", "x where x >= 0, else alpha * x.");

    auto unary = [&](std::string_view name, LaneFn lane, std::uint32_t types, std::string_view timing, std::string_view emit, std::string_view doc) {
        std::vector<Keyword> keywords{merge()};
        if (timing == "reg.special") keywords.push_back(key("precision", KeywordKind::text));
        c.add(vf(name, {reg("src", types), mask()}, std::move(keywords), Semantics::reg_lane, lane, "reg", ResultType::first, timing, emit, doc, arithmetic_source));
    };
    constexpr std::uint32_t absolute = bit_set({D::int8, D::int16, D::int32}) | f16_32;
    unary("vf.abs", LaneFn::abs, absolute, "reg.add", "vabs({r0}, {0}, {1}, MODE_{mode})", "|x|; the smallest integer stays as it is.");
    unary("vf.neg", LaneFn::neg, absolute, "reg.add", "vneg({r0}, {0}, {1}, MODE_{mode})", "-x; the smallest integer stays as it is.");
    unary("vf.relu", LaneFn::relu, f16_32 | bit_set({D::int32}), "reg.add", "vrelu({r0}, {0}, {1}, MODE_{mode})", "x where x >= 0, else 0.");
    unary("vf.exp", LaneFn::exp, f16_32, "reg.special", "vexp({r0}, {0}, {1}, MODE_{mode})", "e to the power x.");
    unary("vf.ln", LaneFn::log, f16_32, "reg.special", "vln({r0}, {0}, {1}, MODE_{mode})", "Natural logarithm.");
    unary("vf.log", LaneFn::log, f16_32, "reg.special", "vln({r0}, {0}, {1}, MODE_{mode})", "Natural logarithm, as ln.");
    unary("vf.log2", LaneFn::log2, f16_32, "reg.special", "vln({r0}, {0}, {1}, MODE_{mode}); vmuls({r0}, {r0}, 1.4426950408889634f, {1}, MODE_{mode})",
          "Logarithm to base 2: ln times a constant.");
    unary("vf.log10", LaneFn::log10, f16_32, "reg.special", "vln({r0}, {0}, {1}, MODE_{mode}); vmuls({r0}, {r0}, 0.4342944819032518f, {1}, MODE_{mode})",
          "Logarithm to base 10: ln times a constant.");
    unary("vf.sqrt", LaneFn::sqrt, f16_32, "reg.special", "vsqrt({r0}, {0}, {1}, MODE_{mode})", "Square root.");
    c.add(vf("vf.truncate", {reg("src", f16_b16_32), mask()}, {merge(), choice("round_mode", EnumKind::VfRoundMode, "CAST_TRUNC")}, Semantics::reg_lane, LaneFn::truncate,
             "reg", ResultType::first, "reg.add", "", "Integral value of the same type, toward zero unless round_mode says otherwise.", arithmetic_source));

    c.add(vf("vf.exp_sub", {reg("a", f16_32), reg("b", f16_32), mask()}, {layout(), dtype("DT_FP32")}, Semantics::reg_lane, LaneFn::exp_sub, "reg", ResultType::fp32,
             "reg.special", "vexpdif({r0}, {0}, {1}, {2}, PART_{layout})", "e to the power (a - b) as FP32; FP16 inputs are widened from even (ZERO) or odd (ONE) lanes.",
             arithmetic_source));
    auto destination = [&](std::string_view name, std::vector<Operand> operands, LaneFn lane, std::string_view emit, std::string_view doc) {
        c.add(vf(name, std::move(operands), {merge()}, Semantics::reg_lane_destination, lane, "reg", ResultType::first, "reg.add", emit, doc, arithmetic_source));
    };
    destination("vf.axpy", {reg("src", f16_32), number("s"), mask()}, LaneFn::axpy, "vaxpy({r0}, {0}, {1}, {2}, MODE_{mode})",
                "dst = s * src + dst: reads the register it is assigned to.");
    destination("vf.mul_add_dst", {reg("a", reg_wide), reg("b", reg_wide), mask()}, LaneFn::mul_add_dst, "vmula({r0}, {0}, {1}, {2}, MODE_{mode})",
                "dst = a * b + dst with one rounding: reads the register it is assigned to.");
    destination("vf.mul_dst_add", {reg("a", f16_b16_32), reg("b", f16_b16_32), mask()}, LaneFn::mul_dst_add, "vmadd({r0}, {0}, {1}, {2}, MODE_{mode})",
                "dst = dst * a + b with one rounding: reads the register it is assigned to.");
    c.add(vf("vf.muls_cast", {reg("src", fp32_only), number("s"), mask()}, {dtype("DT_FP16"), layout()}, Semantics::reg_cast, LaneFn::mul, "reg", ResultType::keyword,
             "reg.cast", "vmulscvt({r0}, {0}, {1}, {2}, PART_{layout})", "src * s rounded (ties away) to FP16 in even or odd lanes; the others become zero.",
             arithmetic_source));
    constexpr std::uint32_t i32 = bit_set({D::int32, D::uint32});
    c.add(vf("vf.mull", {reg("a", i32), reg("b", i32), mask()}, {}, Semantics::reg_lane, LaneFn::mull, "reg,reg", ResultType::first, "reg.add",
             "vmull({r0}, {r1}, {0}, {1}, {2})", "Low and high halves of the 64-bit product.", arithmetic_source));
    c.add(vf("vf.addc", {reg("a", i32), reg("b", i32), mask(false, "carry"), mask(true)}, {}, Semantics::reg_carry, LaneFn::add, "mask,reg", ResultType::first, "reg.add",
             "vaddcs({r0}, {r1}, {0}, {1}, {2}, {3})", "Sum with a carry per lane; gives carry and sum.", arithmetic_source));
    c.add(vf("vf.subc", {reg("a", i32), reg("b", i32), mask(false, "carry"), mask(true)}, {}, Semantics::reg_carry, LaneFn::sub, "mask,reg", ResultType::first, "reg.add",
             "vsubcs({r0}, {r1}, {0}, {1}, {2}, {3})", "Difference with a borrow per lane; gives borrow and difference.", arithmetic_source));
    auto logic = [&](std::string_view name, LaneFn lane, bool two, std::string_view emit, std::string_view doc) {
        std::vector<Operand> operands{{"a", K::reg_or_mask, Role::read}};
        if (two) operands.push_back({"b", K::reg_or_mask, Role::read});
        operands.push_back(mask());
        c.add(vf(name, std::move(operands), {merge()}, Semantics::reg_lane, lane, "reg|mask", ResultType::first, "reg.add", emit, doc, arithmetic_source));
    };
    logic("vf.and_", LaneFn::bit_and, true, "vand({r0}, {0}, {1}, {2}, MODE_{mode})|pand({r0}, {0}, {1}, {2})", "Bitwise and of registers or masks.");
    logic("vf.or_", LaneFn::bit_or, true, "vor({r0}, {0}, {1}, {2}, MODE_{mode})|por({r0}, {0}, {1}, {2})", "Bitwise or of registers or masks.");
    logic("vf.xor", LaneFn::bit_xor, true, "vxor({r0}, {0}, {1}, {2}, MODE_{mode})|pxor({r0}, {0}, {1}, {2})", "Bitwise exclusive or of registers or masks.");
    logic("vf.not_", LaneFn::bit_not, false, "vnot({r0}, {0}, {1}, MODE_{mode})|pnot({r0}, {0}, {1})", "Bitwise complement of a register or mask.");
    auto shift = [&](std::string_view name, LaneFn lane, std::string_view emit, std::string_view doc) {
        c.add(vf(name, {reg("src", i8_16_32 | i64), {"amount", K::reg_or_scalar, Role::read}, mask()}, {merge(), dtype()}, Semantics::reg_lane, lane, "reg",
                 ResultType::first, "reg.add", emit, doc, arithmetic_source));
    };
    shift("vf.shift_left", LaneFn::shl, "vshl({r0}, {0}, {1}, {2}, MODE_{mode})|vshls({r0}, {0}, (int16_t)({1}), {2}, MODE_{mode})",
          "Shifts left by a register (of a signed type) or scalar; amounts of the width and above give 0.");
    shift("vf.shift_right", LaneFn::shr, "vshr({r0}, {0}, {1}, {2}, MODE_{mode})|vshrs({r0}, {0}, (int16_t)({1}), {2}, MODE_{mode})",
          "Shifts right: arithmetically for signed types, logically for unsigned ones.");
    auto compare = [&](std::string_view name, LaneFn lane, std::string_view emit, std::string_view doc) {
        c.add(vf(name, {reg("a", i8_16_32 | f16_b16_32), {"b", K::reg_or_scalar, Role::read}, mask()}, {key("cmp_dtype", KeywordKind::dtype)}, Semantics::reg_compare, lane,
                 "mask", ResultType::keyword_or_first, "reg.compare", emit, doc, arithmetic_source));
    };
    compare("vf.eq", LaneFn::eq, "vcmp_eq({r0}, {0}, {1}, {2})|vcmps_eq({r0}, {0}, {1}, {2})", "Mask of a == b among the selected lanes.");
    compare("vf.ne", LaneFn::ne, "vcmp_ne({r0}, {0}, {1}, {2})|vcmps_ne({r0}, {0}, {1}, {2})", "Mask of a != b among the selected lanes.");
    compare("vf.lt", LaneFn::lt, "vcmp_lt({r0}, {0}, {1}, {2})|vcmps_lt({r0}, {0}, {1}, {2})", "Mask of a < b among the selected lanes.");
    compare("vf.gt", LaneFn::gt, "vcmp_gt({r0}, {0}, {1}, {2})|vcmps_gt({r0}, {0}, {1}, {2})", "Mask of a > b among the selected lanes.");
    compare("vf.le", LaneFn::le, "vcmp_le({r0}, {0}, {1}, {2})|vcmps_le({r0}, {0}, {1}, {2})", "Mask of a <= b among the selected lanes.");
    compare("vf.ge", LaneFn::ge, "vcmp_ge({r0}, {0}, {1}, {2})|vcmps_ge({r0}, {0}, {1}, {2})", "Mask of a >= b among the selected lanes.");
    c.add(vf("vf.select", {{"a", K::reg_or_mask, Role::read}, {"b", K::reg_or_mask, Role::read}, mask()}, {}, Semantics::reg_select, LaneFn::none, "reg|mask",
             ResultType::first, "reg.add", "vsel({r0}, {0}, {1}, {2})|psel({r0}, {0}, {1}, {2})", "a where the mask has a one, else b.", arithmetic_source));
    c.add(vf("vf.bit_cast", {reg("src")}, {dtype({}, true)}, Semantics::reg_bit_cast, LaneFn::none, "reg", ResultType::keyword, "reg.none", "",
             "The same bits read as another type of equal width.", arithmetic_source));
}

void add_permutations(Catalogue& c) {
    constexpr std::string_view source = "language 5.6; codegen 2.6";
    auto reduce = [&](std::string_view name, LaneFn lane, std::string_view emit, std::string_view doc) {
        c.add(vf(name, {reg("src", i8_16_32 | f16_32), mask()}, {key("datablock", KeywordKind::boolean, "False"), merge()}, Semantics::reg_reduce, lane, "reg", ResultType::first,
                 "reg.reduce", emit, doc, source));
    };
    reduce("vf.reduce_sum", LaneFn::sum, "", "Lane 0 = sum of the selected lanes, others 0. datablock=True reduces each 32-byte block into lanes 0 to 7.");
    reduce("vf.reduce_max", LaneFn::max, "", "Lane 0 = largest selected lane, lane 1 = index of the first one.");
    reduce("vf.reduce_min", LaneFn::min, "", "Lane 0 = smallest selected lane, lane 1 = index of the first one.");
    c.add(vf("vf.pair_reduce_sum", {reg("src", f16_32), mask()}, {merge()}, Semantics::reg_reduce, LaneFn::add, "reg", ResultType::first, "reg.reduce",
             "vcpadd({r0}, {0}, {1}, MODE_{mode})", "Lane i of the lower half = sum of lanes 2i and 2i + 1; the upper half becomes 0.", source));
    c.add(vf("vf.interleave", {{"a", K::reg_or_mask, Role::read}, {"b", K::reg_or_mask, Role::read}}, {dtype()}, Semantics::reg_interleave, LaneFn::interleave,
             "reg,reg|mask,mask", ResultType::first, "reg.permute", "vintlv({r0}, {r1}, {0}, {1})", "Lanes of a and b alternating, as a low and a high half.", source));
    c.add(vf("vf.de_interleave", {{"a", K::reg_or_mask, Role::read}, {"b", K::reg_or_mask, Role::read}}, {dtype()}, Semantics::reg_interleave, LaneFn::de_interleave,
             "reg,reg|mask,mask", ResultType::first, "reg.permute", "vdintlv({r0}, {r1}, {0}, {1})", "Even and odd lanes of a followed by b.", source));
    c.add(vf("vf.pack", {{"src", K::reg_or_mask, Role::read}}, {dtype(), choice("part", EnumKind::PackPart, "LOWER")}, Semantics::reg_pack, LaneFn::pack, "reg|mask",
             ResultType::keyword_or_first, "reg.permute", "", "Low half of every lane into the lower or upper half of the result.", source));
    c.add(vf("vf.unpack", {{"src", K::reg_or_mask, Role::read}}, {dtype(), choice("part", EnumKind::PackPart, "LOWER")}, Semantics::reg_pack, LaneFn::unpack, "reg|mask",
             ResultType::keyword_or_first, "reg.permute", "", "Lower or upper half widened to double width, with zero or sign by type.", source));
    c.add(vf("vf.squeeze", {reg("src"), mask()}, {choice("gather_mode", EnumKind::SqueezeMode, "STORE_REG"), dtype()}, Semantics::reg_squeeze, LaneFn::none, "reg",
             ResultType::keyword_or_first, "reg.squeeze", "",
             "Selected lanes moved to the bottom; STORE_REG also leaves their byte count in AR for the next unaligned store. dtype names the result's type, as wide as src's.", source));
    c.add(vf("vf.unsqueeze", {mask(false, "mask")}, {dtype("DT_FP32")}, Semantics::reg_squeeze, LaneFn::none, "reg", ResultType::keyword, "reg.squeeze",
             "vusqz({r0}, {0})", "Lane i = number of selected lanes below i.", source));
    c.add(vf("vf.histograms", {reg("src", bit_set({D::uint8})), mask()},
             {choice("bin_type", EnumKind::BinType, "BIN0"), choice("hist_type", EnumKind::HistType, "ACCUMULATE")}, Semantics::reg_histogram, LaneFn::none, "reg",
             ResultType::uint16, "reg.histogram", "", "Adds counts of byte values (or cumulative counts) to the 128 lanes of the register it is assigned to.", source));
    c.add(vf("vf.astype", {reg("src"), mask()},
             {dtype({}, true), layout(), choice("round_mode", EnumKind::VfRoundMode, "CAST_RINT"), choice("saturate", EnumKind::SaturateMode, "OFF")}, Semantics::reg_cast,
             LaneFn::none, "reg", ResultType::keyword, "reg.cast", "",
             "Converts; between widths the narrow lanes are those at layout's offset, and masks select source elements.", "language 5.7; codegen 2.6"));
}

} // namespace

void add_registers(Catalogue& c) {
    add_masks(c);
    add_memory(c);
    add_lanes(c);
    add_permutations(c);
}

} // namespace pto::isa

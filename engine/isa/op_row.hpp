#pragma once
/// The form of one row of the op catalogue. Everything the product knows about an operation stands in its row: the
/// resolver, checker, access scan, auto_mutex, executor, timing, emitter, completion, help and the docs page read it.

#include "engine/isa/dtype.hpp"
#include "engine/isa/enums.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace pto::isa {

/// What an operation does with the bytes of an operand. Operands may also be passed by their name, as in Python.
enum class Role : std::uint8_t { none, read, write, read_write };
inline bool reads(Role r) { return r == Role::read || r == Role::read_write; }
inline bool writes(Role r) { return r == Role::write || r == Role::read_write; }

enum class OperandKind : std::uint8_t {
    tile,           // an on-chip tile
    tensor,         // a view of global memory
    tile_or_tensor, // getval, setval, dcci, dump_data
    tile_or_scalar, // right-hand side of arithmetic
    tile_or_group,  // set_validshape
    scalar,         // run-time or constant scalar
    scalar_list,    // [a, b, ...]: offsets, shapes, strides
    structure,      // a pl.struct variable (ssbuf)
    text,           // a literal string
    scalars,        // all remaining positional arguments (printf)
    list,           // a list of tiles and tensors (sync_all workspaces)
    // inside vector functions
    memory,         // a tile parameter or `tile + offset`
    reg,            // vector register
    mask,           // mask register
    reg_or_scalar,
    reg_or_mask,
    unaligned,      // unaligned-access register
    offset,         // int expression, [row, col] or address register
    memory_or_reg,  // vf.gather: a tile in UB or a register
    // arguments of constructs (OpRow::construct)
    value,          // any value known while parsing: a tile type, a name, a condition
};

template <class E> constexpr std::uint32_t bit_set(std::initializer_list<E> values) {
    std::uint32_t set = 0;
    for (E v : values) set |= 1u << unsigned(v);
    return set;
}
inline constexpr std::uint32_t any_set = 0xFFFFFFFFu;

struct Operand {
    std::string_view name;
    OperandKind kind = OperandKind::tile;
    Role role = Role::none;
    bool optional = false;
    std::uint32_t memories = any_set; // bit_set<MemorySpace>
    std::uint32_t dtypes = any_set;   // bit_set<DType>
    int stand_in = -1;                // of scratch that a 950 leaves untouched: the operand whose tile takes its place in C++ when it was left out
};

enum class KeywordKind : std::uint8_t { enumeration, integer, boolean, real, dtype, scalar, integer_list, scale, text, tensor, scalar_or_list };

struct Keyword {
    std::string_view name;
    KeywordKind kind = KeywordKind::enumeration;
    EnumKind enumeration = EnumKind::count; // for KeywordKind::enumeration
    std::string_view fallback;              // default as written in the language ("CAST_ROUND"); empty = None
    bool required = false;
};

/// Which pipe an operation runs on.
enum class PipeRule : std::uint8_t {
    s, v, m, mte1, mte2, mte3, fix,
    by_path,      // move, insert: by source and destination memory
    by_source,    // store: FIX from Acc, else MTE3
    by_keyword,   // synchronisation: the `pipe` keyword; sync_src: `set_pipe`, sync_dst: `wait_pipe`
    all,          // every pipe of the core (bar_all)
    in_vector,    // a register operation: part of the V item of its vector function
};

/// The routine that gives an operation its meaning: what verify, execute, time and emit dispatch on.
enum class Semantics : std::uint8_t {
    none,
    // data movement
    load, store, move, insert, ssbuf_store, ssbuf_load,
    // cube
    matmul, matmul_acc, matmul_mx, matmul_mx_acc,
    // vector tiles
    elementwise,      // out = lane(inputs...), one lane at a time
    axpy_like,        // out = lane(out, inputs...): the destination is an input too
    clobbering,       // fused forms that leave an intermediate in their first input
    compare, select, reduce, arg_reduce, expand, cast, fill, fill_index, fillpad, transpose, part,
    gather, gather_compare, gather_blocks, gather_mask, scatter, sort32, merge_sort, merge_sort_lists, histogram, quant, dequant,
    // scalar pipe
    getval, setval, set_validshape, set_stride, vector_mask, cache, layout_transform,
    // synchronisation
    flag_set, flag_wait, barrier, cross_set, cross_wait, sync_all, mutex_lock, mutex_unlock,
    // debug
    print, assertion, trap, dump,
    // registers (inside a vector function)
    reg_mask_create, reg_mask_update, reg_mask_other, reg_full, reg_arange, reg_move, reg_barrier, reg_address, reg_load, reg_store,
    reg_load_unaligned, reg_store_unaligned, reg_gather, reg_scatter, reg_lane, reg_lane_destination, reg_compare, reg_select,
    reg_cast, reg_bit_cast, reg_reduce, reg_interleave, reg_pack, reg_squeeze, reg_histogram, reg_carry, reg_spr,
    simt_launch,
};

/// One lane's function, for the semantics that apply one.
enum class LaneFn : std::uint8_t {
    none, copy, add, sub, mul, div, rem, max, min, bit_and, bit_or, bit_xor, bit_not, shl, shr, neg, abs, relu, exp, log, log2, log10,
    sqrt, recip, rsqrt, add_relu, sub_relu, addc, subc, mul_add_dst, fused_mul_add, fused_mul_add_relu, axpy, mul_dst_add, leaky_relu,
    prelu, abs_sub, exp_sub, exp_dif, eq, ne, lt, le, gt, ge, sum, prod, argmax, argmin, truncate, mull,
    interleave, de_interleave, pack, unpack,
};

/// Element type of a register or mask result.
enum class ResultType : std::uint8_t {
    none,
    first,            // of the first register (or tile) operand; masks: granularity of that type
    keyword,          // of `dtype=` (or `cmp_dtype=`); its fallback when absent
    keyword_or_first, // of `dtype=` when given, else of the first operand
    fp32, fp16, uint16, index,
};

/// One written name may have several forms, each with its own row: `maximum` is elementwise, and with `dim=` a reduction
/// ("maximum.reduce"). `Catalogue::choose(name, call)` takes the first form whose conditions all hold, else the row of that name.
/// A row that is not a form leaves `of` empty. The part after the last dot of a form's row name is never written by users.
struct Form {
    std::string_view of;                     // the name as written
    std::string_view keyword;                // the call has this keyword
    int positional = -1;                     // the call has exactly this many positional arguments
    int at = -1;                             // positional argument `at` has kind `kind`
    OperandKind kind = OperandKind::tile;
};

/// What choose() looks at.
struct CallShape {
    std::vector<OperandKind> positional;     // tile, tensor, scalar, scalar_list, reg, mask, unaligned, memory, structure, text, list
    std::vector<std::string_view> keywords;
};

/// Relations between operand shapes and types that the checker enforces.
enum class ShapeRule : std::uint8_t {
    none,
    same,           // all tiles: equal valid shape and dtype
    same_shape,     // equal valid shape, dtypes free (cast)
    row_reduce,     // dst [R,1] (dim 0) or [1,C] (dim 1)
    expand,         // vec [R,1] or [1,C]
    matmul,         // lhs [M,K], rhs [K,N], dst [M,N]
    matmul_mx,
    transpose,
    window,         // tile against tensor window
    move,           // the rules of move
    insert,
};

struct OpRow {
    std::string_view name;   // under pl.: "load", "system.set_cross_core", "vf.add"
    std::string_view family; // file name below engine/isa: "movement", "cube", "vector" ...
    std::vector<Operand> operands; // positional, in source order
    std::vector<Keyword> keywords; // keyword-only
    PipeRule pipe = PipeRule::s;
    Semantics semantics = Semantics::none;
    LaneFn lane = LaneFn::none;
    ShapeRule shape = ShapeRule::none;
    bool positional_keywords = false; // keywords may also be given by position after the operands (vf.*)
    bool descriptor_only = false;     // touches no data: no lock, no hazard
    std::string_view result;          // "" none, "scalar", "reg", "mask", "reg,reg" ...; alternatives: "reg|mask" (as the first operand),
                                      // "reg|mask|reg,reg" (load_align: by the assigned names)
    ResultType result_type = ResultType::none;
    int fixed_dim = -1;               // reductions and broadcasts whose name fixes the dimension: row_sum 0, col_sum 1
    bool construct = false;           // a word of the language, no instruction: the resolver gives it its meaning; help reads the row
    Form form;                        // set when the row is one of several forms of a written name
    std::string_view timing;          // key of the chip's timing rows: "vector.add"; movement and matmul are refined by
                                      // machine::timing_key (path, dtype)
    std::string_view emit;            // C++ statements; {0} first operand, {name} keyword, {T0} element type and {RT0} type of operand 0,
                                      // {r0} first result. {cmp_type} a relation. '|' separates the tile form from the scalar form of
                                      // tile_or_scalar (for registers: the register form from the mask or scalar form), the form
                                      // without an optional operand from the one with it, and rows from columns. Empty: the emitter
                                      // has a routine
    std::string_view doc;             // one or two sentences for help and the docs page
    std::string_view source;          // where the rule comes from: "language 3.5"
    std::string_view hidden_for;      // non-empty: an alias that is accepted but not advertised

    /// The name users write: the form's name, else the row's own.
    std::string_view call_name() const { return form.of.empty() ? name : form.of; }
    const Operand* operand(std::string_view wanted) const;
    const Keyword* keyword(std::string_view wanted) const;
    int keyword_index(std::string_view wanted) const; // -1 when absent
};

} // namespace pto::isa

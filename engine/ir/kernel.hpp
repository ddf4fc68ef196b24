#pragma once
/// Operator-kernel IR: what a kernel means for each core, after names, constants, types and inlining are settled.
///
/// One `Function` per core target. Variables are mutable slots (no SSA): a value merged from two branches is one slot written in
/// both. Trees own their children by value; expressions live in a per-function arena and are named by ExprId; everything that
/// points sideways is a typed id. Source: language reference, sections 1 to 5.

#include "engine/base/span.hpp"
#include "engine/isa/op_row.hpp"
#include "engine/isa/tile_type.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pto::ir {

PTO_ID(VarId);       // scalar variable (also masks of scalars: bool, pointers as byte addresses)
PTO_ID(ExprId);      // scalar expression
PTO_ID(TileVarId);   // a name that holds a tile
PTO_ID(TileDeclId);  // make_tile or make_tile_group: bytes on chip
PTO_ID(TensorId);    // a view of global memory
PTO_ID(StructId);    // storage of pl.struct / pl.struct_array / a tiling dataclass
PTO_ID(RegId);       // register of a vector function: vector, mask, unaligned or address register
PTO_ID(ParamId);

// ---------------------------------------------------------------- scalar expressions

enum class ExprOp : std::uint8_t {
    integer,    // integer                                    every integer, bool included
    real,       // real
    var,        // var
    field,      // structure[a].field[b]                      a, b may be invalid: single struct, scalar field
    dim,        // size of axis `integer` of tensor           dynamic dimensions only; constant ones are folded
    address,    // byte address of tensor (pl.make_ptr)
    block_idx, block_num, subblock_idx, subblock_num, spr,    // core queries; block_idx as the language defines it per target
    valid_dim,  // valid extent `integer` (0 rows, 1 columns) of tile
    // unary: a
    negate, bit_not, logical_not, cast,                       // cast: to the node's dtype
    // binary: a, b. floor_div and mod have C semantics at run time (truncation, sign of the dividend)
    add, sub, mul, div, floor_div, mod, bit_and, bit_or, bit_xor, shl, shr, min, max,
    eq, ne, lt, le, gt, ge, logical_and, logical_or,
    select,     // a ? b : c
};

struct Expr {
    ExprOp op = ExprOp::integer;
    isa::DType dtype = isa::DType::index; // type of the value; pointers are index with `pointee` meaning kept by the resolver
    ExprId a, b, c;
    std::int64_t integer = 0; // literal, axis, field number
    double real = 0;
    VarId var;
    TensorId tensor;
    StructId structure;
    TileVarId tile;
    Span at;
};

// ---------------------------------------------------------------- declarations

struct Variable {
    std::string name;
    isa::DType dtype = isa::DType::index;
    bool is_pointer = false;
    ParamId param;        // valid for scalar and pointer parameters
    Span at;
};

/// make_tile (one slot, no cursor) or make_tile_group.
struct TileDecl {
    std::string name;                             // as the user called it
    isa::TileType type;
    std::vector<std::int64_t> addresses;          // byte address of each slot inside its memory, [slots]
    std::int64_t slot_bytes = 0;                  // bytes of one slot as declared (size=) or by the type
    std::vector<std::vector<std::int32_t>> mutex; // mutex ids of each slot, [slots]; empty = none
    std::vector<std::int32_t> fwd_ids, bwd_ids;   // cross-core ids, pipeline transform only
    bool is_group = false;
    VarId cursor;                                 // groups of more than one slot; starts at slots - 1
    Span at;
    std::int32_t slots() const { return std::int32_t(addresses.size()); }
};

/// A name that holds a tile: a handle to (declaration, slot) or to a view of one, chosen at run time.
struct TileVar {
    std::string name;
    isa::TileType type;
    std::vector<TileDeclId> may_be; // every declaration it can hold
    Span at;
};

struct Dim {
    bool dynamic = false;
    std::int64_t size = 0; // when not dynamic
};

struct Tensor {
    std::string name;
    isa::DType dtype = isa::DType::fp32;
    isa::Layout layout = isa::Layout::nd;
    std::vector<Dim> dims;
    ParamId param;          // valid for kernel parameters; otherwise bound by TensorBind (make_tensor)
    bool is_parameter() const { return param.valid(); }
    Span at;
};

struct Field {
    std::string name;
    isa::DType dtype = isa::DType::index;
    std::int32_t length = 0; // 0 scalar, otherwise elements of a fixed array
};
/// `count` records of one struct type; every core has its own copy. Fields start at zero or by FieldAssign.
struct Struct {
    std::string name;        // variable
    std::string type_name;   // "PipeCtx"
    std::vector<Field> fields;
    std::int32_t count = 1;
    ParamId param;           // valid for a tiling dataclass: filled at launch
    Span at;
};
/// One record: index expression invalid for count 1.
struct StructRef {
    StructId structure;
    ExprId index;
};

enum class RegKind : std::uint8_t { vector, mask, unaligned_load, unaligned_store, address };
struct Register {
    std::string name;
    RegKind kind = RegKind::vector;
    isa::DType dtype = isa::DType::fp32;
};

// ---------------------------------------------------------------- operations

/// tile + offset inside a vector function: the memory operand of register loads and stores.
struct MemoryRef {
    TileVarId tile;
    ExprId offset;   // elements of the tile's dtype added to its address (a name assigned `tile + off`); invalid = 0
};
using ExprList = std::vector<ExprId>;
/// A list of tiles and tensors (sync_all workspaces).
struct MixedList {
    std::vector<TileVarId> tiles;
    std::vector<TensorId> tensors;
    bool operator==(const MixedList&) const = default;
};
/// A whole group where the operation applies to every slot (set_validshape).
struct GroupRef { TileDeclId decl; };

using OperandValue = std::variant<std::monostate, TileVarId, TensorId, ExprId, ExprList, RegId, StructRef, MemoryRef, GroupRef, MixedList, std::string>;
/// Keyword arguments after defaults: enum, dtype, integer, real, run-time scalar, tile or tensor (scale=), list, text.
using AttributeValue = std::variant<std::monostate, isa::EnumValue, isa::DType, std::int64_t, double, bool, ExprId, TileVarId, TensorId, ExprList, std::string>;

struct Op {
    const isa::OpRow* row = nullptr;
    std::vector<OperandValue> operands;     // aligned with row->operands; extra ones (variadic) follow
    std::vector<AttributeValue> attributes; // aligned with row->keywords
    std::vector<VarId> results;             // scalar results (getval)
    std::vector<RegId> registers;           // register results of vf operations
    isa::Pipe pipe = isa::Pipe::s;          // resolved by the row's rule
    std::vector<TileVarId> locks;           // tiles whose mutex ids this operation takes; filled by assemble()
    std::vector<Span> operand_spans;        // aligned with operands
};

// ---------------------------------------------------------------- statements

struct Stmt;
using Body = std::vector<Stmt>;

struct Assign { VarId var; ExprId value; };
struct FieldAssign { StructRef target; std::int32_t field = 0; ExprId element; ExprId value; };

struct SlotOf { TileDeclId decl; ExprId index; };          // group[index]; index already reduced for next/current/previous
struct AliasOf { TileVarId tile; };
struct SubviewOf { TileVarId base; ExprId row_begin, row_end, col_begin, col_end; }; // clamped to the shape; own valid shape
struct ViewOf { TileVarId base; };                           // reinterpret: same address, the variable's own type
struct ChoiceOf { ExprId condition; TileVarId then, otherwise; };
struct TileBind { TileVarId var; std::variant<SlotOf, AliasOf, SubviewOf, ViewOf, ChoiceOf> source; };

/// make_tensor, or a second name for a tensor whose strides may change: address in bytes; stride and shape in elements.
struct TensorBind { TensorId tensor; ExprId address; TensorId alias_of; ExprList shape, strides; };

struct Loop { VarId var; ExprId start, stop, step; Body body; };
struct Forever { Body body; };                               // while: a branch with a break at its head
struct Branch { ExprId condition; Body then, otherwise; };
struct Break {};
struct Continue {};
struct Return {};
/// A call of a @pl.vector_function, inlined: one item of pipe V.
struct VectorCall {
    std::string name;
    std::vector<TileVarId> tiles;            // tile arguments in order
    std::vector<isa::Role> roles;            // union of what the body does to each
    std::vector<VarId> captures;             // variables the body reads that are assigned outside it: snapshot at issue, since the
                                             // item runs later than the scalar unit. valid_dim and the like are hoisted into variables
    Body body;                               // register operations, scalar assignments, loops, branches
    std::vector<TileVarId> locks;            // as Op::locks
};
/// A SIMT launch: body executed once per thread.
struct SimtLaunch { std::string name; std::vector<OperandValue> arguments; ExprId x, y, z; std::vector<VarId> captures; Body body; VarId thread_x, thread_y, thread_z; std::vector<TileVarId> locks; };
/// The inlined body of a @pl.pipeline.stage function. `task`: the generated task counter when it is called with one, else invalid.
struct StageScope { std::string stage; ExprId task; Span call; Body body; };
/// An inlined helper, kept as a scope for views and emission only.
struct HelperScope { std::string helper; Span call; Body body; };

struct Stmt {
    std::variant<Assign, FieldAssign, TileBind, TensorBind, Op, Loop, Forever, Branch, Break, Continue, Return, VectorCall, SimtLaunch,
                 StageScope, HelperScope>
        what;
    Span at;
};

// ---------------------------------------------------------------- kernels

enum class ParamKind : std::uint8_t { tensor, pointer, scalar, tiling };
struct Param {
    std::string name;
    ParamKind kind = ParamKind::tensor;
    isa::DType dtype = isa::DType::fp32; // element type of tensors and pointers
    isa::Layout layout = isa::Layout::nd;
    std::vector<Dim> dims;               // tensors; STATIC dims are constants of this specialisation
    std::vector<bool> is_static;         // per axis: declared pl.STATIC or by `...`
    std::vector<Field> fields;           // tiling
    std::string class_name;              // tiling
    std::string fallback;                // default value's text, empty for none
    Span at;
};

/// The program of one core. VarIds, ExprIds ... are local to it; TensorId i < params of kind tensor follow parameter order.
struct Function {
    isa::Core core = isa::Core::cube;
    std::vector<Expr> exprs;
    std::vector<Variable> vars;
    std::vector<TileDecl> decls;
    std::vector<TileVar> tiles;
    std::vector<Tensor> tensors;
    std::vector<Struct> structs;
    std::vector<Register> regs;
    Body body;

    const Expr& operator[](ExprId id) const { return exprs[std::size_t(id.index)]; }
    const Variable& operator[](VarId id) const { return vars[std::size_t(id.index)]; }
    const TileDecl& operator[](TileDeclId id) const { return decls[std::size_t(id.index)]; }
    const TileVar& operator[](TileVarId id) const { return tiles[std::size_t(id.index)]; }
    const Tensor& operator[](TensorId id) const { return tensors[std::size_t(id.index)]; }
    const Struct& operator[](StructId id) const { return structs[std::size_t(id.index)]; }
    const Register& operator[](RegId id) const { return regs[std::size_t(id.index)]; }
    ExprId add(Expr e) { exprs.push_back(std::move(e)); return ExprId{std::int32_t(exprs.size() - 1)}; }
    /// The literal's value when the expression is one.
    std::optional<std::int64_t> constant(ExprId id) const {
        if (id.valid() && (*this)[id].op == ExprOp::integer) return (*this)[id].integer;
        return std::nullopt;
    }
};

struct Kernel {
    std::string name;
    std::vector<Param> params;
    bool auto_mutex = true;
    std::optional<Function> cube, vector;  // absent sides have no section of their kind
    bool is_mix() const { return cube && vector; }
    /// Subcores that run the vector program in one block: 2 in mix kernels, else 1 per block.
    int subblocks() const { return is_mix() ? 2 : 1; }
    Span at;
};

/// The kernel as text, for tests, notebooks and diffs.
std::string print(const Kernel& kernel);
std::string print(const Function& f);

} // namespace pto::ir

#pragma once
/// What a name or an expression of the user's text can stand for while a kernel is resolved. Private to the room.

#include "engine/ir/kernel.hpp"
#include "engine/syntax/environment.hpp"

#include <memory>
#include <string>
#include <vector>

namespace pto::resolve {

enum class Kind : std::uint8_t {
    unbound,
    error,    // reported already: whoever meets it stays silent, so that one cause is one diagnostic
    conflict, // two paths gave the name different types; reading it is the error
    // constants
    none, boolean, integer, real, text, dtype, enumeration, language, function, tiling_class, opaque,
    // values of the running kernel
    scalar, pointer, tile, group, tensor, structure, struct_array, array_field, tuple, record, tile_type, reg, memory,
};

struct Value;

/// The bulky part of a value; shared because values are copied freely.
struct More {
    std::string text;                // text, language path, opaque type, conflict's explanation, struct type of a record
    std::vector<Value> elements;     // tuple, record
    std::vector<std::string> names;  // record
    isa::TileType type;              // tile_type; group seen through reinterpret
    syntax::FunctionRef function;    // function
    syntax::TilingClass tiling;      // tiling_class
};

struct Value {
    Kind kind = Kind::unbound;
    isa::DType dtype = isa::DType::index; // constants and scalars: their type; pointer: pointee; dtype: the type itself
    bool is_list = false;                 // tuple written with brackets
    bool read_only = false;               // structure: a tiling dataclass
    std::int32_t id = -1;                 // tile, group, tensor, structure, struct_array, array_field, reg, memory: index of its declaration
    std::int32_t field = -1;              // array_field: field number; enumeration: EnumKind
    ir::ExprId expr;                      // scalar; pointer: byte address; structure, array_field: record index; memory: offset
    std::int64_t integer = 0;             // integer, boolean, enumeration's ordinal
    double real = 0;
    std::shared_ptr<const More> more;

    bool is(Kind k) const { return kind == k; }
    bool is_number() const { return kind == Kind::boolean || kind == Kind::integer || kind == Kind::real; } // known now
    bool is_scalar() const { return is_number() || kind == Kind::scalar; }
    bool is_constant() const { return kind >= Kind::none && kind <= Kind::opaque; }
    std::size_t size() const { return more ? more->elements.size() : 0; }
    const Value& operator[](std::size_t i) const { return more->elements[i]; }
};

inline Value error_value() { Value v; v.kind = Kind::error; return v; }
inline Value none_value() { Value v; v.kind = Kind::none; return v; }
inline Value integer_value(std::int64_t i, isa::DType t = isa::DType::index) {
    Value v; v.kind = Kind::integer; v.integer = i; v.dtype = t; return v;
}
inline Value boolean_value(bool b) {
    Value v; v.kind = Kind::boolean; v.integer = b; v.dtype = isa::DType::boolean; return v;
}
inline Value real_value(double d, isa::DType t = isa::DType::fp32) {
    Value v; v.kind = Kind::real; v.real = d; v.dtype = t; return v;
}
inline Value scalar_value(ir::ExprId e, isa::DType t) {
    Value v; v.kind = Kind::scalar; v.expr = e; v.dtype = t; return v;
}
Value text_value(Kind kind, std::string text);
Value tuple_value(std::vector<Value> elements, bool is_list);
inline Value id_value(Kind kind, std::int32_t id) { Value v; v.kind = kind; v.id = id; return v; }
Value tile_type_value(const isa::TileType& type);

/// The value of a constant the environment gave; names of the language that are constants are replaced by their value.
Value value_of(const syntax::Constant& c);
/// "pl.DT_FP32", "pl.MemorySpace.Vec", "pl.ND" ...: the constant a language name stands for, else a language value.
Value language_value(std::string path);
/// The way back, for compile-time expressions that Python evaluates; nothing for values of the running kernel.
std::optional<syntax::Constant> constant_of(const Value& v);

/// "a tile", "an fp32 scalar", "a tuple of 2": for messages.
std::string describe(const Value& v);
/// Same constant or same declaration, element by element.
bool same(const Value& a, const Value& b);

} // namespace pto::resolve

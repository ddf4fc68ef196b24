#pragma once
/// Private to emit: one core function being written.

#include "engine/emit/emit.hpp"
#include "engine/emit/facts.hpp"

#include <map>
#include <set>

namespace pto::emit {

std::string c_type(isa::DType t); // "float", "int64_t" ...
/// "Tile<TileType::Vec, float, 64, 64, ...>"; `dynamic`: the valid shape is the object's, not the type's.
std::string tile_type(const isa::TileType& t, bool dynamic);
std::string real_literal(double v);    // shortest text that reads back to the same float, with suffix f
std::string integer_literal(std::int64_t v, isa::DType t);
std::string pipe_name(isa::Pipe p);    // "PIPE_MTE2"
std::string safe(const std::string& name);       // an identifier part: other bytes become xHH
std::string field_name(const std::string& name); // an identifier by itself: keywords get a trailing _
std::string struct_class(const std::string& name, const std::vector<ir::Field>& fields, bool shared);
std::string quoted(std::string_view text);       // a C string literal without its quotes
std::string ascii(std::string_view text);        // for comments: other code points as <U+4E2D>, no line continuation
bool same_c_type(isa::DType a, isa::DType b);

/// Where a window of a tensor lies: element offset and strides as C++ expressions.
struct Window {
    std::string offset, row_stride, col_stride;
    int row_axis = 0, col_axis = 0;
    bool usual = true;      // the last two axes of a tensor that is neither NZ nor a pair of scales
    bool transposed = false;
};

class Writer {
  public:
    Writer(const ir::Kernel& kernel, const ir::Function& f, const EmitOptions& options, Emitted& out, bool a5);

    static std::vector<LaunchParameter> parameters(const ir::Kernel& kernel, bool ffts);
    std::string body();
    const std::set<std::string>& struct_classes() const { return m_struct_classes; }
    const std::string& functions() const { return m_functions; } // SIMT entries
    bool uses_ffts() const { return m_ffts; }

  private:
    // expressions.cpp
    std::string expr(ir::ExprId id) const;
    std::string expr_as(ir::ExprId id, isa::DType t) const; // converted to t's C type unless it has it
    std::string binary(const ir::Expr& e, const char* sign) const;
    std::string record(const ir::StructRef& r) const;
    std::string constant_plus(const std::string& e, int n) const; // "e + n", folded when e is a number
    // declarations.cpp
    void prologue();
    void declare_variables();
    void declare_structs();
    void declare_tensors();
    void declare_decls();
    void check_blocks(const ir::TileDecl& d);
    void declare_tiles();
    void declare_registers(const ir::Body& body);
    std::string stride_of(const ir::Tensor& t, std::size_t axis) const;    // row-major over the declared sizes
    std::string declared_stride(ir::TensorId t, int axis) const;           // of a view: its own; DN: column-major in the last two axes
    std::string dim_of(ir::TensorId t, std::size_t axis) const;
    // statements.cpp
    void statements(const ir::Body& body);
    void statement(const ir::Stmt& s);
    void source_comment(Span at);
    void loop(const ir::Loop& l);
    // tile_binds.cpp
    void tile_bind(const ir::TileBind& b);
    void tensor_bind(const ir::TensorBind& b);
    void locks(const std::vector<ir::TileVarId>& tiles, isa::Pipe pipe, bool take);
    std::string mutex(ir::TileVarId t, std::size_t k) const;
    std::string address(ir::TileVarId t) const;
    // operands.cpp
    std::string form(const ir::Op& op) const; // the row's template, filled
    std::string operand(const ir::OperandValue& v) const;
    std::string scalar(const ir::Op& op, ir::ExprId e) const; // as the element type of the operation's tile or register
    std::string list_item(const ir::OperandValue& v, std::size_t i) const;
    std::string attribute(const ir::Op& op, std::string_view name) const;
    const ir::AttributeValue* given(const ir::Op& op, std::string_view name) const;
    std::int64_t number(const ir::Op& op, std::string_view name, std::int64_t otherwise) const;
    // operations.cpp, scalar_memory.cpp, vector_tiles.cpp
    void operation(const ir::Op& op, Span at);
    bool special(const ir::Op& op, Span at);
    bool cross_core(const ir::Op& op);
    bool scalar_memory(const ir::Op& op);
    bool vector_tiles(const ir::Op& op, Span at);
    bool fill_index(const ir::Op& op);
    void open_row_views(const ir::Op& op);
    // transfer.cpp
    void load(const ir::Op& op, Span at);
    void store(const ir::Op& op, Span at);
    void store_fp(const ir::Op& op);
    Window window(const ir::Op& op, ir::TensorId g, ir::TileVarId t, std::size_t offsets) const;
    std::string view(const ir::Op& op, ir::TensorId g, ir::TileVarId t, std::size_t offsets, Span at); // name of a GlobalTensor set to the window
    void move(const ir::Op& op);
    std::string quantisation(const ir::Op& op, isa::DType destination) const; // ", value" or empty
    // debug.cpp
    void debug_print(const ir::Op& op, Span at);
    void print_call(const std::string& format, const std::vector<std::string>& arguments);
    bool dump(const ir::Op& op);
    std::string place_prefix(const ir::Op& op, Span at) const;
    // registers.cpp, register_memory.cpp, register_cast.cpp
    void vector_call(const ir::VectorCall& call);
    bool register_operation(const ir::Op& op);
    bool register_load(const ir::Op& op);
    bool register_store(const ir::Op& op);
    bool register_unaligned(const ir::Op& op);
    bool register_gather(const ir::Op& op);
    bool register_cast(const ir::Op& op);
    bool register_pack(const ir::Op& op);
    bool register_mask(const ir::Op& op);
    bool moves_cursor(const ir::Op& op) const;
    std::string memory(const ir::OperandValue& v, bool cursor) const;
    std::string memory_offset(const ir::Op& op, std::size_t at) const;
    isa::DType memory_type(const ir::OperandValue& v) const;
    std::string named(const ir::Op& op, std::string_view operand_name) const; // operand by its name in the row; empty when absent
    isa::DType register_type(const ir::OperandValue& v) const;
    bool is_mask(const ir::OperandValue& v) const;
    isa::DType result_type(const ir::Op& op) const;
    std::string merge_mode(const ir::Op& op) const; // ", MODE_ZEROING"
    std::string all_lanes(isa::DType t) const;
    ir::TileVarId through_aliases(ir::TileVarId t) const;
    // simt.cpp
    void simt_launch(const ir::SimtLaunch& launch);
    bool simt_operation(const ir::Op& op);

    void line(std::string_view text);
    void open(std::string_view text) { line(text), ++m_indent; }
    void close(std::string_view text = "}") { --m_indent, line(text); }
    std::string temporary(const char* stem) { return stem + std::to_string(m_temporaries++); }
    void missing(std::string_view what, Span at);
    void warn(std::string message, Span at);
    std::string var(ir::VarId v) const;
    std::string tile(ir::TileVarId t) const;    // the object
    std::string pointer(ir::TileVarId t) const; // its address
    std::string method(ir::TileVarId t) const;  // "x." or "x->"
    std::string type_of(const std::string& object) const { return "std::remove_reference_t<decltype(" + object + ")>"; }
    std::string tensor(ir::TensorId t) const;
    std::string decl(ir::TileDeclId d) const;
    std::string reg(ir::RegId r) const;
    std::string structure(ir::StructId s) const;
    std::string handle(ir::TileVarId t) const; // the variable's own name
    const Facts::Tile& fact(ir::TileVarId t) const { return m_facts.tiles[std::size_t(t.index)]; }

    const ir::Kernel& m_kernel;
    const ir::Function& m_f;
    const EmitOptions& m_options;
    Emitted& m_out;
    const bool m_a5;
    Facts m_facts;
    std::string m_text, m_functions;
    int m_indent = 1;
    std::int32_t m_temporaries = 0, m_call = 0;
    std::set<std::string> m_struct_classes;
    Span m_last_source;
    std::int32_t m_last_line = -1;
    bool m_in_vector = false, m_in_simt = false, m_ffts = false;
    std::map<std::int32_t, std::string> m_row_views;  // tiles seen as their transpose by one operation
    std::map<std::int32_t, std::int32_t> m_aliases;   // tiles renamed inside a vector function
    std::map<std::string, std::string> m_tile_types;  // one alias a type text
    std::set<std::pair<std::int32_t, std::int32_t>> m_cursors;
};

} // namespace pto::emit

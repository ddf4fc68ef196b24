#pragma once
/// Private to emit: one core function being written.

#include "engine/emit/emit.hpp"

#include <map>
#include <set>

namespace pto::emit {

std::string c_type(isa::DType t);          // "float", "int64_t" ...
std::string tile_type(const isa::TileType& t); // "Tile<TileType::Vec, float, 64, 64, ...>"
std::string real_literal(double v);        // shortest text that reads back to the same float, with suffix f
std::string pipe_name(isa::Pipe p);        // "PIPE_MTE2"

class Writer {
  public:
    Writer(const ir::Kernel& kernel, const ir::Function& f, const EmitOptions& options, Emitted& out);

    /// Parameter list of the core function, without parentheses.
    static std::vector<LaunchParameter> parameters(const ir::Kernel& kernel);
    std::string body();
    const std::set<std::string>& struct_classes() const { return m_struct_classes; }

  private:
    // expressions.cpp
    std::string expr(ir::ExprId id) const;
    std::string binary(const ir::Expr& e, const char* sign) const;
    std::string record(const ir::StructRef& r) const;
    // declarations.cpp
    void declare_variables();
    void declare_structs();
    void declare_tensors();
    void declare_tiles();
    void declare_registers(const ir::Body& body);
    std::string stride_of(const ir::Tensor& t, std::size_t axis) const;
    std::string dim_of(const ir::Tensor& t, std::size_t axis) const;
    // statements.cpp
    void statements(const ir::Body& body);
    void statement(const ir::Stmt& s);
    void tile_bind(const ir::TileBind& b);
    void tensor_bind(const ir::TensorBind& b);
    void locks(const std::vector<ir::TileVarId>& tiles, isa::Pipe pipe, bool take);
    // operations.cpp
    void operation(const ir::Op& op, Span at);
    bool special(const ir::Op& op);
    void transfer(const ir::Op& op, std::size_t tensor, std::size_t tile, bool store);
    void move(const ir::Op& op);
    void cross_core(const ir::Op& op);
    void debug_print(const ir::Op& op);
    std::string form(const ir::Op& op) const; // the row's template, filled
    std::string operand(const ir::OperandValue& v) const;
    std::string list_item(const ir::OperandValue& v, std::size_t i) const;
    std::string attribute(const ir::Op& op, std::string_view name) const;
    const ir::AttributeValue* given(const ir::Op& op, std::string_view name) const;
    std::string linear_offset(const ir::Tensor& t, const ir::Op& op, std::size_t list) const;
    // registers.cpp
    void vector_call(const ir::VectorCall& call);
    bool register_operation(const ir::Op& op);
    std::string memory(const ir::MemoryRef& m) const;
    static int width_bits(isa::DType t);

    void line(std::string text);
    void missing(const ir::Op& op, Span at);
    std::string var(ir::VarId v) const;
    std::string tile(ir::TileVarId t) const;   // pointer variable
    std::string tensor(ir::TensorId t) const;
    std::string decl(ir::TileDeclId d) const;
    std::string reg(ir::RegId r) const;
    std::string structure(ir::StructId s) const;
    static std::string safe(const std::string& name);

    const ir::Kernel& m_kernel;
    const ir::Function& m_f;
    const EmitOptions& m_options;
    Emitted& m_out;
    std::string m_text;
    int m_indent = 1;
    std::int32_t m_temporaries = 0;
    std::set<std::string> m_struct_classes;
    std::string m_last_comment;
    std::set<std::int32_t> m_locked; // declarations whose mutex ids a lock names
    bool m_in_vector = false;
};

} // namespace pto::emit

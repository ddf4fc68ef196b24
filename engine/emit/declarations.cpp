#include "engine/emit/writer.hpp"

#include "engine/ir/walk.hpp"

#include <algorithm>
#include <cstdio>

namespace pto::emit {

std::string Writer::dim_of(ir::TensorId id, std::size_t axis) const {
    const ir::Tensor& t = m_f[id];
    const ir::Dim& d = t.dims[axis];
    if (!d.dynamic) return std::to_string(d.size);
    if (t.is_parameter()) return "((int64_t)__pypto_dyn_" + safe(t.name) + "_" + std::to_string(axis) + ")";
    return tensor(id) + "_shape" + std::to_string(axis);
}

std::string Writer::stride_of(const ir::Tensor& t, std::size_t axis) const {
    const ir::TensorId id{std::int32_t(&t - m_f.tensors.data())};
    std::int64_t constant = 1;
    std::string factors;
    for (std::size_t i = axis + 1; i < t.dims.size(); ++i) {
        if (!t.dims[i].dynamic) constant *= t.dims[i].size;
        else factors += (factors.empty() ? "" : " * ") + dim_of(id, i);
    }
    if (factors.empty()) return std::to_string(constant);
    return constant == 1 ? factors : factors + " * " + std::to_string(constant);
}

std::string Writer::declared_stride(ir::TensorId id, int axis) const {
    const ir::Tensor& t = m_f[id];
    const int rank = int(t.dims.size());
    if (axis < 0) return "0";
    if (t.layout == isa::Layout::dn && rank >= 2) {
        if (axis == rank - 2) return "1";
        if (axis == rank - 1) return dim_of(id, std::size_t(rank - 2));
    }
    return t.is_parameter() ? stride_of(t, std::size_t(axis)) : tensor(id) + "_stride" + std::to_string(axis);
}

void Writer::prologue() {
    if (!m_a5 && m_f.core == isa::Core::vector) {
        line("set_mask_norm();");
        line("set_vector_mask(-1, -1);");
    }
    for (const ir::Param& p : m_kernel.params) // pointer arithmetic is in bytes on 64-bit addresses
        if (p.kind == ir::ParamKind::pointer) line("[[maybe_unused]] int64_t " + safe(p.name) + "_0_address = (int64_t)" + safe(p.name) + "_0;");
}

void Writer::declare_variables() {
    for (std::size_t i = 0; i < m_f.vars.size(); ++i) {
        const ir::Variable& v = m_f.vars[i];
        if (v.param.valid() || !m_facts.vars[i].used || m_facts.vars[i].home != Facts::Home::function) continue;
        std::string start = "0";
        for (const ir::TileDecl& d : m_f.decls)
            if (d.cursor.index == std::int32_t(i)) start = std::to_string(d.slots() - 1);
        if (v.dtype == isa::DType::boolean) start = "false";
        line(c_type(v.dtype) + " " + var({std::int32_t(i)}) + " = " + (isa::is_float(v.dtype) ? "(" + c_type(v.dtype) + ")" + start : start) + ";");
    }
}

void Writer::declare_structs() {
    for (std::size_t i = 0; i < m_f.structs.size(); ++i) {
        const ir::Struct& s = m_f.structs[i];
        const std::string type = field_name(s.type_name.empty() ? s.name : s.type_name), name = structure({std::int32_t(i)});
        if (!s.param.valid()) {
            m_struct_classes.insert(struct_class(s.type_name.empty() ? s.name : s.type_name, s.fields, m_facts.shared[i]));
            line(type + " " + name + (s.count > 1 ? "[" + std::to_string(s.count) + "]" : "") + "{};");
            continue;
        }
        const std::string source = safe(m_kernel.params[std::size_t(s.param.index)].name) + "_0_ptr", bytes = "sizeof(" + type + ")";
        line(type + " " + name + "{};");
        if (m_f.core == isa::Core::cube) {
            line("copy_data_align64((uint8_t*)&" + name + ", " + source + ", " + bytes + ");");
        } else { // through the first bytes of UB, and event 0 of MTE2 to S
            line("copy_gm_to_ubuf_align_v2((__ubuf__ uint8_t*)0, " + source + ", 0, 1, ((" + bytes + " + 31) / 32) * 32, 0, 0, false, 0, 0, 0);");
            line("set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);");
            line("wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);");
            line("copy_data_align64((uint8_t*)&" + name + ", (__ubuf__ uint8_t*)0, " + bytes + ");");
        }
    }
}

void Writer::declare_tensors() {
    for (std::size_t i = 0; i < m_f.tensors.size(); ++i) {
        const ir::Tensor& t = m_f.tensors[i];
        const ir::TensorId id{std::int32_t(i)};
        if (!m_facts.tensors[i].used && !m_facts.tensors[i].object) continue;
        const std::string n = tensor(id), type = c_type(t.dtype);
        if (!t.is_parameter()) {
            line("__gm__ " + type + "* " + n + "_ptr = nullptr;");
            for (std::size_t a = 0; a < t.dims.size(); ++a) line("[[maybe_unused]] int64_t " + n + "_stride" + std::to_string(a) + " = 0;");
            for (std::size_t a = 0; a < t.dims.size(); ++a)
                if (t.dims[a].dynamic) line("[[maybe_unused]] int64_t " + n + "_shape" + std::to_string(a) + " = 0;");
        }
        if (t.layout == isa::Layout::nz) continue; // windows of an NZ tensor are objects of their own
        const int rank = int(t.dims.size());
        std::string row = rank > 1 ? declared_stride(id, rank - 2) : "1", col = rank > 0 ? declared_stride(id, rank - 1) : "1";
        if (isa::bits(t.dtype) == 4 && rank > 1) row = "(" + row + ") * 2"; // the declared sizes of packed types count bytes
        line("using " + n + "Shape = pto::Shape<1, 1, 1, -1, -1>;");
        line("using " + n + "Stride = pto::Stride<-1, -1, -1, -1, -1>;");
        line("using " + n + "Type = GlobalTensor<" + type + ", " + n + "Shape, " + n + "Stride" + (t.layout == isa::Layout::dn ? ", Layout::DN" : "") + ">;");
        line("[[maybe_unused]] " + n + "Type " + n + "(" + n + "_ptr, " + n + "Shape(), " + n + "Stride(1, 1, 1, " + row + ", " + col + "));");
    }
}

/// The library asserts that a plain tile's rows (columns, where they run first) are whole blocks of 32 bytes. The language does not ask for it.
void Writer::check_blocks(const ir::TileDecl& d) {
    const bool by_columns = d.type.layout == isa::Layout::dn || d.type.shape[1] == 1;
    if (!by_columns && d.type.layout != isa::Layout::nd) return;
    const std::int64_t bytes = isa::bytes(d.type.dtype, d.type.shape[by_columns ? 0 : 1]);
    if (bytes % 32 == 0) return;
    warn(d.name + " is " + std::to_string(d.type.shape[0]) + " x " + std::to_string(d.type.shape[1]) + " " + std::string(isa::name(d.type.dtype)) + ": its " +
             (by_columns ? "columns" : "rows") + " have " + std::to_string(bytes) + " bytes, and the card's library takes whole blocks of 32; declare it larger and set its valid shape",
         d.at);
}

void Writer::declare_decls() {
    for (std::size_t i = 0; i < m_f.decls.size(); ++i) {
        const ir::TileDecl& d = m_f.decls[i];
        const Facts::Decl& fact = m_facts.decls[i];
        if (!fact.used) continue;
        check_blocks(d);
        const std::string n = decl({std::int32_t(i)}), text = tile_type(d.type, fact.dynamic);
        auto [type, fresh] = m_tile_types.try_emplace(text, n + "Type");
        if (fresh) line("using " + type->second + " = " + text + ";");
        const auto& valid = d.type.fixed_valid ? d.type.valid : d.type.shape;
        const std::string construct = fact.dynamic ? "(" + std::to_string(valid[0]) + ", " + std::to_string(valid[1]) + ")" : "";
        auto address = [](std::int64_t a) {
            char hex[32];
            std::snprintf(hex, sizeof hex, "0x%llX", static_cast<unsigned long long>(a));
            return std::string(hex);
        };
        if (d.slots() == 1) {
            line(type->second + " " + n + construct + ";");
            line("TASSIGN(" + n + ", " + address(d.addresses[0]) + ");");
        } else {
            std::string items;
            for (std::int32_t s = 0; s < d.slots(); ++s) items += (s ? ", " : "") + type->second + (construct.empty() ? "()" : construct);
            line(type->second + " " + n + "[" + std::to_string(d.slots()) + "] = {" + items + "};");
            for (std::int32_t s = 0; s < d.slots(); ++s) line("TASSIGN(" + n + "[" + std::to_string(s) + "], " + address(d.addresses[std::size_t(s)]) + ");");
        }
        if (fact.addresses && d.slots() > 1) {
            std::string list;
            for (std::int64_t a : d.addresses) list += (list.empty() ? "" : ", ") + address(a);
            line("[[maybe_unused]] const int64_t " + n + "_address[] = {" + list + "};");
        }
        if (d.mutex.empty() || d.slots() == 1) continue;
        for (std::size_t k = 0; k < d.mutex[0].size(); ++k) {
            std::string ids;
            for (const auto& slot : d.mutex) ids += (ids.empty() ? "" : ", ") + std::to_string(slot[k]);
            line("[[maybe_unused]] const int64_t " + n + "_mutex" + std::to_string(k) + "[] = {" + ids + "};");
        }
    }
}

void Writer::declare_tiles() {
    for (std::size_t i = 0; i < m_f.tiles.size(); ++i) {
        const ir::TileVarId id{std::int32_t(i)};
        const ir::TileVar& v = m_f.tiles[i];
        const Facts::Tile& fact = m_facts.tiles[i];
        if (!fact.written || (!fact.used && !fact.mutex && !fact.address) || fact.direct.valid()) continue;
        const std::string n = handle(id), text = tile_type(v.type, fact.dynamic);
        auto [type, fresh] = m_tile_types.try_emplace(text, n + "Type");
        if (fresh) line("using " + type->second + " = " + text + ";");
        if (fact.own) {
            const auto& valid = v.type.fixed_valid ? v.type.valid : v.type.shape;
            line("[[maybe_unused]] " + type->second + " " + n + "_own" +
                 (fact.dynamic ? "(" + std::to_string(valid[0]) + ", " + std::to_string(valid[1]) + ")" : std::string()) + ";");
        }
        line("[[maybe_unused]] " + type->second + "* " + n + " = nullptr;");
        if (fact.address) line("[[maybe_unused]] int64_t " + n + "_address = 0;");
        if (!fact.mutex) continue;
        for (std::size_t k = 0; k < Facts::ids_per_slot(m_f, id); ++k)
            if (mutex(id, k) == n + "_mutex" + std::to_string(k)) line("[[maybe_unused]] int64_t " + n + "_mutex" + std::to_string(k) + " = -1;");
    }
}

void Writer::declare_registers(const ir::Body& body) {
    std::set<std::int32_t> used;
    auto add = [&](ir::RegId r) {
        if (r.valid()) used.insert(r.index);
    };
    ir::for_each_statement(body, [&](const ir::Stmt& s) {
        const auto* op = std::get_if<ir::Op>(&s.what);
        if (!op) return;
        for (ir::RegId r : op->registers) add(r);
        for (const ir::OperandValue& o : op->operands)
            if (const auto* r = std::get_if<ir::RegId>(&o)) add(*r);
    });
    for (std::int32_t i : used) {
        const ir::Register& r = m_f.regs[std::size_t(i)];
        switch (r.kind) {
        case ir::RegKind::vector: line("RegTensor<" + c_type(r.dtype) + "> " + reg({i}) + ";"); break;
        case ir::RegKind::mask: line("MaskReg " + reg({i}) + ";"); break;
        case ir::RegKind::unaligned_load:
        case ir::RegKind::unaligned_store: line("UnalignReg " + reg({i}) + ";"); break;
        case ir::RegKind::address: break; // declared where it is made: the loop it follows must be open
        }
    }
}

} // namespace pto::emit

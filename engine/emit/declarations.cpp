#include "engine/emit/writer.hpp"

#include "engine/ir/walk.hpp"

#include <algorithm>

namespace pto::emit {

std::string Writer::dim_of(const ir::Tensor& t, std::size_t axis) const {
    const ir::Dim& d = t.dims[axis];
    if (!d.dynamic) return std::to_string(d.size);
    if (t.is_parameter()) return "((int64_t)__pypto_dyn_" + safe(t.name) + "_" + std::to_string(axis) + ")";
    return safe(t.name) + "_shape" + std::to_string(axis);
}

std::string Writer::stride_of(const ir::Tensor& t, std::size_t axis) const {
    std::int64_t constant = 1;
    std::string factors;
    for (std::size_t i = axis + 1; i < t.dims.size(); ++i) {
        if (!t.dims[i].dynamic) constant *= t.dims[i].size;
        else factors += (factors.empty() ? "" : " * ") + dim_of(t, i);
    }
    if (factors.empty()) return std::to_string(constant);
    return constant == 1 ? factors : factors + " * " + std::to_string(constant);
}

void Writer::declare_variables() {
    for (std::size_t i = 0; i < m_f.vars.size(); ++i) {
        const ir::Variable& v = m_f.vars[i];
        if (v.param.valid()) continue;
        std::string start = "0";
        for (const ir::TileDecl& d : m_f.decls)
            if (d.cursor.index == std::int32_t(i)) start = std::to_string(d.slots() - 1);
        line(c_type(v.dtype) + " " + var({std::int32_t(i)}) + " = " + start + ";");
    }
}

void Writer::declare_structs() {
    for (std::size_t i = 0; i < m_f.structs.size(); ++i) {
        const ir::Struct& s = m_f.structs[i];
        std::string type = safe(s.type_name.empty() ? s.name : s.type_name);
        std::string definition = "class " + type + " {\npublic:\n";
        for (const ir::Field& f : s.fields)
            definition += "    " + c_type(f.dtype) + " " + safe(f.name) + (f.length ? "[" + std::to_string(f.length) + "]" : "") + ";\n";
        if (!s.param.valid()) m_struct_classes.insert(definition + "};\n");
        std::string name = structure({std::int32_t(i)});
        if (s.param.valid()) {
            std::string pointer = safe(m_kernel.params[std::size_t(s.param.index)].name) + "_0_ptr";
            line(type + " " + name + "{};");
            std::string bytes = "sizeof(" + type + ")";
            if (m_f.core == isa::Core::cube) {
                line("copy_data_align64((uint8_t*)&" + name + ", " + pointer + ", " + bytes + ");");
            } else { // through UB, which the capacity check keeps free for it
                line("copy_gm_to_ubuf_align_v2((__ubuf__ uint8_t*)0, " + pointer + ", 0, 1, ((" + bytes + " + 31) / 32) * 32, 0, 0, false, 0, 0, 0);");
                line("set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);");
                line("wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);");
                line("copy_data_align64((uint8_t*)&" + name + ", (__ubuf__ uint8_t*)0, " + bytes + ");");
            }
        } else {
            line(type + " " + name + (s.count > 1 ? "[" + std::to_string(s.count) + "]" : "") + "{};");
        }
    }
}

void Writer::declare_tensors() {
    for (std::size_t i = 0; i < m_f.tensors.size(); ++i) {
        const ir::Tensor& t = m_f.tensors[i];
        std::string n = tensor({std::int32_t(i)}), type = c_type(t.dtype);
        if (!t.is_parameter()) {
            line("__gm__ " + type + "* " + n + "_ptr = nullptr;");
            for (std::size_t a = 0; a < t.dims.size(); ++a) line("int64_t " + n + "_stride" + std::to_string(a) + " = 0;");
            for (std::size_t a = 0; a < t.dims.size(); ++a)
                if (t.dims[a].dynamic) line("int64_t " + safe(t.name) + "_shape" + std::to_string(a) + " = 0;");
        }
        if (t.layout == isa::Layout::nz && t.dims.size() == 2 && !t.dims[0].dynamic && !t.dims[1].dynamic) {
            std::int64_t c0 = 32 / isa::bytes(t.dtype), rows = t.dims[0].size, cols = t.dims[1].size;
            std::string shape = "pto::Shape<1, " + std::to_string(cols / c0) + ", " + std::to_string(rows / 16) + ", 16, " + std::to_string(c0) + ">";
            std::string stride = "pto::Stride<" + std::to_string(rows * cols) + ", " + std::to_string(rows * c0) + ", " + std::to_string(16 * c0) + ", " +
                                 std::to_string(c0) + ", 1>";
            line("using " + n + "Type = GlobalTensor<" + type + ", " + shape + ", " + stride + ", Layout::NZ>;");
            line(n + "Type " + n + "(" + n + "_ptr, " + shape + "(), " + stride + "());");
            continue;
        }
        line("using " + n + "Shape = pto::Shape<1, 1, 1, -1, -1>;");
        line("using " + n + "Stride = pto::Stride<-1, -1, -1, -1, -1>;");
        line("using " + n + "Type = GlobalTensor<" + type + ", " + n + "Shape, " + n + "Stride" + (t.layout == isa::Layout::dn ? ", Layout::DN" : "") + ">;");
        std::size_t rank = t.dims.size();
        std::string row = rank > 1 ? (t.is_parameter() ? stride_of(t, rank - 2) : n + "_stride" + std::to_string(rank - 2)) : "1";
        std::string col = rank == 0 || t.is_parameter() ? "1" : n + "_stride" + std::to_string(rank - 1);
        line(n + "Type " + n + "(" + n + "_ptr, " + n + "Shape(), " + n + "Stride(1, 1, 1, " + row + ", " + col + "));");
    }
}

void Writer::declare_tiles() {
    for (std::size_t i = 0; i < m_f.decls.size(); ++i) {
        const ir::TileDecl& d = m_f.decls[i];
        std::string n = decl({std::int32_t(i)});
        line("using " + n + "Type = " + tile_type(d.type) + ";");
        std::string construct = d.type.fixed_valid ? "()" : "(" + std::to_string(d.type.shape[0]) + ", " + std::to_string(d.type.shape[1]) + ")";
        std::string items;
        for (std::int32_t s = 0; s < d.slots(); ++s) items += (s ? ", " : "") + n + "Type" + construct;
        line(n + "Type " + n + "[" + std::to_string(d.slots()) + "] = {" + items + "};");
        for (std::int32_t s = 0; s < d.slots(); ++s) {
            char address[32];
            std::snprintf(address, sizeof address, "0x%llX", (unsigned long long)d.addresses[std::size_t(s)]);
            line("TASSIGN(" + n + "[" + std::to_string(s) + "], " + address + ");");
        }
        std::size_t per_slot = d.mutex.empty() ? 0 : d.mutex[0].size();
        for (std::size_t k = 0; k < per_slot; ++k) {
            std::string ids;
            for (const auto& slot : d.mutex) ids += (ids.empty() ? "" : ", ") + std::to_string(slot[k]);
            line("[[maybe_unused]] const int64_t " + n + "_mutex" + std::to_string(k) + "[] = {" + ids + "};");
        }
    }
    for (std::size_t i = 0; i < m_f.tiles.size(); ++i) {
        const ir::TileVar& v = m_f.tiles[i];
        std::string n = tile({std::int32_t(i)});
        line("using " + n + "Type = " + tile_type(v.type) + ";");
        std::string construct = v.type.fixed_valid ? "" : "(" + std::to_string(v.type.shape[0]) + ", " + std::to_string(v.type.shape[1]) + ")";
        line("[[maybe_unused]] " + n + "Type " + n + "_own" + construct + ";"); // storage for views; slots are pointed at
        line("[[maybe_unused]] " + n + "Type* " + n + " = nullptr;");
        line("[[maybe_unused]] int64_t " + n + "_address = 0;");
        std::size_t ids = 0;
        for (ir::TileDeclId d : v.may_be) ids = std::max(ids, m_f[d].mutex.empty() ? 0 : m_f[d].mutex[0].size());
        for (std::size_t k = 0; k < ids; ++k) line("[[maybe_unused]] int64_t " + n + "_mutex" + std::to_string(k) + " = -1;");
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

/// Handles: which slot or view a tile variable stands for, and the locks that go with it. Source: codegen 1.7, 3.
#include "engine/emit/writer.hpp"

#include <algorithm>

namespace pto::emit {
namespace {

/// Every id the k-th lock of a tile may be, ascending.
std::set<std::int32_t> candidates(const ir::Function& f, ir::TileVarId t, std::size_t k) {
    std::set<std::int32_t> out;
    for (ir::TileDeclId d : f[t].may_be)
        for (const auto& slot : f[d].mutex)
            if (k < slot.size()) out.insert(slot[k]);
    return out;
}

} // namespace

/// The k-th mutex id of a tile: a number when it can be nothing else, so that guards fold.
std::string Writer::mutex(ir::TileVarId t, std::size_t k) const {
    const std::set<std::int32_t> ids = candidates(m_f, t, k);
    bool always = true; // a declaration without ids makes it -1 at run time
    for (ir::TileDeclId d : m_f[t].may_be)
        for (std::int32_t s = 0; s < m_f[d].slots(); ++s) always = always && std::size_t(s) < m_f[d].mutex.size() && k < m_f[d].mutex[std::size_t(s)].size();
    if (ids.size() == 1 && always) return std::to_string(*ids.begin());
    return handle(t) + "_mutex" + std::to_string(k);
}

std::string Writer::address(ir::TileVarId t) const {
    if (fact(t).direct.valid()) return std::to_string(m_f[fact(t).direct].addresses[0]);
    return handle(t) + "_address";
}

void Writer::locks(const std::vector<ir::TileVarId>& tiles, isa::Pipe pipe, bool take) {
    if (tiles.empty()) return;
    struct Taken {
        std::string id;
        std::set<std::int32_t> may_be;
        ir::TileVarId tile;
    };
    std::vector<Taken> taken;
    const std::string call = take ? "get_buf(" : "rls_buf(";
    for (ir::TileVarId t : tiles)
        for (std::size_t k = 0; k < Facts::ids_per_slot(m_f, t); ++k) {
            Taken next{mutex(t, k), candidates(m_f, t, k), t};
            std::string guard;
            bool again = false;
            for (const Taken& other : taken) {
                again = again || other.id == next.id;
                if (other.tile == t) continue; // the ids of one slot differ by rule
                const bool meet = std::any_of(other.may_be.begin(), other.may_be.end(), [&](std::int32_t i) { return next.may_be.count(i) > 0; });
                if (meet) guard += (guard.empty() ? "" : " && ") + next.id + " != " + other.id; // one token is never taken twice
            }
            if (again) continue;
            bool maybe_none = next.id.back() < '0' || next.id.find("_mutex") != std::string::npos;
            if (maybe_none)
                for (ir::TileDeclId d : m_f[t].may_be)
                    if (m_f[d].mutex.empty()) {
                        guard += (guard.empty() ? "" : " && ") + next.id + " >= 0";
                        break;
                    }
            line((guard.empty() ? "" : "if (" + guard + ") ") + call + pipe_name(pipe) + ", " + next.id + ", 0);");
            taken.push_back(std::move(next));
        }
}

void Writer::tile_bind(const ir::TileBind& b) {
    const Facts::Tile& to = fact(b.var);
    if (to.direct.valid() || (!to.used && !to.mutex && !to.address)) return;
    const std::string n = handle(b.var);
    const std::size_t ids = to.mutex ? Facts::ids_per_slot(m_f, b.var) : 0;
    auto set_mutex = [&](std::size_t k, const std::string& value) {
        const std::string name = mutex(b.var, k);
        if (name == n + "_mutex" + std::to_string(k) && name != value) line(name + " = " + value + ";");
    };
    auto copy_ids = [&](ir::TileVarId from) {
        for (std::size_t k = 0; k < ids; ++k) set_mutex(k, k < Facts::ids_per_slot(m_f, from) ? mutex(from, k) : "-1");
    };
    std::visit(on{
                   [&](const ir::SlotOf& s) {
                       const ir::TileDecl& d = m_f[s.decl];
                       const bool one = d.slots() == 1;
                       std::string index = one ? "0" : expr(s.index);
                       if (!one && index.find_first_of(" (") != std::string::npos) { // evaluated once
                           const std::string at = temporary("slot_");
                           line("const int64_t " + at + " = " + index + ";");
                           index = at;
                       }
                       line(n + " = &" + decl(s.decl) + (one ? "" : "[" + index + "]") + ";");
                       if (to.address) line(n + "_address = " + (one ? std::to_string(d.addresses[0]) : decl(s.decl) + "_address[" + index + "]") + ";");
                       for (std::size_t k = 0; k < ids; ++k) {
                           if (d.mutex.empty()) set_mutex(k, "-1");
                           else set_mutex(k, one ? std::to_string(d.mutex[0][k]) : decl(s.decl) + "_mutex" + std::to_string(k) + "[" + index + "]");
                       }
                   },
                   [&](const ir::AliasOf& a) {
                       line(n + " = " + pointer(a.tile) + ";");
                       if (to.address) line(n + "_address = " + address(a.tile) + ";");
                       copy_ids(a.tile);
                   },
                   [&](const ir::SubviewOf& v) {
                       const isa::TileType& t = m_f[v.base].type;
                       const std::string row = v.row_begin.valid() ? expr(v.row_begin) : "0", col = v.col_begin.valid() ? expr(v.col_begin) : "0";
                       const bool dn = t.layout == isa::Layout::dn;
                       const std::string at = temporary("at_");
                       line("const int64_t " + at + " = " + address(v.base) + " + ((" + (dn ? col : row) + ") * " + std::to_string(t.shape[dn ? 0 : 1]) + " + (" + (dn ? row : col) + ")) * " +
                            std::to_string(isa::bits(t.dtype)) + " / 8;");
                       line("TASSIGN(" + n + "_own, " + at + ");");
                       if (to.address) line(n + "_address = " + at + ";");
                       auto extent = [&](const std::string& begin, ir::ExprId end, int size, const char* valid) {
                           std::string stop = std::to_string(size);
                           if (end.valid()) {
                               auto c = m_f.constant(end);
                               stop = c ? std::to_string(std::min<std::int64_t>(*c, size)) : "min((int64_t)(" + expr(end) + "), (int64_t)" + stop + ")";
                           }
                           return "max((int64_t)0, min((int64_t)" + stop + ", (int64_t)(" + method(v.base) + valid + "())) - (" + begin + "))";
                       };
                       line(n + "_own.SetValidShape(" + extent(row, v.row_end, t.shape[0], "GetValidRow") + ", " + extent(col, v.col_end, t.shape[1], "GetValidCol") + ");");
                       line(n + " = &" + n + "_own;");
                       copy_ids(v.base);
                   },
                   [&](const ir::ViewOf& v) {
                       const isa::TileType& t = m_f[b.var].type;
                       const auto& valid = t.fixed_valid ? t.valid : t.shape;
                       line("TASSIGN(" + n + "_own, " + address(v.base) + ");");
                       if (to.dynamic) line(n + "_own.SetValidShape(" + std::to_string(valid[0]) + ", " + std::to_string(valid[1]) + ");");
                       if (to.address) line(n + "_address = " + address(v.base) + ";");
                       line(n + " = &" + n + "_own;");
                       copy_ids(v.base);
                   },
                   [&](const ir::ChoiceOf& c) {
                       const std::string t = temporary("choice_");
                       line("const bool " + t + " = " + expr(c.condition) + ";");
                       line(n + " = " + t + " ? " + pointer(c.then) + " : " + pointer(c.otherwise) + ";");
                       if (to.address) line(n + "_address = " + t + " ? " + address(c.then) + " : " + address(c.otherwise) + ";");
                       for (std::size_t k = 0; k < ids; ++k) {
                           auto id = [&](ir::TileVarId from) { return k < Facts::ids_per_slot(m_f, from) ? mutex(from, k) : std::string("-1"); };
                           set_mutex(k, t + " ? " + id(c.then) + " : " + id(c.otherwise));
                       }
                   },
               },
               b.source);
}

void Writer::tensor_bind(const ir::TensorBind& b) {
    const Facts::Tensor& fact = m_facts.tensors[std::size_t(b.tensor.index)];
    if (!fact.used && !fact.object) return;
    const ir::Tensor& t = m_f[b.tensor];
    const std::string n = tensor(b.tensor);
    if (b.alias_of.valid()) line(n + "_ptr = " + tensor(b.alias_of) + "_ptr;");
    else line(n + "_ptr = (__gm__ " + c_type(t.dtype) + "*)(" + expr(b.address) + ");");
    const std::size_t rank = t.dims.size();
    for (std::size_t a = 0; a < rank; ++a)
        if (t.dims[a].dynamic) {
            if (a < b.shape.size()) line(n + "_shape" + std::to_string(a) + " = " + expr(b.shape[a]) + ";");
            else if (b.alias_of.valid() && a < m_f[b.alias_of].dims.size()) line(n + "_shape" + std::to_string(a) + " = " + dim_of(b.alias_of, a) + ";");
        }
    for (std::size_t a = 0; a < rank; ++a) {
        std::string value;
        if (a < b.strides.size()) value = expr(b.strides[a]);
        else if (b.alias_of.valid() && b.shape.empty() && a < m_f[b.alias_of].dims.size()) value = declared_stride(b.alias_of, int(a));
        else value = stride_of(t, a);
        line(n + "_stride" + std::to_string(a) + " = " + value + ";");
    }
    if (rank == 0 || t.layout == isa::Layout::nz) return;
    std::string row = rank > 1 ? declared_stride(b.tensor, int(rank) - 2) : "1", col = declared_stride(b.tensor, int(rank) - 1);
    if (isa::bits(t.dtype) == 4 && rank > 1) row = "(" + row + ") * 2";
    line(n + ".SetStride<pto::GlobalTensorDim::DIM_3, pto::GlobalTensorDim::DIM_4>(" + row + ", " + col + ");");
}

} // namespace pto::emit

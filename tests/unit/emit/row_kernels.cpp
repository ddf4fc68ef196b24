/// All rows, and what their kernels have in common.
#include "row_forms.hpp"

namespace pto::testing {

std::vector<RowKernel> RowForms::take() {
    for (const isa::OpRow& row : isa::Catalogue::builtin().rows())
        if (!row.construct) forms(row);
    return std::move(m_out);
}

void RowForms::add(const isa::OpRow& row, const std::string& form, isa::Core core, const Fill& fill) {
    Builder k(core);
    k.kernel.name = "r" + std::to_string(m_out.size()) + "_";
    for (char c : std::string(row.name) + (form.empty() ? "" : "_" + form)) k.kernel.name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    fill(k);
    (core == isa::Core::cube ? k.kernel.cube : k.kernel.vector) = k.b.f;
    m_out.push_back({k.kernel.name, std::string(row.name), program::assemble(k.kernel, ascend950())});
}

void RowForms::function(const isa::OpRow& row, const std::string& form, D type, const std::function<void(Builder&, ir::TileVarId)>& fill) {
    vector(row, form, [&](Builder& k) {
        const ir::TileVarId t = k.tile(M::vec, type, 16, 256);
        k.b.vector_call("f", {t}, {isa::Role::read_write}, [&] { fill(k, t); });
    });
}

D RowForms::pick(std::uint32_t set) {
    for (D t : {D::fp32, D::fp16, D::int32, D::uint32, D::int16, D::uint16, D::int8, D::uint8, D::int64, D::fp8e4m3, D::fp8e8m0, D::bf16})
        if (set >> unsigned(t) & 1) return t;
    return D::fp32;
}
M RowForms::memory_of(std::uint32_t set) {
    for (M m : {M::vec, M::mat, M::left, M::right, M::acc, M::bias, M::scaling, M::scale_left, M::scale_right})
        if (set >> unsigned(m) & 1) return m;
    return M::vec;
}

void RowForms::forms(const isa::OpRow& row) {
    if (row.family == "registers") return registers(row);
    if (row.family == "cube") return products(row);
    if (row.family == "movement") return movement(row);
    if (row.family == "sync") return sync(row);
    if (row.family == "debug") return debug(row);
    if (row.family == "scalar") return scalars(row);
    if (row.family == "vector") return tiles(row);
}

const machine::Chip& ascend950() { return *machine::find_chip("ascend950"); }

std::vector<RowKernel> row_kernels() { return RowForms().take(); }

} // namespace pto::testing

/// Synchronisation, the scalar unit, debugging.
#include "row_forms.hpp"

namespace pto::testing {

void RowForms::sync(const isa::OpRow& row) {
    auto pipe = [](isa::Pipe p) -> ir::AttributeValue { return isa::enum_value(p); };
    if (row.semantics == S::flag_set || row.semantics == S::flag_wait) {
        for (int id : {3, 9}) vector(row, "id" + std::to_string(id), [&](Builder& k) { k.b.op(row.name, {}, {{"set_pipe", pipe(isa::Pipe::mte2)}, {"wait_pipe", pipe(isa::Pipe::v)}, {"event_id", std::int64_t(id)}}); });
        vector(row, "runtime", [&](Builder& k) { k.b.op(row.name, {}, {{"set_pipe", pipe(isa::Pipe::v)}, {"wait_pipe", pipe(isa::Pipe::mte3)}, {"event_id", k.scalar(D::index)}}); });
        return;
    }
    if (row.semantics == S::cross_set || row.semantics == S::cross_wait) {
        for (int m = 0; m < 4; ++m)
            for (isa::Core core : {isa::Core::cube, isa::Core::vector})
                add(row, std::string(isa::name(isa::CrossCoreSyncMode(m))) + (core == isa::Core::cube ? "_cube" : "_vector"), core, [&](Builder& k) {
                    k.b.op(row.name, {}, {{"pipe", pipe(core == isa::Core::cube ? isa::Pipe::fix : isa::Pipe::mte3)}, {"event_id", std::int64_t(2)}, {"sync_mode", isa::enum_value(isa::CrossCoreSyncMode(m))}});
                });
        cube(row, "runtime", [&](Builder& k) { k.b.op(row.name, {}, {{"pipe", pipe(isa::Pipe::fix)}, {"event_id", k.scalar(D::index)}}); });
        return;
    }
    if (row.semantics == S::sync_all) {
        for (int t = 0; t < 3; ++t) vector(row, std::string(isa::name(isa::SyncCoreType(t))), [&](Builder& k) { k.b.op(row.name, {}, {{"core_type", isa::enum_value(isa::SyncCoreType(t))}}); });
        vector(row, "soft", [&](Builder& k) {
            ir::MixedList list;
            list.tensors = {k.tensor({64}, D::int32)};
            list.tiles = {k.tile(M::vec, D::int32)};
            k.b.op(row.name, {list}, {{"core_type", isa::enum_value(isa::SyncCoreType::aiv_only)}, {"mode", isa::enum_value(isa::SyncAllMode::soft)}});
        });
        return;
    }
    if (row.semantics == S::mutex_lock || row.semantics == S::mutex_unlock)
        return vector(row, "", [&](Builder& k) { k.b.op(row.name, {}, {{"pipe", pipe(isa::Pipe::v)}, {"mutex_id", std::int64_t(5)}}); });
    const bool only_cube = row.pipe == isa::PipeRule::m || row.pipe == isa::PipeRule::mte1 || row.pipe == isa::PipeRule::fix;
    add(row, "", only_cube ? isa::Core::cube : isa::Core::vector, [&](Builder& k) { k.b.op(row.name, {}); });
}

void RowForms::scalars(const isa::OpRow& row) {
    if (row.semantics == S::getval || row.semantics == S::setval) {
        for (bool of_tensor : {false, true})
            for (D t : {D::fp32, D::fp16, D::int32})
                vector(row, std::string(of_tensor ? "tensor_" : "tile_") + std::string(isa::name(t)), [&](Builder& k) {
                    ir::OperandValue container = of_tensor ? ir::OperandValue(k.tensor({64, 64}, t)) : ir::OperandValue(k.tile(M::vec, t));
                    const auto at = k.scalar(D::index);
                    if (row.semantics == S::getval) {
                        const auto v = k.b.var("v", t);
                        k.b.op(row.name, {container, at}).results = {v};
                    } else {
                        k.b.op(row.name, {container, at, k.b.num(3)});
                    }
                });
        return;
    }
    if (row.semantics == S::set_validshape) {
        vector(row, "tile", [&](Builder& k) {
            isa::TileType t = tile_type(16, 64, M::vec);
            t.fixed_valid = true;
            k.b.op(row.name, {k.tile(t), ir::ExprList{k.b.num(8), k.scalar(D::index)}});
        });
        vector(row, "group", [&](Builder& k) {
            const auto d = k.b.group("g", tile_type(16, 64, M::vec), {0, 4096});
            k.b.next(d);
            k.b.op(row.name, {ir::GroupRef{d}, ir::ExprList{k.b.num(8), k.b.num(64)}});
        });
        return;
    }
    if (row.semantics == S::set_stride)
        return vector(row, "", [&](Builder& k) { k.b.op(row.name, {k.tensor({64, 64}), ir::ExprList{k.b.num(128), k.b.num(1)}}); });
    if (row.semantics == S::cache) {
        for (int d = 0; d < 5; ++d)
            vector(row, std::string(isa::name(isa::DcciDst(d))), [&](Builder& k) {
                k.b.op(row.name, {k.tensor({64, 64}), k.b.num(8)}, {{"cache_line", isa::enum_value(isa::CacheLine(d % 2))}, {"dst", isa::enum_value(isa::DcciDst(d))}});
            });
        vector(row, "whole", [&](Builder& k) { k.b.op(row.name, {k.tensor({64, 64})}, {{"cache_line", isa::enum_value(isa::CacheLine::entire_data_cache)}}); });
        vector(row, "tile", [&](Builder& k) { k.b.op(row.name, {k.tile(M::vec), k.b.num(8)}, {{"cache_line", isa::enum_value(isa::CacheLine::single_cache_line)}}); });
        return;
    }
    if (row.semantics == S::layout_transform) {
        for (bool on : {true, false}) cube(row, on ? "on" : "off", [&](Builder& k) { k.b.op(row.name, {}, {{"enabled", on}}); });
        return;
    }
    vector(row, "", [&](Builder& k) {
        std::vector<ir::OperandValue> values;
        for (std::size_t i = 0; i < row.operands.size(); ++i) values.push_back(k.scalar(D::uint64));
        k.b.op(row.name, std::move(values));
    });
}

void RowForms::debug(const isa::OpRow& row) {
    if (row.semantics == S::print)
        return vector(row, "", [&](Builder& k) {
            ir::ExprList many;
            std::string format = "100%% \"\xE4\xB8\xAD\"\n";
            for (int i = 0; i < 11; ++i) many.push_back(i % 2 ? k.scalar(D::fp32) : k.scalar(D::int32)), format += i % 2 ? " %f" : " %d";
            std::vector<ir::OperandValue> values{format};
            for (ir::ExprId e : many) values.push_back(e);
            k.b.op(row.name, values, {{"loc", true}});
        });
    if (row.semantics == S::assertion)
        return vector(row, "", [&](Builder& k) {
            const auto s = k.scalar(D::int32);
            k.b.op(row.name, {k.b.binary(ir::ExprOp::lt, s, k.b.num(4)), std::string("s is %d\n"), s});
        });
    if (row.semantics == S::trap) return vector(row, "", [&](Builder& k) { k.b.op(row.name, {}); });
    vector(row, "tensor", [&](Builder& k) { k.b.op(row.name, {k.tensor({-1, 4, 64})}, {{"flag", std::string("x 100%")}}); });
    vector(row, "tensor_window", [&](Builder& k) { k.b.op(row.name, {k.tensor({64, 64}), k.zeros(2), ir::ExprList{k.b.num(2), k.b.num(8)}}); });
    vector(row, "tile", [&](Builder& k) { k.b.op(row.name, {k.tile(M::vec)}); });
    vector(row, "tile_window", [&](Builder& k) { k.b.op(row.name, {k.tile(M::vec, D::int32), k.zeros(2), ir::ExprList{k.b.num(2), k.b.num(8)}}); });
    cube(row, "acc", [&](Builder& k) { k.b.op(row.name, {k.tile(M::acc)}, {{"workspace", k.tensor({64, 64})}}); });
}

} // namespace pto::testing

/// Operations on registers.
#include "row_forms.hpp"

namespace pto::testing {

void RowForms::registers(const isa::OpRow& row) {
    if (row.semantics == S::reg_load) return register_loads(row);
    if (row.semantics == S::reg_store) return register_stores(row);
    if (row.name == "vf.astype") return casts(row);
    if (row.semantics == S::reg_pack) {
        for (auto [from, to] : {std::pair{D::int32, D::int16}, {D::uint16, D::uint8}, {D::int64, D::int32}})
            for (auto part : {isa::PackPart::lower, isa::PackPart::upper}) {
                const bool pack = row.lane == isa::LaneFn::pack;
                const D a = pack ? from : to, z = pack ? to : from;
                function(row, std::string(isa::name(a)) + "_" + std::string(isa::name(part)), a, [&](Builder& k, ir::TileVarId) {
                    k.b.op(row.name, {k.reg(a)}, {{"dtype", z}, {"part", isa::enum_value(part)}}).registers = {k.reg(z)};
                });
            }
        function(row, "mask", D::fp32, [&](Builder& k, ir::TileVarId) { k.b.op(row.name, {k.reg(D::fp16, ir::RegKind::mask)}).registers = {k.reg(D::fp16, ir::RegKind::mask)}; });
        return;
    }
    for (bool with_mask_form : {false, true})
        for (bool with_scalar : {false, true}) {
            bool can_mask = false, can_scalar = false, memory_or_reg = false;
            for (const isa::Operand& o : row.operands) {
                can_mask = can_mask || o.kind == K::reg_or_mask;
                can_scalar = can_scalar || o.kind == K::reg_or_scalar;
                memory_or_reg = memory_or_reg || o.kind == K::memory_or_reg;
            }
            if ((with_mask_form && !can_mask) || (with_scalar && !can_scalar && !memory_or_reg)) continue;
            D type = D::fp32;
            for (const isa::Operand& o : row.operands)
                if (o.kind == K::reg) {
                    type = pick(o.dtypes);
                    break;
                }
            if (row.lane == isa::LaneFn::shl || row.lane == isa::LaneFn::shr) type = D::int32;
            if (row.name == "vf.mask_gen_with_reg_tensor") type = D::uint32;
            const std::string form = std::string(with_mask_form ? "mask" : "") + (with_scalar ? "second" : "");
            function(row, form, type, [&](Builder& k, ir::TileVarId t) {
                std::vector<ir::OperandValue> values;
                for (const isa::Operand& o : row.operands) {
                    switch (o.kind) {
                    case K::reg: values.push_back(k.reg(o.name == "index" ? D::uint32 : o.dtypes >> unsigned(type) & 1 ? type : pick(o.dtypes))); break;
                    case K::mask: values.push_back(k.reg(type, ir::RegKind::mask)); break;
                    case K::reg_or_scalar: values.push_back(with_scalar ? ir::OperandValue(k.scalar(D::index)) : ir::OperandValue(k.reg(type))); break;
                    case K::reg_or_mask: values.push_back(k.reg(type, with_mask_form ? ir::RegKind::mask : ir::RegKind::vector)); break;
                    case K::memory: values.push_back(ir::MemoryRef{t, {}}); break;
                    case K::memory_or_reg: values.push_back(with_scalar ? ir::OperandValue(k.reg(type)) : ir::OperandValue(ir::MemoryRef{t, {}})); break;
                    case K::unaligned: values.push_back(k.reg(type, ir::RegKind::unaligned_store)); break;
                    default: values.push_back(k.scalar(D::index));
                    }
                }
                Keywords words;
                D result = type;
                if (row.name == "vf.bit_cast") words.push_back({"dtype", result = D::int32});
                if (row.result_type == isa::ResultType::fp32) result = D::fp32;
                if (row.name == "vf.muls_cast") result = D::fp16;
                if (row.result_type == isa::ResultType::uint16) result = D::uint16;
                if (row.semantics == S::reg_arange) words.push_back({"dtype", result = D::uint32});
                const std::string_view r = row.result;
                std::vector<ir::RegId> results;
                if (r == "reg") results = {k.reg(result)};
                if (r == "mask") results = {k.reg(type, ir::RegKind::mask)};
                if (r == "reg|mask") results = {k.reg(result, with_mask_form ? ir::RegKind::mask : ir::RegKind::vector)};
                if (r == "reg,reg") results = {k.reg(result), k.reg(result)};
                if (r == "mask,reg") results = {k.reg(type, ir::RegKind::mask), k.reg(result)};
                if (r == "reg,reg|mask,mask") results = {k.reg(result, with_mask_form ? ir::RegKind::mask : ir::RegKind::vector), k.reg(result, with_mask_form ? ir::RegKind::mask : ir::RegKind::vector)};
                if (r == "unaligned") results = {k.reg(type, ir::RegKind::unaligned_load)};
                if (r == "address") results = {k.reg(type, ir::RegKind::address)};
                k.b.op(row.name, std::move(values), words).registers = results;
            });
        }
    // Optional trailing operands left out: streams without a stride, masks by default.
    if (!row.operands.empty() && row.operands.back().optional)
        function(row, "short", D::fp32, [&](Builder& k, ir::TileVarId t) {
            std::vector<ir::OperandValue> values;
            for (const isa::Operand& o : row.operands) {
                if (o.optional) break;
                if (o.kind == K::memory || o.kind == K::memory_or_reg) values.push_back(ir::MemoryRef{t, {}});
                else if (o.kind == K::unaligned) values.push_back(k.reg(D::fp32, ir::RegKind::unaligned_store));
                else if (o.kind == K::mask) values.push_back(k.reg(D::int32, ir::RegKind::mask));
                else if (o.kind == K::scalar || o.kind == K::reg_or_scalar) values.push_back(k.scalar(D::index));
                else values.push_back(k.reg(o.name == "index" ? D::uint32 : o.dtypes >> unsigned(D::fp32) & 1 ? D::fp32 : pick(o.dtypes)));
            }
            std::vector<ir::RegId> results;
            if (row.result.rfind("reg", 0) == 0) results = {k.reg(D::fp32)};
            if (row.result == "mask,reg") results = {k.reg(D::int32, ir::RegKind::mask), k.reg(D::int32)};
            if (row.result == "address") results = {k.reg(D::fp32, ir::RegKind::address)};
            Keywords words;
            if (row.semantics == S::reg_full) words.push_back({"dtype", D::fp32});
            k.b.op(row.name, std::move(values), words).registers = results;
        });
}

void RowForms::register_loads(const isa::OpRow& row) {
    if (row.name == "vf.load_align.blocks")
        return function(row, "", D::fp32, [&](Builder& k, ir::TileVarId t) {
            k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32, ir::RegKind::mask)}, {{"block_stride", std::int64_t(8)}, {"repeat_stride", std::int64_t(1)}}).registers = {k.reg(D::fp32)};
        });
    for (int d = 0; d <= int(isa::LoadDist::dintlv_b32); ++d) {
        const auto dist = isa::LoadDist(d);
        const std::string name(isa::name(dist));
        const bool pair = name.rfind("DINTLV", 0) == 0;
        const D type = name.find("B8") != std::string::npos ? D::uint8 : name.find("B32") != std::string::npos || name == "E2B" ? D::fp32 : D::fp16;
        function(row, name, type, [&](Builder& k, ir::TileVarId t) {
            ir::Op& op = k.b.op(row.name, {ir::MemoryRef{t, k.b.num(8)}, k.scalar(D::index)}, {{"dist", isa::enum_value(dist)}});
            op.registers = {k.reg(type)};
            if (pair) op.registers.push_back(k.reg(type));
        });
    }
    function(row, "row_and_column", D::fp32, [&](Builder& k, ir::TileVarId t) {
        k.b.op(row.name, {ir::MemoryRef{t, {}}, ir::ExprList{k.scalar(D::index), k.b.num(64)}}).registers = {k.reg(D::fp32)};
    });
    function(row, "other_type", D::fp16, [&](Builder& k, ir::TileVarId t) { k.b.op(row.name, {ir::MemoryRef{t, {}}, k.b.num(4)}, {{"dtype", D::uint32}}).registers = {k.reg(D::uint32)}; });
    function(row, "post_update", D::fp32, [&](Builder& k, ir::TileVarId t) { k.b.op(row.name, {ir::MemoryRef{t, {}}, k.b.num(64)}, {{"post_update", true}}).registers = {k.reg(D::fp32)}; });
    function(row, "mask", D::uint8, [&](Builder& k, ir::TileVarId t) { k.b.op(row.name, {ir::MemoryRef{t, {}}, k.b.num(0)}).registers = {k.reg(D::fp32, ir::RegKind::mask)}; });
    function(row, "address_register", D::fp32, [&](Builder& k, ir::TileVarId t) {
        const auto a = k.reg(D::fp32, ir::RegKind::address);
        const auto j = k.b.var("j");
        k.b.loop(j, k.b.num(4), [&] {
            k.b.op("vf.create_addr_reg", {k.b.get(j), k.b.num(64)}).registers = {a};
            k.b.op(row.name, {ir::MemoryRef{t, {}}, a}).registers = {k.reg(D::fp32)};
            k.b.op("vf.store_align", {ir::MemoryRef{t, {}}, k.reg(D::fp32), k.reg(D::fp32, ir::RegKind::mask), a});
        });
    });
}

void RowForms::register_stores(const isa::OpRow& row) {
    if (row.name == "vf.store_align.mask") {
        for (bool post : {false, true})
            function(row, post ? "post" : "", D::uint8, [&](Builder& k, ir::TileVarId t) {
                k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32, ir::RegKind::mask), k.b.num(32)}, {{"post_update", post}});
            });
        return;
    }
    if (row.name == "vf.store_align.pair") {
        for (auto dist : {isa::StoreDist::intlv, isa::StoreDist::intlv_b32})
            function(row, std::string(isa::name(dist)), D::fp32, [&](Builder& k, ir::TileVarId t) {
                k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32), k.reg(D::fp32), k.reg(D::fp32, ir::RegKind::mask)}, {{"dist", isa::enum_value(dist)}});
            });
        return;
    }
    for (auto dist : {isa::StoreDist::norm, isa::StoreDist::norm_b16, isa::StoreDist::first_element, isa::StoreDist::pack, isa::StoreDist::pack4}) {
        const bool packs = dist == isa::StoreDist::pack || dist == isa::StoreDist::pack4;
        const D type = dist == isa::StoreDist::norm_b16 ? D::fp16 : packs ? D::int32 : D::fp32;
        function(row, std::string(isa::name(dist)), packs ? (dist == isa::StoreDist::pack ? D::int16 : D::int8) : type, [&](Builder& k, ir::TileVarId t) {
            k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(type), k.reg(type, ir::RegKind::mask), k.b.num(64)}, {{"dist", isa::enum_value(dist)}});
        });
    }
    function(row, "plain", D::fp32, [&](Builder& k, ir::TileVarId t) { k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32)}); });
    function(row, "post", D::fp32, [&](Builder& k, ir::TileVarId t) {
        k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32), k.reg(D::fp32, ir::RegKind::mask), k.b.num(64)}, {{"post_update", true}});
    });
    function(row, "blocks", D::fp32, [&](Builder& k, ir::TileVarId t) {
        k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32), k.reg(D::fp32, ir::RegKind::mask)}, {{"block_stride", std::int64_t(8)}});
    });
}

void RowForms::casts(const isa::OpRow& row) {
    const std::pair<D, D> pairs[] = {
        {D::fp16, D::fp32},   {D::bf16, D::fp32},   {D::fp32, D::fp16},     {D::fp32, D::bf16},    {D::fp16, D::bf16},    {D::bf16, D::fp16},    {D::fp16, D::int8},
        {D::fp16, D::uint8},  {D::fp16, D::int16},  {D::fp16, D::int32},    {D::bf16, D::int32},   {D::fp32, D::int32},   {D::fp32, D::int16},   {D::fp32, D::int64},
        {D::int64, D::fp32},  {D::int32, D::fp32},  {D::int16, D::fp16},    {D::int16, D::fp32},   {D::int8, D::fp16},    {D::uint8, D::fp16},   {D::int8, D::int16},
        {D::uint8, D::uint16}, {D::int8, D::int32}, {D::uint8, D::uint32},  {D::int16, D::int32},  {D::int32, D::int64},  {D::int64, D::int32},  {D::int32, D::int16},
        {D::uint16, D::uint8}, {D::int32, D::uint8}, {D::int16, D::uint8},  {D::hf8, D::fp16},     {D::hf8, D::fp32},     {D::fp16, D::hf8},     {D::fp32, D::hf8},
        {D::fp8e4m3, D::fp32}, {D::fp8e5m2, D::fp32}, {D::fp32, D::fp8e4m3}, {D::fp32, D::fp8e5m2}, {D::fp8e8m0, D::bf16}, {D::bf16, D::fp8e8m0}, {D::fp4e2m1, D::bf16},
        {D::bf16, D::fp4e2m1}, {D::fp4e1m2, D::bf16}, {D::bf16, D::fp4e1m2}, {D::int4, D::fp16},    {D::int4, D::bf16},    {D::int4, D::int16},   {D::fp16, D::int4}};
    for (auto [from, to] : pairs)
        function(row, std::string(isa::name(from)) + "_" + std::string(isa::name(to)), D::fp32, [&](Builder& k, ir::TileVarId) {
            k.b.op(row.name, {k.reg(from), k.reg(from, ir::RegKind::mask)},
                   {{"dtype", to}, {"layout", isa::enum_value(isa::CastLayout::one)}, {"round_mode", isa::enum_value(isa::VfRoundMode::rint)}, {"saturate", isa::enum_value(isa::SaturateMode::on)}})
                .registers = {k.reg(to)};
        });
}

} // namespace pto::testing

#include "tests/support/catch.hpp"
#include "register_call.hpp"

using namespace pto;
using namespace pto::testing;
using execute::Status;

TEST_CASE("astype of a whole register is that of its halves") {
    std::mt19937 generator(47);
    const std::pair<DType, DType> pairs[] = {
        {DType::fp32, DType::fp16},    {DType::fp16, DType::fp32},    {DType::fp32, DType::bf16},  {DType::bf16, DType::fp32},
        {DType::fp32, DType::int16},   {DType::int16, DType::fp32},   {DType::fp32, DType::fp8e4m3}, {DType::fp8e4m3, DType::fp32},
        {DType::int32, DType::int16},  {DType::int16, DType::int32},  {DType::uint8, DType::uint32}, {DType::uint32, DType::uint8},
        {DType::fp16, DType::int8},    {DType::uint8, DType::uint16}, {DType::fp32, DType::int32}, {DType::int32, DType::fp32}};
    for (const auto& [from, to] : pairs) {
        const int wide = std::max(isa::bytes(from), isa::bytes(to)), narrow = std::min(isa::bytes(from), isa::bytes(to));
        for (int place = 0; place < wide / narrow; ++place) {
            const int lanes = 256 / isa::bytes(to);
            Matrix x = random_matrix(generator, from, 1, 256 / isa::bytes(from)), out(to, 3, lanes);
            VectorOp op;
            op.add(x, 1, x.cols, true, false), op.add(out, 3, lanes, false, true);
            const auto result = call(op, [&](Vf& v, const Tiles& t) {
                const DType of = isa::bytes(from) == 1 ? DType::uint8 : from;
                const auto all = v.all(of), first = v.all(of, isa::MaskPattern::h), second = v.mask(of);
                v.op("vf.xor", {second}, {all, first, all});
                const auto source = v.load(t[0], from);
                int row = 0;
                for (const auto& m : {all, first, second}) {
                    const auto r = v.reg(to);
                    v.op("vf.astype", {r}, {source, m},
                         {{"dtype", to}, {"layout", isa::enum_value(isa::CastLayout(place))}});
                    v.store(t[1], r, v.all(to), v.b.num(row++ * lanes));
                }
            });
            INFO(isa::name(from) << " to " << isa::name(to) << ", place " << place << "\n" << all_messages(result));
            REQUIRE(result.status == Status::done);
            bool some = false;
            for (int c = 0; c < lanes; ++c) {
                // A half leaves zeros where its mask selects nothing: the whole is the two laid over each other.
                REQUIRE(out.get(0, c) == (out.get(1, c) | out.get(2, c)));
                some |= out.get(0, c) != 0;
            }
            CHECK(some);
        }
    }
}

TEST_CASE("interleaving and its inverse, by element size") {
    std::mt19937 generator(48);
    for (const DType type : {DType::uint8, DType::uint16, DType::uint32}) {
        const int lanes = 256 / isa::bytes(type);
        Matrix x(type, 2, lanes), out(type, 4, lanes);
        for (std::uint8_t& b : x.bytes) b = std::uint8_t(generator());
        VectorOp op;
        op.add(x, 2, lanes, true, false), op.add(out, 4, lanes, false, true);
        const auto result = call(op, [&](Vf& v, const Tiles& t) {
            const auto m = v.all(type), a = v.load(t[0], type), b = v.load(t[0], type, v.b.num(lanes));
            const auto low = v.reg(type), high = v.reg(type);
            v.op("vf.interleave", {low, high}, {a, b});
            v.store(t[1], low, m), v.store(t[1], high, m, v.b.num(lanes));
            v.op("vf.de_interleave", {low, high}, {low, high}); // in place
            v.store(t[1], low, m, v.b.num(2 * lanes)), v.store(t[1], high, m, v.b.num(3 * lanes));
        });
        INFO(isa::name(type) << "\n" << all_messages(result));
        REQUIRE(result.status == Status::done);
        for (int c = 0; c < 2 * lanes; ++c) {
            REQUIRE(out.get(c / lanes, c % lanes) == x.get(c % 2, c / 2));
            REQUIRE(out.get(2 + c / lanes, c % lanes) == x.get(c / lanes, c % lanes));
        }
    }
}

TEST_CASE("blocks stored apart are told as what they cover") {
    // Four stores of eight blocks of 32 bytes, 160 bytes apart: each fills the room beside the one before. A later read of
    // the fifth block, which nobody wrote, finds no write there.
    Matrix x(DType::uint8, 1, 1280), out(DType::uint8, 1, 1280);
    VectorOp op;
    op.add(x, 1, 1280, true, false), op.add(out, 1, 1280, true, true);
    const auto result = call(op, [&](Vf& v, const Tiles& t) {
        const auto m = v.all(DType::uint8);
        const auto i = v.b.var("i");
        const auto r = v.load(t[0], DType::uint8);
        v.b.loop(i, v.b.num(4), [&] {
            v.store(t[1], r, m, v.b.num(32),
                    {{"block_stride", v.b.num(5)}, {"repeat_stride", v.b.num(1)}, {"post_update", true},
                     {"data_copy_mode", isa::enum_value(isa::DataCopyMode::data_block_copy)}});
        });
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    CHECK(result.hazards.empty());
}

TEST_CASE("one load and one store without a carry register") {
    std::mt19937 generator(49);
    Matrix x = random_matrix(generator, DType::fp32, 1, 64), out(DType::fp32, 1, 64), squeezed(DType::uint32, 1, 64);
    VectorOp op;
    op.add(x, 1, 64, true, false), op.add(out, 1, 64, false, true), op.add(squeezed, 1, 64, false, true);
    const auto result = call(op, [&](Vf& v, const Tiles& t) {
        const auto r = v.reg(DType::fp32), s = v.reg(DType::uint32);
        v.op("vf.load", {r}, {ir::MemoryRef{t[0], {}}});
        v.op("vf.store", {}, {ir::MemoryRef{t[1], {}}, r});
        v.op("vf.squeeze", {s}, {r, v.all(DType::fp32, isa::MaskPattern::m4)}, {{"dtype", DType::uint32}}); // the same bits
        v.store(t[2], s, v.all(DType::uint32));
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    for (int c = 0; c < 64; ++c) {
        REQUIRE(out.get(0, c) == x.get(0, c));
        REQUIRE(squeezed.get(0, c) == (c < 16 ? x.get(0, 4 * c) : 0));
    }
}

TEST_CASE("a squeeze into a type of another width is refused") {
    Matrix x(DType::fp32, 1, 64, 0);
    VectorOp op;
    op.add(x, 1, 64, true, true);
    const auto result = call(op, [&](Vf& v, const Tiles& t) {
        v.op("vf.squeeze", {v.reg(DType::uint16)}, {v.load(t[0], DType::fp32), v.all()}, {{"dtype", DType::uint16}});
    });
    CHECK(result.status == Status::refused);
    CHECK(result.message.find("is not as wide as the source's") != std::string::npos);
}

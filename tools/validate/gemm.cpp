#include "tools/validate/programs.hpp"

#include "tests/support/record_builder.hpp"

#include <algorithm>

namespace pto::validate {
namespace {

using isa::Pipe;
using support::RecordBuilder;

constexpr int scalar_work = 2; // scalar instructions before an operation: counters and addresses

std::int64_t part(std::int64_t total, std::int64_t base, int places, int at, std::int64_t& first) {
    // Whole base blocks are dealt out; the last places get what is left.
    std::int64_t blocks = (total + base - 1) / base, each = (blocks + places - 1) / places;
    first = std::min(blocks, each * at);
    return std::min(blocks, first + each) - first;
}

} // namespace

Program gemm(const Gemm& g, const machine::Chip& chip) {
    RecordBuilder b("gemm");
    int bits = isa::bits(g.dtype);
    auto bytes = [&](std::int64_t elements) { return elements * bits / 8; };
    const std::int64_t a_at = 0, b_at = a_at + (bytes(g.m * g.k) + 511) / 512 * 512, c_at = b_at + (bytes(g.k * g.n) + 511) / 512 * 512,
                       scale_at = c_at + (g.m * g.n * g.out_bytes + 511) / 512 * 512;
    const std::int64_t acc_bytes = std::int64_t(g.base_m) * g.base_n * 4;
    const int acc_slots = int(std::clamp<std::int64_t>(chip.of(isa::MemorySpace::acc).bytes / acc_bytes, 1, 2));
    const int l1_slots = g.l1_double_buffer ? 2 : 1;
    const std::int64_t panel = std::int64_t(g.base_k) * g.step_k;
    std::string cube = "cube." + std::string(isa::name(g.dtype));

    for (int core = 0; core < g.cores; ++core) {
        std::int64_t first_m = 0, first_n = 0;
        std::int64_t tiles_m = part(g.m, g.base_m, g.grid_m, core % g.grid_m, first_m), tiles_n = part(g.n, g.base_n, g.grid_n, core / g.grid_m, first_n);
        b.core(isa::Core::cube, core);
        b.record.cores.back().rows.reserve(std::size_t(tiles_m * tiles_n * (g.k / g.base_k + 1) * 10 + 64));
        for (int s = 0; s < l1_slots; ++s) b.set(Pipe::mte1, Pipe::mte2, s);
        for (int s = 0; s < 2; ++s) b.set(Pipe::m, Pipe::mte1, s);
        if (!g.unit_flag)
            for (int s = 0; s < acc_slots; ++s) b.set(Pipe::fix, Pipe::m, s);
        std::int64_t loads = 0, steps = 0, tile = 0;
        for (std::int64_t in = 0; in < tiles_n; ++in)
            for (std::int64_t im = 0; im < tiles_m; ++im, ++tile) {
                std::int64_t row = (first_m + im) * g.base_m, column = (first_n + in) * g.base_n;
                std::int64_t height = std::min<std::int64_t>(g.base_m, g.m - row), width = std::min<std::int64_t>(g.base_n, g.n - column);
                int acc = int(tile % acc_slots);
                std::uint16_t acc_address = std::uint16_t(acc * acc_bytes / 32);
                for (std::int64_t k0 = 0; k0 < g.k; k0 += panel, ++loads) {
                    std::int64_t depth = std::min(panel, g.k - k0);
                    int l1 = int(loads % l1_slots);
                    b.wait(Pipe::mte1, Pipe::mte2, l1);
                    b.load(true, a_at + bytes(row * g.k + k0), bytes(height * depth), int(bytes(depth)), int(bytes(g.k))).scalar_before = scalar_work;
                    b.load(true, b_at + bytes(k0 * g.n + column), bytes(depth * width), int(bytes(width)), int(bytes(g.n))).scalar_before = scalar_work;
                    if (g.mx_scales) { // scales are stored in the order in which they are loaded
                        b.load(true, scale_at + (row * g.k + k0 * height) / 32, height * depth / 32).scalar_before = scalar_work;
                        b.load(true, scale_at + g.m * g.k / 32 + (column * g.k + k0 * width) / 32, width * depth / 32).scalar_before = scalar_work;
                    }
                    b.set(Pipe::mte2, Pipe::mte1, l1);
                    b.wait(Pipe::mte2, Pipe::mte1, l1);
                    for (std::int64_t k1 = 0; k1 < depth; k1 += g.base_k, ++steps) {
                        std::int64_t deep = std::min<std::int64_t>(g.base_k, depth - k1);
                        int l0 = int(steps % 2);
                        b.wait(Pipe::m, Pipe::mte1, l0);
                        b.move(Pipe::mte1, "path.mat_left", bytes(height * deep)).scalar_before = scalar_work;
                        b.move(Pipe::mte1, "path.mat_right", bytes(deep * width)).scalar_before = scalar_work;
                        if (g.mx_scales) {
                            b.move(Pipe::mte1, "path.mat_scale_left", height * deep / 32).scalar_before = scalar_work;
                            b.move(Pipe::mte1, "path.mat_scale_right", deep * width / 32).scalar_before = scalar_work;
                        }
                        b.set(Pipe::mte1, Pipe::m, l0);
                        if (k1 + g.base_k >= depth) b.set(Pipe::mte1, Pipe::mte2, l1);
                        b.wait(Pipe::mte1, Pipe::m, l0);
                        if (k0 + k1 == 0 && !g.unit_flag) b.wait(Pipe::fix, Pipe::m, acc);
                        execute::Row& mm = b.matmul(int(height), int(width), int(deep), g.dtype);
                        mm.scalar_before = scalar_work;
                        if (g.unit_flag) {
                            mm.phase = k0 + k1 + g.base_k >= g.k ? 2 : 1;
                            mm.ub[2] = acc_address;
                        }
                        b.set(Pipe::m, Pipe::mte1, l0);
                    }
                }
                if (!g.unit_flag) {
                    b.set(Pipe::m, Pipe::fix, acc);
                    b.wait(Pipe::m, Pipe::fix, acc);
                }
                execute::Row& out = b.fix_store(c_at + (row * g.n + column) * g.out_bytes, int(height), int(width), g.out_bytes, int(g.n * g.out_bytes));
                out.scalar_before = scalar_work;
                if (g.unit_flag) {
                    out.phase = 2;
                    out.ub[0] = acc_address;
                } else {
                    b.set(Pipe::fix, Pipe::m, acc);
                }
            }
    }
    return {std::move(b.record), 1};
}

} // namespace pto::validate

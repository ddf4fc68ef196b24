#include "tools/validate/gemm_core.hpp"

namespace pto::validate {

using isa::Pipe;
using support::RecordBuilder;

GemmCore::GemmCore(RecordBuilder& b, const Gemm& g, const machine::Chip& chip) : m_b(b), m_g(g) {
    auto aligned = [](std::int64_t n) { return (n + 511) / 512 * 512; };
    b_at = a_at + aligned(bytes(g.m * g.k));
    c_at = b_at + aligned(bytes(g.k * g.n));
    scale_at = c_at + aligned(g.m * g.n * g.out_bytes);
    end = scale_at + aligned((g.m + g.n) * g.k / 32);
    acc_slots = int(std::clamp<std::int64_t>(chip.of(isa::MemorySpace::acc).bytes / (std::int64_t(g.base_m) * g.base_n * 4), 1, 2));
}

void GemmCore::prime() {
    m_loads = m_steps = m_tile = 0;
    for (int s = 0; s < (m_g.l1_double_buffer ? 2 : 1); ++s) m_b.set(Pipe::mte1, Pipe::mte2, s);
    for (int s = 0; s < 2; ++s) m_b.set(Pipe::m, Pipe::mte1, s);
    if (!m_g.unit_flag)
        for (int s = 0; s < acc_slots; ++s) m_b.set(Pipe::fix, Pipe::m, s);
}

void GemmCore::multiply(std::int64_t row, std::int64_t column, std::int64_t height, std::int64_t width) {
    const Gemm& g = m_g;
    const int l1_slots = g.l1_double_buffer ? 2 : 1, acc = int(m_tile % acc_slots);
    const std::int64_t panel = std::int64_t(g.base_k) * g.step_k;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += panel, ++m_loads) {
        std::int64_t depth = std::min(panel, g.k - k0);
        int l1 = int(m_loads % l1_slots);
        m_b.wait(Pipe::mte1, Pipe::mte2, l1);
        m_b.load(true, a_at + bytes(row * g.k + k0), bytes(height * depth), int(bytes(depth)), int(bytes(g.k))).scalar_before = scalar_work;
        m_b.load(true, b_at + bytes(k0 * g.n + column), bytes(depth * width), int(bytes(width)), int(bytes(g.n))).scalar_before = scalar_work;
        if (g.mx_scales) { // scales are stored in the order in which they are loaded
            m_b.load(true, scale_at + (row * g.k + k0 * height) / 32, height * depth / 32).scalar_before = scalar_work;
            m_b.load(true, scale_at + g.m * g.k / 32 + (column * g.k + k0 * width) / 32, width * depth / 32).scalar_before = scalar_work;
        }
        m_b.set(Pipe::mte2, Pipe::mte1, l1);
        m_b.wait(Pipe::mte2, Pipe::mte1, l1);
        for (std::int64_t k1 = 0; k1 < depth; k1 += g.base_k, ++m_steps) {
            std::int64_t deep = std::min<std::int64_t>(g.base_k, depth - k1);
            int l0 = int(m_steps % 2);
            m_b.wait(Pipe::m, Pipe::mte1, l0);
            m_b.move(Pipe::mte1, "path.mat_left", bytes(height * deep)).scalar_before = scalar_work;
            m_b.move(Pipe::mte1, "path.mat_right", bytes(deep * width)).scalar_before = scalar_work;
            if (g.mx_scales) {
                m_b.move(Pipe::mte1, "path.mat_scale_left", height * deep / 32).scalar_before = scalar_work;
                m_b.move(Pipe::mte1, "path.mat_scale_right", deep * width / 32).scalar_before = scalar_work;
            }
            m_b.set(Pipe::mte1, Pipe::m, l0);
            if (k1 + g.base_k >= depth) m_b.set(Pipe::mte1, Pipe::mte2, l1);
            m_b.wait(Pipe::mte1, Pipe::m, l0);
            if (k0 + k1 == 0 && !g.unit_flag) m_b.wait(Pipe::fix, Pipe::m, acc);
            execute::Row& mm = m_b.matmul(int(height), int(width), int(deep), g.dtype);
            mm.scalar_before = scalar_work;
            if (g.unit_flag) {
                mm.phase = k0 + k1 + g.base_k >= g.k ? 2 : 1;
                mm.ub[2] = acc_address(acc);
            }
            m_b.set(Pipe::m, Pipe::mte1, l0);
        }
    }
}

execute::Record gemm(const Gemm& g, const machine::Chip& chip) {
    RecordBuilder b("gemm");
    GemmCore cube(b, g, chip);
    for (int core = 0; core < g.cores; ++core) {
        std::int64_t first_m = 0, first_n = 0;
        std::int64_t tiles_m = share_of(g.m, g.base_m, g.grid_m, core % g.grid_m, first_m), tiles_n = share_of(g.n, g.base_n, g.grid_n, core / g.grid_m, first_n);
        b.core(isa::Core::cube, core);
        b.record.cores.back().rows.reserve(std::size_t(tiles_m * tiles_n * (g.k / g.base_k + 1) * 10 + 64));
        cube.prime();
        for (std::int64_t in = 0; in < tiles_n; ++in)
            for (std::int64_t im = 0; im < tiles_m; ++im) {
                std::int64_t row = (first_m + im) * g.base_m, column = (first_n + in) * g.base_n;
                std::int64_t height = std::min<std::int64_t>(g.base_m, g.m - row), width = std::min<std::int64_t>(g.base_n, g.n - column);
                cube.tile(row, column, height, width, [&](int acc) {
                    execute::Row& out = b.fix_store(cube.c_at + (row * g.n + column) * g.out_bytes, int(height), int(width), g.out_bytes, int(g.n * g.out_bytes));
                    out.scalar_before = scalar_work;
                    if (g.unit_flag) {
                        out.phase = 2;
                        out.ub[0] = cube.acc_address(acc);
                    }
                });
            }
    }
    return std::move(b.record);
}

} // namespace pto::validate

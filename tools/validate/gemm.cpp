#include "tools/validate/gemm_core.hpp"

namespace pto::validate {

using isa::Pipe;
using support::RecordBuilder;

GemmCore::GemmCore(RecordBuilder& b, const Gemm& g, const machine::Chip& chip) : m_b(b), m_g(g) {
    auto aligned = [](std::int64_t n) { return (n + 511) / 512 * 512; };
    b_at = a_at + aligned(bytes(g.m * g.k));
    c_at = b_at + g.groups * aligned(bytes(g.k * g.n));
    scale_at = c_at + aligned(g.m * g.n * g.out_bytes);
    end = scale_at + aligned((g.m + g.n) * g.k / 32);
    acc_slots = int(std::clamp<std::int64_t>(chip.of(isa::MemorySpace::acc).bytes / (std::int64_t(g.base_m) * g.base_n * 4), 1, 2));
}

void GemmCore::prime() {
    m_loads = m_steps = m_tile = 0;
    m_kept_row = -1;
    for (int s = 0; s < (m_g.l1_double_buffer ? 2 : 1); ++s) m_b.set(Pipe::mte1, Pipe::mte2, s);
    for (int s = 0; s < 2; ++s) m_b.set(Pipe::m, Pipe::mte1, s);
    if (!m_g.unit_flag)
        for (int s = 0; s < acc_slots; ++s) m_b.set(Pipe::fix, Pipe::m, s);
}

void GemmCore::multiply(std::int64_t row, std::int64_t column, std::int64_t height, std::int64_t width) {
    const Gemm& g = m_g;
    const int l1_slots = g.l1_double_buffer ? 2 : 1, acc = int(m_tile % acc_slots);
    const std::int64_t panel = std::int64_t(g.base_k) * g.step_k;
    const std::int64_t k_end = std::min(g.k, k_begin + (g.k + g.k_parts - 1) / g.k_parts);
    const std::int64_t own_b = b_at + row * g.groups / g.m * ((bytes(g.k * g.n) + 511) / 512 * 512);
    const bool load_a = !g.a_stays || row != m_kept_row;
    m_kept_row = row;
    if (!g.preload && m_tile > 0) m_b.wait(Pipe::m, Pipe::mte2, 7);
    for (std::int64_t k0 = k_begin; k0 < k_end; k0 += panel, ++m_loads) {
        std::int64_t depth = std::min(panel, k_end - k0);
        int l1 = int(m_loads % l1_slots);
        m_b.wait(Pipe::mte1, Pipe::mte2, l1);
        if (g.image_taps > 1) // the image's own values, row of the window by row; they are spread over L1 by the move to L0
            m_b.load(true, a_at + bytes(row * g.k + k0) / g.image_taps, std::max<std::int64_t>(32, bytes(height * depth) / g.image_taps)).scalar_before = scalar_work;
        else if (load_a)
            m_b.load(true, a_at + bytes(row * g.k + k0), bytes(height * depth), int(bytes(depth)), int(bytes(g.k))).scalar_before = scalar_work;
        m_b.load(true, own_b + bytes(k0 * g.n + column), bytes(depth * width), int(bytes(width)), int(bytes(g.n))).scalar_before = scalar_work;
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
            if (k0 + k1 == k_begin && !g.unit_flag) m_b.wait(Pipe::fix, Pipe::m, acc);
            execute::Row& mm = m_b.matmul(int(height), int(width), int(deep), g.dtype);
            mm.scalar_before = scalar_work;
            if (g.unit_flag) {
                mm.phase = k0 + k1 + g.base_k >= k_end ? 2 : 1;
                mm.ub[2] = acc_address(acc);
            }
            m_b.set(Pipe::m, Pipe::mte1, l0);
        }
    }
    if (!g.preload) m_b.set(Pipe::m, Pipe::mte2, 7);
}

namespace {

struct Tile {
    std::int64_t row = 0, column = 0, height = 0, width = 0, k_begin = 0;
};

std::vector<std::vector<Tile>> grid_tiles(const Gemm& g) {
    std::vector<std::vector<Tile>> of(std::size_t(g.cores));
    for (int core = 0; core < g.cores; ++core) {
        std::int64_t first_m = 0, first_n = 0;
        std::int64_t tiles_m = share_of(g.m, g.base_m, g.grid_m, core % g.grid_m, first_m), tiles_n = share_of(g.n, g.base_n, g.grid_n, core / g.grid_m, first_n);
        for (std::int64_t in = 0; in < tiles_n; ++in)
            for (std::int64_t im = 0; im < tiles_m; ++im) {
                std::int64_t row = (first_m + im) * g.base_m, column = (first_n + in) * g.base_n;
                of[std::size_t(core)].push_back({row, column, std::min<std::int64_t>(g.base_m, g.m - row), std::min<std::int64_t>(g.base_n, g.n - column), 0});
            }
    }
    return of;
}

std::vector<std::vector<Tile>> dealt_tiles(const Gemm& g) {
    std::vector<Tile> tiles;
    const std::int64_t part = (g.k + g.k_parts - 1) / g.k_parts;
    for (std::int64_t row = 0; row < g.m; row += g.base_m)
        for (std::int64_t column = 0; column < g.n; column += g.base_n)
            for (int k = 0; k < g.k_parts; ++k)
                tiles.push_back({row, column, std::min<std::int64_t>(g.base_m, g.m - row), std::min<std::int64_t>(g.base_n, g.n - column), k * part});
    if (g.cut_tail) {
        std::size_t full = tiles.size() / std::size_t(g.cores) * std::size_t(g.cores);
        std::vector<Tile> tail(tiles.begin() + std::ptrdiff_t(full), tiles.end());
        tiles.resize(full);
        while (!tail.empty() && 2 * tail.size() <= std::size_t(g.cores)) { // the longer side is halved, 32 columns or rows at least
            std::vector<Tile> halves;
            for (Tile t : tail) {
                Tile other = t;
                if (t.width >= t.height) t.width = (t.width / 2 + 15) / 16 * 16, other.column += t.width, other.width -= t.width;
                else t.height = (t.height / 2 + 15) / 16 * 16, other.row += t.height, other.height -= t.height;
                halves.push_back(t);
                if (other.width > 0 && other.height > 0) halves.push_back(other);
            }
            if (halves.size() == tail.size()) break;
            tail = std::move(halves);
        }
        tiles.insert(tiles.end(), tail.begin(), tail.end());
    }
    std::vector<std::vector<Tile>> of(std::size_t(g.cores));
    for (std::size_t i = 0; i < tiles.size(); ++i) of[i % of.size()].push_back(tiles[i]);
    return of;
}

} // namespace

execute::Record gemm(const Gemm& g, const machine::Chip& chip) {
    RecordBuilder b("gemm");
    GemmCore cube(b, g, chip);
    const std::vector<std::vector<Tile>> tiles = g.deal || g.k_parts > 1 ? dealt_tiles(g) : grid_tiles(g);
    for (int core = 0; core < g.cores; ++core) {
        if (tiles[std::size_t(core)].empty()) continue;
        b.core(isa::Core::cube, core);
        cube.prime();
        for (const Tile& t : tiles[std::size_t(core)]) {
            cube.k_begin = t.k_begin;
            cube.tile(t.row, t.column, t.height, t.width, [&](int acc) {
                int out_bytes = g.k_parts > 1 ? 4 : g.out_bytes; // parts are added up in fp32
                execute::Row& out = b.fix_store(cube.c_at + (t.row * g.n + t.column) * out_bytes, int(t.height), int(t.width), out_bytes, int(g.n * out_bytes));
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

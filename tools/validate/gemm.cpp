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

constexpr int a_flag = 2; // A's slots in L1 have flags of their own, after those of B

void GemmCore::prime() {
    m_loads = m_a_loads = m_steps = m_tile = 0;
    m_kept_row = -1;
    for (int s = 0; s < (m_g.l1_double_buffer ? 2 : 1); ++s) {
        m_b.set(Pipe::mte1, Pipe::mte2, s);
        m_b.set(Pipe::mte1, Pipe::mte2, a_flag + s);
    }
    for (int s = 0; s < 2; ++s) m_b.set(Pipe::m, Pipe::mte1, s);
    if (!m_g.unit_flag)
        for (int s = 0; s < acc_slots; ++s) m_b.set(Pipe::fix, Pipe::m, s);
}

void GemmCore::load_b(std::int64_t at, std::int64_t k0, std::int64_t depth, std::int64_t column, std::int64_t width) {
    const Gemm& g = m_g;
    const std::int64_t all = bytes(depth * width);
    switch (g.b_order) {
    case Gemm::Order::rows: m_b.load(true, at + bytes(k0 * g.n + column), all, int(bytes(width)), int(bytes(g.n))).scalar_before = scalar_work; break;
    case Gemm::Order::columns: m_b.load(true, at + bytes(column * g.k + k0), all, int(bytes(depth)), int(bytes(g.k))).scalar_before = scalar_work; break;
    case Gemm::Order::stripes: // each as wide as 32 bytes
        m_b.load(true, at + bytes(column * g.k) + k0 * 32, all, int(depth * 32), int(g.k * 32)).scalar_before = scalar_work;
        break;
    case Gemm::Order::blocks: // 16 deep
        m_b.load(true, at + bytes(k0 * g.n + column * 16), all, int(bytes(width * 16)), int(bytes(g.n * 16))).scalar_before = scalar_work;
        break;
    }
}

void GemmCore::load_image(std::int64_t row, std::int64_t k0, std::int64_t height, std::int64_t depth) {
    const Gemm::Image& image = m_g.image;
    const std::int64_t channels = 16, taps = image.kernel * image.kernel, per_image = std::int64_t(image.height) * image.width;
    const std::int64_t first = row % per_image / image.width, last = std::min<std::int64_t>(image.height - 1, (row % per_image + height - 1) / image.width);
    const std::int64_t rows = std::min<std::int64_t>(image.height, last - first + image.kernel), line = image.width * channels;
    const std::int64_t block = k0 / (taps * channels), blocks = std::max<std::int64_t>(1, depth / (taps * channels));
    const std::int64_t all_blocks = std::max<std::int64_t>(1, m_g.k / (taps * channels)), at = (row / per_image * all_blocks + block) * per_image * channels + first * line;
    m_b.load(true, a_at + bytes(at), bytes(blocks * rows * line), int(bytes(rows * line)), int(bytes(per_image * channels))).scalar_before = scalar_work;
}

void GemmCore::multiply(std::int64_t row, std::int64_t column, std::int64_t height, std::int64_t width) {
    const Gemm& g = m_g;
    const int l1_slots = g.l1_double_buffer ? 2 : 1, acc = int(m_tile % acc_slots);
    const std::int64_t panel = std::int64_t(g.base_k) * g.step_k, a_panel = std::int64_t(g.base_k) * std::max(g.step_k, g.a_step_k);
    const std::int64_t k_end = std::min(g.k, k_begin + (g.k + g.k_parts - 1) / g.k_parts);
    const std::int64_t own_b = b_at + row * g.groups / g.m * ((bytes(g.k * g.n) + 511) / 512 * 512);
    const bool load_a = !g.a_stays || row != m_kept_row;
    m_kept_row = row;
    if (!g.preload && m_tile > 0) m_b.wait(Pipe::m, Pipe::mte2, 7);
    for (std::int64_t k0 = k_begin; k0 < k_end; k0 += panel, ++m_loads) {
        const std::int64_t depth = std::min(panel, k_end - k0), a_depth = std::min(a_panel, k_end - k0);
        const bool new_a = load_a && (k0 - k_begin) % a_panel == 0, last_of_a = load_a && (k0 - k_begin + panel) % a_panel == 0;
        const int l1 = int(m_loads % l1_slots), a_slot = a_flag + int(m_a_loads % l1_slots);
        if (new_a) {
            m_b.wait(Pipe::mte1, Pipe::mte2, a_slot);
            if (g.image.kernel > 1) load_image(row, k0, height, a_depth);
            else
                m_b.load(true, a_at + bytes(row * g.k + k0), bytes(height * a_depth), int(bytes(a_depth)), int(bytes(g.k))).scalar_before = scalar_work;
            m_b.set(Pipe::mte2, Pipe::mte1, a_slot);
        }
        m_b.wait(Pipe::mte1, Pipe::mte2, l1);
        load_b(own_b, k0, depth, column, width);
        if (g.mx_scales && (k0 - k_begin) / panel % g.scale_panels == 0) { // scales are stored in the order in which they are loaded
            const std::int64_t deep = std::min(panel * g.scale_panels, k_end - k0);
            m_b.load(true, scale_at + (row * g.k + k0 * height) / 32, height * deep / 32).scalar_before = scalar_work;
            m_b.load(true, scale_at + g.m * g.k / 32 + (column * g.k + k0 * width) / 32, width * deep / 32).scalar_before = scalar_work;
        }
        m_b.set(Pipe::mte2, Pipe::mte1, l1);
        if (new_a) m_b.wait(Pipe::mte2, Pipe::mte1, a_slot);
        m_b.wait(Pipe::mte2, Pipe::mte1, l1);
        for (std::int64_t k1 = 0; k1 < depth; k1 += g.base_k, ++m_steps) {
            std::int64_t deep = std::min<std::int64_t>(g.base_k, depth - k1);
            int l0 = int(m_steps % 2);
            m_b.wait(Pipe::m, Pipe::mte1, l0);
            // Windows of n kernel rows are moved at 512 / (n + 2) bytes a cycle instead of 256 (hardware 1.3).
            const std::int64_t left = bytes(height * deep);
            m_b.move(Pipe::mte1, "path.mat_left", g.image.kernel > 1 ? left * (g.image.kernel + 2) / 2 : left).scalar_before = scalar_work;
            m_b.move(Pipe::mte1, "path.mat_right", bytes(deep * width)).scalar_before = scalar_work;
            if (g.mx_scales) {
                m_b.move(Pipe::mte1, "path.mat_scale_left", height * deep / 32).scalar_before = scalar_work;
                m_b.move(Pipe::mte1, "path.mat_scale_right", deep * width / 32).scalar_before = scalar_work;
            }
            m_b.set(Pipe::mte1, Pipe::m, l0);
            if (k1 + g.base_k >= depth) {
                m_b.set(Pipe::mte1, Pipe::mte2, l1);
                if (last_of_a || (load_a && k0 + panel >= k_end)) {
                    m_b.set(Pipe::mte1, Pipe::mte2, a_slot);
                    ++m_a_loads;
                }
            }
            m_b.wait(Pipe::mte1, Pipe::m, l0);
            if (k0 + k1 == k_begin && !g.unit_flag) m_b.wait(Pipe::fix, Pipe::m, acc);
            execute::Row& mm = m_b.matmul(int(height), int(width), int(deep), g.rate_of.value_or(g.dtype));
            mm.scalar_before = scalar_work + g.scalar_per_step;
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
        for (std::int64_t i = 0; i < tiles_n * tiles_m; ++i) {
            const std::int64_t im = g.rows_first ? i / tiles_n : i % tiles_m, in = g.rows_first ? i % tiles_n : i / tiles_m;
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

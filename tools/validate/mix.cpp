#include "tools/validate/gemm_core.hpp"
#include "tools/validate/vector_items.hpp"

namespace pto::validate {

using isa::Pipe;
using support::RecordBuilder;

execute::Record mix_ring(const MixRing& r, const machine::Chip& chip) {
    RecordBuilder b("mix_ring");
    const Gemm& g = r.gemm;
    GemmCore cube(b, g, chip);
    const std::int64_t slot_bytes = std::int64_t(g.base_m) * g.base_n * r.in_bytes, ring_at = cube.c_at,
                       out_at = r.in_place ? ring_at : ring_at + slot_bytes * r.depth * g.cores;
    const std::int64_t scales_at = out_at + g.m * g.n * r.out_bytes;
    auto wait_for = [&](Pipe pipe, int id) { b.cross_wait(r.scalar_waits ? Pipe::s : pipe, id); };
    for (int core = 0; core < g.cores; ++core) {
        std::int64_t first_m = 0, first_n = 0;
        std::int64_t tiles_m = share_of(g.m, g.base_m, g.grid_m, core % g.grid_m, first_m), tiles_n = share_of(g.n, g.base_n, g.grid_n, core / g.grid_m, first_n);
        auto each_tile = [&](auto f) {
            std::int64_t t = 0;
            auto tile = [&](std::int64_t row, std::int64_t column) {
                f(t++, row, column, std::min<std::int64_t>(g.base_m, g.m - row), std::min<std::int64_t>(g.base_n, g.n - column));
            };
            if (g.groups > 1) { // neighbouring tiles of a row of tiles are dealt out together, group after group
                const std::int64_t rows = g.m / g.groups, wide = (g.n + g.base_n - 1) / g.base_n, runs = (wide + r.tiles_at_once - 1) / r.tiles_at_once;
                const std::int64_t each = (rows + g.base_m - 1) / g.base_m * runs;
                for (std::int64_t i = core; i < each * g.groups; i += g.cores)
                    for (std::int64_t c = i % runs * r.tiles_at_once; c < std::min(wide, (i % runs + 1) * r.tiles_at_once); ++c)
                        tile(i / each * rows + i % each / runs * g.base_m, c * g.base_n);
                return;
            }
            for (std::int64_t in = 0; in < tiles_n; ++in)
                for (std::int64_t im = 0; im < tiles_m; ++im) tile((first_m + im) * g.base_m, (first_n + in) * g.base_n);
        };
        auto slot_at = [&](std::int64_t t) { return ring_at + (core * r.depth + t % r.depth) * slot_bytes; };
        b.core(isa::Core::cube, core);
        cube.prime();
        each_tile([&](std::int64_t t, std::int64_t row, std::int64_t column, std::int64_t height, std::int64_t width) {
            int slot = int(t % r.depth);
            cube.tile(row, column, height, width, [&](int acc) {
                if (t >= r.depth && !r.in_place) wait_for(Pipe::fix, 8 + slot);
                execute::Row* out = nullptr;
                if (r.in_place && r.through_gm) {
                    out = &b.fix_store(out_at + (row * g.n + column) * r.in_bytes, int(height), int(width), r.in_bytes, int(g.n * r.in_bytes));
                } else if (r.through_gm) {
                    out = &b.fix_store(slot_at(t), int(height), int(width), r.in_bytes);
                } else {
                    out = &b.op(Pipe::fix, r.vectors == 2 ? "path.acc_vec_dual" : "path.acc_vec");
                    out->m = int(height);
                    out->n = int(width);
                    out->bytes = height * width * 4;
                }
                out->scalar_before = scalar_work;
                if (g.unit_flag) {
                    out->phase = 2;
                    out->ub[0] = cube.acc_address(acc);
                }
                b.cross_set(Pipe::fix, slot);
            });
        });
        for (int v = 0; v < r.vectors; ++v) {
            b.core(isa::Core::vector, core, v);
            for (int s = 0; s < r.vector_buffers; ++s) {
                b.set(Pipe::v, Pipe::mte2, s);
                b.set(Pipe::mte3, Pipe::v, s);
            }
            std::int64_t turn = 0;
            each_tile([&](std::int64_t t, std::int64_t row, std::int64_t column, std::int64_t height, std::int64_t width) {
                const int slot = int(t % r.depth);
                const std::int64_t own_rows = height / r.vectors, piece_rows = r.piece_rows > 0 ? r.piece_rows : (own_rows + r.pieces - 1) / r.pieces;
                // Either a share of the tile's rows in pieces, or pieces dealt out one by one.
                const std::int64_t first = r.piece_rows > 0 ? 0 : v * own_rows, last = r.piece_rows > 0 ? height : first + own_rows;
                std::vector<std::pair<std::int64_t, std::int64_t>> pieces; // first row, rows
                for (std::int64_t at = first, n = 0; at < last; at += piece_rows, ++n)
                    if (r.piece_rows == 0 || n % r.vectors == v) pieces.emplace_back(at, std::min(piece_rows, last - at));
                if (r.scales) b.load(false, scales_at + column * 4, width * 4).scalar_before = scalar_work;
                wait_for(r.through_gm ? Pipe::mte2 : Pipe::v, slot);
                // UB holds the input, the output and the work's temporaries: a tile goes through in pieces.
                for (std::size_t i = 0; i < pieces.size(); ++i, ++turn) {
                    const auto [at, rows] = pieces[i];
                    const int s = int(turn % r.vector_buffers);
                    const bool done = i + 1 == pieces.size();
                    const std::int64_t part = rows * width * r.in_bytes, to = out_at + ((row + at) * g.n + column) * r.out_bytes;
                    if (r.through_gm) {
                        b.wait(Pipe::v, Pipe::mte2, s);
                        if (r.in_place) b.load(false, to, part, int(width * r.in_bytes), int(g.n * r.in_bytes)).scalar_before = scalar_work;
                        else b.load(false, slot_at(t) + at * width * r.in_bytes, part).scalar_before = scalar_work;
                        if (r.scales) b.load(false, scales_at + g.n * 4 + (row + at) * 4, rows * 4).scalar_before = scalar_work;
                        b.set(Pipe::mte2, Pipe::v, s);
                        if (done && !r.in_place) b.cross_set(Pipe::mte2, 8 + slot); // all of the slot has been read
                        b.wait(Pipe::mte2, Pipe::v, s);
                    }
                    b.wait(Pipe::mte3, Pipe::v, s);
                    for (const Item& item : r.items) {
                        add_items(b, {item}, part, isa::DType::fp32, r.scalar_per_piece / int(r.items.size()));
                        if (r.barriers) b.barrier(Pipe::v);
                    }
                    if (r.through_gm) b.set(Pipe::v, Pipe::mte2, s);
                    else if (done && !r.in_place) b.cross_set(Pipe::v, 8 + slot);
                    b.set(Pipe::v, Pipe::mte3, s);
                    b.wait(Pipe::v, Pipe::mte3, s);
                    b.store(to, rows * width * r.out_bytes, int(width * r.out_bytes), int(g.n * r.out_bytes)).scalar_before = scalar_work;
                    b.set(Pipe::mte3, Pipe::v, s);
                }
                if (pieces.empty() && r.through_gm && !r.in_place) b.cross_set(Pipe::mte2, 8 + slot);
            });
        }
    }
    return std::move(b.record);
}

namespace {

/// Softmax of 64 rows, one tile operation after the other: scale, row maximum, exp(x - max), row sum, cast. A row of 256 fp32 is four
/// lines: three combine lane by lane, the last is reduced.
const std::vector<Item>& softmax_items() {
    static const std::vector<Item> items{{"vector.add_scalar", {}, 1},  {"vector.add", {}, 0.75},     {"vector.reduce", {}, 0.25}, {"vector.expand", {}, 1},
                                         {"vector.special", {}, 1},     {"vector.add", {}, 0.75},     {"vector.reduce", {}, 0.25}, {"vector.cast", {}, 1}};
    return items;
}
/// O = O * correction + PV.
const std::vector<Item>& update_items() {
    static const std::vector<Item> items{{"vector.expand", {}, 1}, {"vector.add", {}, 1}};
    return items;
}

} // namespace

execute::Record attention(const Attention& a, const machine::Chip& chip) {
    RecordBuilder b("attention");
    (void)chip;
    const std::int64_t tasks = a.columns / a.tile_columns, half = a.tile_rows / 2;
    const std::int64_t score_bytes = std::int64_t(a.tile_rows) * a.tile_columns * 4, p_bytes = std::int64_t(a.tile_rows) * a.tile_columns * 2,
                       o_bytes = std::int64_t(a.tile_rows) * a.head * 4, kv_bytes = std::int64_t(a.tile_columns) * a.head * 2;
    const std::int64_t k_at = 0, v_at = k_at + a.columns * a.head * 2, q_at = v_at + a.columns * a.head * 2, out_at = q_at + (std::int64_t(1) << 26),
                       work_at = out_at + (std::int64_t(1) << 26);
    const int ring = a.depth + 1;
    const std::int64_t core_work = ring * (score_bytes + p_bytes + o_bytes);
    for (int core = 0; core < a.cores; ++core) {
        auto score_at = [&](std::int64_t t) { return work_at + core * core_work + t % ring * score_bytes; };
        auto p_at = [&](std::int64_t t) { return work_at + core * core_work + ring * score_bytes + t % ring * p_bytes; };
        auto o_at = [&](std::int64_t t) { return work_at + core * core_work + ring * (score_bytes + p_bytes) + t % ring * o_bytes; };
        const std::int64_t all = tasks * a.row_tiles;

        b.core(isa::Core::cube, core);
        for (int s = 0; s < 2; ++s) {
            b.set(Pipe::mte1, Pipe::mte2, s);
            b.set(Pipe::m, Pipe::mte1, s);
        }
        for (int s = 0; s < 2; ++s) b.set(Pipe::fix, Pipe::m, s);
        std::int64_t turn = 0, piece = 0;
        // One product: loads into L1, then pieces of 128 columns so that two accumulators fit L0C: moves, matmul, result to the workspace.
        auto product = [&](std::vector<std::pair<std::int64_t, std::int64_t>> loads, int m, int n, int k, std::int64_t to, int id) {
            int s = int(turn++ % 2);
            b.wait(Pipe::mte1, Pipe::mte2, s);
            for (auto [at, bytes] : loads) b.load(true, at, bytes, a.head * 2, a.head * 2).scalar_before = scalar_work;
            b.set(Pipe::mte2, Pipe::mte1, s);
            b.wait(Pipe::mte2, Pipe::mte1, s);
            for (int column = 0; column < n; column += 128, ++piece) {
                int width = std::min(128, n - column), l0 = int(piece % 2), acc = int(piece % 2);
                b.wait(Pipe::m, Pipe::mte1, l0);
                // The left operand stays in L0A for the second piece.
                if (column == 0) b.move(Pipe::mte1, "path.mat_left", std::int64_t(m) * k * 2).scalar_before = scalar_work;
                b.move(Pipe::mte1, "path.mat_right", std::int64_t(k) * width * 2).scalar_before = scalar_work;
                if (column + 128 >= n) b.set(Pipe::mte1, Pipe::mte2, s);
                b.set(Pipe::mte1, Pipe::m, l0);
                b.wait(Pipe::mte1, Pipe::m, l0);
                b.wait(Pipe::fix, Pipe::m, acc);
                b.matmul(m, width, k).scalar_before = scalar_work;
                b.set(Pipe::m, Pipe::mte1, l0);
                b.set(Pipe::m, Pipe::fix, acc);
                b.wait(Pipe::m, Pipe::fix, acc);
                b.fix_store(to + column * 4, m, width, 4, n * 4).scalar_before = scalar_work;
                b.set(Pipe::fix, Pipe::m, acc);
            }
            b.cross_set(Pipe::fix, id);
        };
        for (std::int64_t s = 0; s < all + a.depth; ++s) {
            if (s < all) {
                std::int64_t block = s % tasks;
                std::vector<std::pair<std::int64_t, std::int64_t>> loads{{k_at + block * kv_bytes, kv_bytes}};
                if (block == 0) loads.push_back({q_at + (core * a.row_tiles + s / tasks) * std::int64_t(a.tile_rows) * a.head * 2, std::int64_t(a.tile_rows) * a.head * 2});
                product(loads, a.tile_rows, a.tile_columns, a.head, score_at(s), 0);
            }
            if (s >= a.depth) {
                std::int64_t t = s - a.depth;
                b.cross_wait(Pipe::mte2, 1);
                product({{p_at(t), p_bytes}, {v_at + t % tasks * kv_bytes, kv_bytes}}, a.tile_rows, a.head, a.tile_columns, o_at(t), 2);
            }
        }
        for (int v = 0; v < 2; ++v) {
            b.core(isa::Core::vector, core, v);
            for (int s = 0; s < 2; ++s) {
                b.set(Pipe::v, Pipe::mte2, s);
                b.set(Pipe::mte3, Pipe::v, s);
            }
            std::int64_t step = 0;
            for (std::int64_t s = 0; s < all + a.depth; ++s) {
                if (s < all) {
                    int slot = int(step++ % 2);
                    std::int64_t bytes = half * a.tile_columns * 4;
                    b.wait(Pipe::v, Pipe::mte2, slot);
                    b.cross_wait(Pipe::mte2, 0);
                    b.load(false, score_at(s) + v * bytes, bytes).scalar_before = scalar_work;
                    b.set(Pipe::mte2, Pipe::v, slot);
                    b.wait(Pipe::mte2, Pipe::v, slot);
                    b.wait(Pipe::mte3, Pipe::v, slot);
                    add_items(b, softmax_items(), bytes, isa::DType::fp32);
                    b.set(Pipe::v, Pipe::mte2, slot);
                    b.set(Pipe::v, Pipe::mte3, slot);
                    b.wait(Pipe::v, Pipe::mte3, slot);
                    b.store(p_at(s) + v * bytes / 2, bytes / 2).scalar_before = scalar_work;
                    b.set(Pipe::mte3, Pipe::v, slot);
                    b.cross_set(Pipe::mte3, 1);
                }
                if (s >= a.depth) {
                    std::int64_t t = s - a.depth;
                    int slot = int(step++ % 2);
                    std::int64_t bytes = half * a.head * 4;
                    b.wait(Pipe::v, Pipe::mte2, slot);
                    b.cross_wait(Pipe::mte2, 2);
                    b.load(false, o_at(t) + v * bytes, bytes).scalar_before = scalar_work;
                    b.set(Pipe::mte2, Pipe::v, slot);
                    b.wait(Pipe::mte2, Pipe::v, slot);
                    add_items(b, update_items(), bytes, isa::DType::fp32);
                    b.set(Pipe::v, Pipe::mte2, slot);
                    if (t % tasks == tasks - 1) {
                        b.wait(Pipe::mte3, Pipe::v, slot);
                        b.vector("vector.expand_special", bytes);
                        b.set(Pipe::v, Pipe::mte3, slot);
                        b.wait(Pipe::v, Pipe::mte3, slot);
                        b.store(out_at + (core * a.row_tiles + t / tasks) * std::int64_t(a.tile_rows) * a.head * 2 + v * bytes / 2, bytes / 2).scalar_before = scalar_work;
                        b.set(Pipe::mte3, Pipe::v, slot);
                    }
                }
            }
        }
    }
    return std::move(b.record);
}

} // namespace pto::validate

#include "tools/validate/gemm_core.hpp"
#include "tools/validate/vector_items.hpp"

namespace pto::validate {

using isa::Pipe;
using support::RecordBuilder;

void add_items(RecordBuilder& b, const std::vector<Item>& items, std::int64_t bytes, isa::DType dtype, int scalar_before) {
    for (const Item& item : items) {
        std::int64_t part = std::int64_t(double(bytes) * item.share);
        if (item.timing == "vector_function") {
            execute::CallWork work;
            for (const auto& [key, count] : item.per_line) work.counts.emplace_back(key, std::int64_t(count * double((part + 255) / 256) + 0.5));
            std::sort(work.counts.begin(), work.counts.end());
            b.call("vector_function", std::move(work)).scalar_before = scalar_before + scalar_work;
        } else {
            execute::Row& r = b.vector(item.timing, part, dtype);
            r.scalar_before = scalar_before + scalar_work;
            if (item.clash) r.ub[0] = 0, r.ub[1] = 0x4000 / 32, r.ub[2] = 0x8000 / 32;
        }
    }
}

execute::Record elementwise(const Elementwise& e) {
    RecordBuilder b("elementwise");
    std::int64_t tiles = (e.elements + e.tile_elements - 1) / e.tile_elements, array = e.elements * e.element_bytes;
    for (int core = 0; core < e.cores; ++core) {
        b.core(isa::Core::vector, core);
        for (int s = 0; s < e.buffers; ++s) {
            b.set(Pipe::v, Pipe::mte2, s);
            b.set(Pipe::mte3, Pipe::v, s);
        }
        // Neighbouring tiles go to one core: its share is one stretch of memory.
        std::int64_t each = (tiles + e.cores - 1) / e.cores, turn = 0;
        for (std::int64_t t = each * core; t < std::min(tiles, each * (core + 1)); ++t, ++turn) {
            std::int64_t at = t * e.tile_elements, count = std::min<std::int64_t>(e.tile_elements, e.elements - at), bytes = count * e.element_bytes;
            int s = int(turn % e.buffers);
            b.wait(Pipe::v, Pipe::mte2, s);
            for (int i = 0; i < e.inputs; ++i) b.load(false, i * array + at * e.element_bytes, bytes).scalar_before = scalar_work;
            b.set(Pipe::mte2, Pipe::v, s);
            b.wait(Pipe::mte2, Pipe::v, s);
            b.wait(Pipe::mte3, Pipe::v, s);
            add_items(b, e.items, bytes, e.dtype);
            b.set(Pipe::v, Pipe::mte2, s);
            b.set(Pipe::v, Pipe::mte3, s);
            b.wait(Pipe::v, Pipe::mte3, s);
            // What stays in L2 costs HBM nothing: a place of its own for each core.
            b.store(e.inputs * array + e.apart + (e.past_l2 ? std::int64_t(core) << 20 : at * e.element_bytes), bytes).scalar_before = scalar_work;
            b.set(Pipe::mte3, Pipe::v, s);
        }
    }
    return std::move(b.record);
}

execute::Record copy(const Copy& c) {
    RecordBuilder b("copy");
    std::int64_t slices = c.sliced ? 4 : 1, slice = (c.columns + slices - 1) / slices, bands = (c.rows + c.tile_rows - 1) / c.tile_rows;
    for (int core = 0; core < c.cores; ++core) {
        b.core(c.to_l1 ? isa::Core::cube : isa::Core::vector, core);
        auto tiles_of = [&](std::int64_t first, std::int64_t last, int pass) {
            std::int64_t wide = (last - first + c.tile_columns - 1) / c.tile_columns;
            // A pass over tiles is dealt out tile by tile, so that the cores sweep the matrix together.
            for (std::int64_t t = c.everything ? 0 : core; t < bands * wide; t += c.everything ? 1 : c.cores) {
                std::int64_t row = t / wide * c.tile_rows, column = first + t % wide * c.tile_columns;
                std::int64_t height = std::min<std::int64_t>(c.tile_rows, c.rows - row), width = std::min<std::int64_t>(c.tile_columns, last - column);
                std::int64_t own = c.past_l2 ? core * c.rows * c.columns * c.element_bytes : 0; // as if nobody else had read it
                if (c.past_l2 && width * c.element_bytes < c.least_bytes) { // no other tile finds the rest of what came
                    b.load(c.to_l1, own * c.least_bytes / (width * c.element_bytes) + t * height * c.least_bytes, height * c.least_bytes).scalar_before = scalar_work;
                    continue;
                }
                b.load(c.to_l1, own + (row * c.columns + column) * c.element_bytes, height * width * c.element_bytes, int(width * c.element_bytes),
                       int(c.columns * c.element_bytes))
                    .scalar_before = scalar_work;
            }
            (void)pass;
        };
        for (std::int64_t s = 0; s < slices; ++s)
            for (int pass = 0; pass < c.reads; ++pass) tiles_of(s * slice, std::min(c.columns, (s + 1) * slice), pass);
    }
    return std::move(b.record);
}

execute::Record scalar_sum(int elements) {
    RecordBuilder b("scalar_sum");
    b.core(isa::Core::vector);
    for (int i = 0; i < elements; ++i)
        for (int access = 0; access < 3; ++access) b.op(Pipe::s, "scalar.element").scalar_before = access == 2;
    return std::move(b.record);
}

execute::Record load_parts(std::int64_t bytes, int parts, int times) {
    RecordBuilder b("load_parts");
    b.core(isa::Core::vector);
    for (int i = 0; i < parts * times; ++i) {
        b.load(false, i % parts * (bytes / parts), bytes / parts);
        b.barrier(Pipe::mte2);
    }
    return std::move(b.record);
}

execute::Record series(const execute::Row& row, const execute::Site& site, isa::Core core, int count) {
    execute::Record record;
    record.kernel = "series";
    record.sites.push_back(site);
    record.cores.push_back({core, 0, 0, {}, {}});
    for (int i = 0; i < count; ++i) record.cores[0].rows.push_back(row);
    return record;
}

} // namespace pto::validate

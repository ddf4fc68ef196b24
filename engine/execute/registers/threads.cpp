/// SIMT launches: the body once per thread, one thread after the other. Source: language 5.8.
#include "engine/execute/registers/code.hpp"

#include "engine/execute/numerics/float_formats.hpp"
#include "engine/execute/rows.hpp"

#include <bit>
#include <cstring>

namespace pto::execute::registers {
namespace {

/// Where one element of an argument lies, checked.
std::byte* element(Frame& f, const Instr& i, bool write, std::byte** known) {
    Call& c = *f.call;
    const OperandInstance& o = c.operand(i.tile);
    const int bytes = lane_width(i.memory_type);
    const std::int64_t index = f.cells[std::size_t(i.s0)].integer;
    Runs& runs = f.runs[std::size_t(i.run_index)];
    runs.write = write;
    runs.tile = i.tile;
    if (o.kind == OperandInstance::Kind::tile) {
        const std::int64_t at = o.tile.address + index * bytes;
        if (at < 0 || at + bytes > f.ub->bytes)
            throw Stop{Status::out_of_range,
                       c.site.name + ": a thread reaches byte " + std::to_string(at) + " of UB, which has " +
                           std::to_string(f.ub->bytes),
                       i.at};
        if (f.check) runs.add(at, bytes);
        *known = f.ub->known.get() + at;
        return f.ub->data.get() + at;
    }
    const std::int64_t at = o.tensor.address + index * bytes;
    GlobalMemory::Range* range = c.gm.find(at, at + bytes);
    if (!range)
        throw Stop{Status::out_of_range,
                   c.site.name + ": a thread reaches element " + std::to_string(index) + " of " +
                       c.operand_name(i.tile) + ", which lies outside its buffer",
                   i.at};
    range->written |= write;
    if (f.check) runs.add(at, bytes);
    *known = nullptr;
    return c.gm.at(at);
}

void read(Frame& f, const Instr& i) {
    std::byte* known = nullptr;
    const std::byte* at = element(f, i, false, &known);
    const int bytes = lane_width(i.memory_type);
    if (f.check && known && std::memchr(known, 0, std::size_t(bytes))) {
        Place p = Findings::place_of(f.call->self);
        p.at = i.at;
        f.call->findings->say(HazardKind::uninitialised, false, p,
                              f.call->site.name + ": a thread reads an element that nobody has written",
                              "write the whole tile first");
    }
    std::uint64_t word = 0;
    std::memcpy(&word, at, std::size_t(bytes));
    Cell& out = f.cells[std::size_t(i.s1)];
    out = {};
    if (isa::is_float(i.memory_type)) {
        out.real = i.memory_type == DType::fp32 ? double(std::bit_cast<float>(std::uint32_t(word)))
                                                : double(num::decode(i.memory_type, std::uint32_t(word)));
    } else {
        const int shift = 64 - 8 * bytes;
        out.integer = isa::is_signed_int(i.memory_type) ? std::int64_t(word << shift) >> shift : std::int64_t(word);
    }
}
void write(Frame& f, const Instr& i) {
    std::byte* known = nullptr;
    std::byte* at = element(f, i, true, &known);
    const int bytes = lane_width(i.memory_type);
    const Cell& value = f.cells[std::size_t(i.s1)];
    Scalar s;
    if (isa::is_float(i.memory_type))
        s.dtype = DType::fp32, s.real = value.real;
    else
        s.integer = value.integer;
    const std::uint64_t word = pattern_of(s, i.memory_type);
    std::memcpy(at, &word, std::size_t(bytes));
    if (known) std::memset(known, 1, std::size_t(bytes));
}

void run_threads(Call& c) {
    if (!c.scratch.frame) c.scratch.frame.reset(new Frame);
    Frame& f = *c.scratch.frame;
    const ir::SimtLaunch& launch = *c.site.simt;
    const int sizes = int(launch.arguments.size());
    prepare(f, c, *c.site.code, sizes + 3);
    std::int64_t extent[3];
    for (int k = 0; k < 3; ++k) extent[k] = c.has(sizes + k) ? std::max<std::int64_t>(0, c.integer(sizes + k)) : 1;
    const std::vector<Cell> fresh = f.cells;
    std::int64_t instructions = 0;
    for (std::int64_t z = 0; z < extent[2]; ++z)
        for (std::int64_t y = 0; y < extent[1]; ++y)
            for (std::int64_t x = 0; x < extent[0]; ++x) {
                std::copy(fresh.begin(), fresh.end(), f.cells.begin());
                const std::int64_t place[3] = {x, y, z};
                for (std::size_t k = 0; k < 3 && k < c.site.code->thread_cells.size(); ++k)
                    if (c.site.code->thread_cells[k] >= 0)
                        f.cells[std::size_t(c.site.code->thread_cells[k])].integer = place[k];
                walk(f);
                instructions += std::int64_t(f.code->instrs.size());
            }
    c.work(instructions * 16);
    if (f.check) hand_over_runs(f, c);
    if (c.row) {
        c.row->m = std::int32_t(extent[0] * extent[1] * extent[2]);
        c.row->n = std::int32_t(instructions / std::max<std::int64_t>(1, c.row->m));
    }
}

} // namespace

Handler element_handler(bool writes) { return writes ? write : read; }
const Meaning threads_meaning{nullptr, run_threads};

} // namespace pto::execute::registers

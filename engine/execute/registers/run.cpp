/// Runs a decoded vector function: one item of pipe V. Source: language 5.1.
#include "engine/execute/registers/scalars.hpp"

#include <algorithm>
#include <cstring>

namespace pto::execute::registers {

// ---------------------------------------------------------------- access runs

void Runs::add(std::int64_t first, std::int64_t n) {
    if (begin < end) {
        if (first >= begin && first + n <= end) return;
        if (first >= begin && first <= end) {
            end = first + n;
            return;
        }
        close();
    }
    begin = first;
    end = first + n;
}
void Runs::close() {
    const std::int64_t n = end - begin;
    if (!count) {
        base = begin, bytes = n, stride = 0, count = 1;
    } else if (n == bytes && count == 1 && begin > base) {
        stride = begin - base;
        count = 2;
    } else if (n == bytes && count > 1 && begin == base + stride * count) {
        ++count;
    } else if (n == bytes && count >= 1 && begin >= base &&
               (count == 1 ? begin == base : (begin - base) % stride == 0 && (begin - base) / stride < count)) {
        // seen before: a second pass over the same rows
    } else {
        flush();
        base = begin, bytes = n, stride = 0, count = 1;
    }
    begin = end = 0;
}
void Runs::flush() {
    if (!count) return;
    num::Strided s;
    s.base = base;
    s.run_bytes = bytes;
    s.counts = {1, 1, count};
    s.strides = {0, 0, stride};
    // Blocks that all grow, or a row of runs that repeats next to itself, are one set.
    if (!done.empty()) {
        num::Strided& last = done.back();
        if (last.counts == s.counts && last.strides == s.strides && last.base + last.run_bytes == s.base &&
            (count == 1 || last.run_bytes + bytes <= stride)) {
            last.run_bytes += bytes;
            count = 0;
            return;
        }
    }
    // A function that walks in no pattern is told by its hull: at most 64 pieces an instruction.
    if (done.size() < 64) {
        done.push_back(s);
    } else {
        num::Strided& hull = done.back();
        const std::int64_t first = std::min(hull.first(), s.first()), last = std::max(hull.last(), s.last());
        hull = {};
        hull.base = first;
        hull.run_bytes = last - first;
    }
    count = 0;
}

// ---------------------------------------------------------------- masks and results

void lanes_of(const Mask& m, int width, std::uint8_t* chosen) {
    const int per_word = 64 / width;
    for (int w = 0; w < 4; ++w) {
        std::uint64_t bits = m.bits[std::size_t(w)];
        for (int i = 0; i < per_word; ++i) {
            chosen[w * per_word + i] = bits & 1;
            bits >>= width;
        }
    }
}
Mask mask_of_lanes(const std::uint8_t* chosen, int width) {
    Mask m;
    m.written = true;
    const int lanes = vector_bytes / width;
    for (int i = 0; i < lanes; ++i)
        if (chosen[i]) m.set(i * width);
    return m;
}

void spread_known(Vector& to, const Vector& a) {
    for (int i = 0; i < vector_bytes; ++i) to.known[i] = to.known[i] & a.known[i];
}

void settle(Frame& f, const Instr& i, const void* result, int width) {
    Vector& d = f.vectors[std::size_t(i.d0)];
    d.written = true;
    if (i.m < 0 || all_lanes(f.masks[std::size_t(i.m)], width)) {
        std::memcpy(d.data, result, vector_bytes);
        return;
    }
    alignas(64) std::uint8_t chosen[vector_bytes];
    alignas(64) static const std::byte zeros[vector_bytes] = {};
    lanes_of(f.masks[std::size_t(i.m)], width, chosen);
    alignas(64) std::byte merged[vector_bytes];
    num::select_lanes(merged, chosen, result, i.merging ? d.data : zeros, width, std::size_t(vector_bytes / width));
    std::memcpy(d.data, merged, vector_bytes);
}

// ---------------------------------------------------------------- memory

std::byte* Frame::at(const Instr& i, std::int64_t address, std::int64_t bytes, bool write) {
    if (address < 0 || address + bytes > ub->bytes)
        throw Stop{Status::out_of_range,
                   std::string(i.row->name) + ": bytes " + std::to_string(address) + " to " +
                       std::to_string(address + bytes) + " of UB, which has " + std::to_string(ub->bytes),
                   i.at};
    if (check) {
        Runs& r = runs[std::size_t(i.run_index)];
        r.write = write;
        r.tile = i.tile;
        r.add(address, bytes);
        if (write) {
            stored_first = stored_first < stored_last ? std::min(stored_first, address) : address;
            stored_last = std::max(stored_last, address + bytes);
        } else if (!order_said && address < stored_last && address + bytes > stored_first) {
            for (const Runs& w : runs)
                if (w.write && !order_said) {
                    bool met = address < w.end && address + bytes > w.begin;
                    for (const num::Strided& s : w.done) met |= num::overlap(address, address + bytes, s);
                    if (w.count) {
                        num::Strided s;
                        s.base = w.base, s.run_bytes = w.bytes, s.counts = {1, 1, w.count},
                        s.strides = {0, 0, w.stride};
                        met |= num::overlap(address, address + bytes, s);
                    }
                    if (!met) continue;
                    order_said = true;
                    Place place = Findings::place_of(call->self);
                    place.at = i.at;
                    call->findings->say(
                        HazardKind::register_order, false, place,
                        call->site.name +
                            ": a load reads bytes that an earlier store of the same call wrote; nothing orders the two",
                        "put vf.mem_bar() between the store and the load");
                }
        }
    }
    return ub->data.get() + address;
}

std::int64_t Frame::address_of(const Instr& i) {
    const int size = lane_width(i.memory_type);
    std::int64_t address = tile_address[std::size_t(i.tile)];
    if (i.base >= 0) address += cells[std::size_t(i.base)].integer * size;
    std::int64_t step = 0;
    if (i.address >= 0)
        step = addresses[std::size_t(i.address)] * i.part;
    else if (i.column_stride) {
        const std::int64_t columns =
            tile_stride[std::size_t(i.tile)] > 0 ? tile_stride[std::size_t(i.tile)] : i.column_stride;
        step = (cells[std::size_t(i.s2)].integer * columns + cells[std::size_t(i.s3)].integer) * size;
    } else if (i.offset >= 0) {
        step = cells[std::size_t(i.offset)].integer * size;
    }
    if (!i.post_update) return address + step;
    std::int64_t& cursor = cursors[std::size_t(i.cursor)];
    if (cursor < 0) cursor = address;
    const std::int64_t here = cursor;
    cursor += step;
    return here;
}

// ---------------------------------------------------------------- the walk

void prepare(Frame& f, Call& c, const Code& code, int first_capture) {
    f.call = &c;
    f.code = &code;
    if (std::int32_t(f.vectors.size()) < code.vectors) f.vectors.resize(std::size_t(code.vectors));
    if (std::int32_t(f.masks.size()) < code.masks) f.masks.resize(std::size_t(code.masks));
    for (std::int32_t i = 0; i < code.vectors; ++i) f.vectors[std::size_t(i)].written = false;
    for (std::int32_t i = 0; i < code.masks; ++i) f.masks[std::size_t(i)].written = false;
    f.addresses.assign(std::size_t(code.addresses), 0);
    f.stream_open.assign(std::size_t(code.streams), false);
    f.cursors.assign(code.cursors.size(), -1);
    f.cells = code.cells; // keeps its storage
    f.loops.resize(std::size_t(code.loops));
    f.counts.assign(code.timing.size(), 0);
    if (f.runs.size() < std::size_t(code.memory_sites)) f.runs.resize(std::size_t(code.memory_sites));
    for (Runs& r : f.runs) r.clear();
    f.iterations = f.operations = 0;
    f.ub = &(*c.machine.memory[std::size_t(c.core)])[MemorySpace::vec];
    f.check = c.findings != nullptr;
    f.stored_first = f.stored_last = 0;
    f.order_said = false;
    f.tile_address.clear();
    f.tile_stride.clear();
    for (std::int32_t t = 0; t < code.tiles; ++t) {
        f.tile_address.push_back(c.tile(t).address);
        f.tile_stride.push_back(c.tile(t).type->layout == isa::Layout::nd ? c.tile(t).row_stride : 0);
    }
    for (std::size_t k = 0; k < code.capture_cells.size(); ++k) {
        const Scalar& s = c.operand(first_capture + int(k)).scalar;
        Cell& cell = f.cells[std::size_t(code.capture_cells[k])];
        cell.integer = s.integer;
        cell.real = code.capture_real[k] && !isa::is_float(s.dtype) ? double(s.integer) : s.real;
    }
    for (const Code::Query& q : code.queries) {
        const bool mix = c.machine.cube() == 0;
        const std::int32_t sub = c.self.core.subblock, block = c.self.core.block;
        Cell& cell = f.cells[std::size_t(q.cell)];
        switch (q.op) {
        case ir::ExprOp::block_idx: cell.integer = mix ? block * 2 + sub : block; break;
        case ir::ExprOp::block_num: cell.integer = c.block_num; break;
        case ir::ExprOp::subblock_idx: cell.integer = mix ? sub : 0; break;
        case ir::ExprOp::dim:
        case ir::ExprOp::valid_dim: // of an argument
            for (int k = 0; k < int(c.op.operands.size()); ++k) {
                if (q.op == ir::ExprOp::dim && c.is_tensor(k) && c.tensor(k).tensor.index == q.id)
                    cell.integer = c.tensor(k).shape[std::size_t(q.axis)];
                if (q.op == ir::ExprOp::valid_dim && c.is_tile(k) && c.site.call &&
                    k < int(c.site.call->tiles.size()) && c.site.call->tiles[std::size_t(k)].index == q.id)
                    cell.integer = q.axis ? c.tile(k).valid_cols : c.tile(k).valid_rows;
            }
            break;
        default: cell.integer = mix ? 2 : 1; break;
        }
    }
}

void walk(Frame& f) {
    const Code& code = *f.code;
    const Instr* const begin = code.instrs.data();
    const ScalarOp* const scalars = code.scalars.data();
    Cell* const cells = f.cells.data();
    std::int64_t until_poll = 65536;
    for (const Instr* i = begin;;) {
        if (i->scalars_begin != i->scalars_end)
            run_scalars(scalars + i->scalars_begin, scalars + i->scalars_end, cells, i->at);
        switch (i->control) {
        case Control::operation:
            ++f.counts[std::size_t(i->timing)];
            i->run(f, *i);
            ++i;
            break;
        case Control::assign: ++i; break;
        case Control::jump:
            if (--until_poll < 0) {
                f.call->work(32 * 65536);
                until_poll = 65536;
            }
            i = begin + i->target;
            break;
        case Control::branch: {
            const Cell& c = cells[i->s0];
            i = (i->scalar ? c.real != 0 : c.integer != 0) ? i + 1 : begin + i->target;
            break;
        }
        case Control::loop_enter: {
            LoopState& l = f.loops[std::size_t(i->loop)];
            const std::int64_t start = cells[i->s0].integer, stop = cells[i->s1].integer, step = cells[i->s2].integer;
            if (!step) throw Stop{Status::refused, "the step of a loop is 0", i->at};
            const __int128 distance = step > 0 ? __int128(stop) - start : __int128(start) - stop,
                           stride = step > 0 ? __int128(step) : -__int128(step);
            l.left = distance <= 0 ? 0 : std::int64_t((distance + stride - 1) / stride);
            l.value = start;
            l.step = step;
            if (l.left <= 0) {
                i = begin + i->target;
                break;
            }
            cells[i->s3].integer = start;
            ++f.iterations;
            ++i;
            break;
        }
        case Control::loop_next: {
            LoopState& l = f.loops[std::size_t(i->loop)];
            if (--l.left <= 0) {
                ++i;
                break;
            }
            l.value += l.step;
            cells[i->s3].integer = l.value;
            ++f.iterations;
            if (--until_poll < 0) {
                f.call->work(32 * 65536);
                until_poll = 65536;
            }
            i = begin + i->target;
            break;
        }
        case Control::finish: return;
        }
    }
}

void hand_over_runs(Frame& f, Call& c) {
    for (Runs& r : f.runs) {
        if (r.begin < r.end) r.close();
        r.flush();
        for (const num::Strided& s : r.done) {
            num::Footprint bytes;
            bytes.count = 1;
            bytes.pieces[0] = s;
            if (s.counts[2] > 1 && s.strides[2] == s.run_bytes) { // rows that follow each other
                bytes.pieces[0].run_bytes = s.run_bytes * s.counts[2];
                bytes.pieces[0].counts = {1, 1, 1};
                bytes.pieces[0].strides = {0, 0, 0};
            }
            const bool tile = c.operand(r.tile).kind == OperandInstance::Kind::tile;
            c.late_accesses.add(tile ? MemorySpace::vec : MemorySpace::ddr, tile ? c.core : 0, r.write, r.tile, bytes);
        }
    }
}

namespace {

void run_call(Call& c) {
    if (!c.scratch.frame) c.scratch.frame.reset(new Frame);
    Frame& f = *c.scratch.frame;
    if (!c.site.code) c.refuse("the vector function was not decoded");
    prepare(f, c, *c.site.code, c.site.code->tiles);
    walk(f);
    for (std::size_t s = 0; s < f.stream_open.size(); ++s)
        if (f.stream_open[s])
            c.warn(HazardKind::contract, -1,
                   c.site.name +
                       ": an unaligned store is not closed; hardware keeps up to 32 bytes in the carry register",
                   "end the stream with vf.store_unalign_post");
    if (f.check) hand_over_runs(f, c);
    for (const Access& a : c.late_accesses.items) // loads of whole registers read past short tiles all the time
        if (a.write) warn_beyond_tile(c, a.operand, a.bytes, true, c.site.at);
    ++c.statistics.vector_calls;
    for (std::int64_t n : f.counts) f.operations += n;
    c.statistics.register_operations += f.operations;
    c.call_work.loops = f.iterations;
    c.call_work.counts.clear();
    for (std::size_t k = 0; k < f.counts.size(); ++k)
        if (f.counts[k]) c.call_work.counts.emplace_back(f.code->timing[k], f.counts[k]);
    std::sort(c.call_work.counts.begin(), c.call_work.counts.end());
    c.work(f.operations * 64);
}

} // namespace

const Meaning call_meaning{nullptr, run_call};

void FrameDeleter::operator()(Frame* f) const { delete f; }

} // namespace pto::execute::registers

#include "engine/time/cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

namespace pto::time {
namespace {

constexpr std::int64_t line_bytes = 256; // one repeat of the vector unit; UB delivers lines

bool starts_with(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }

/// The row for a key, its refinement by type first: "vector.special.fp16", then "vector.special".
const machine::TimingRow* row_for(const machine::Chip& chip, const std::string& key, isa::DType dtype) {
    if (const auto* r = chip.row(key + "." + std::string(name(dtype)))) return r;
    return chip.row(key);
}
const machine::TimingRow* register_row(const machine::Chip& chip, const std::string& key) {
    if (const auto* r = chip.row(key)) return r;
    std::size_t dot = key.rfind('.'); // ".b16" and the like refine where the chip has such a row
    return dot == std::string::npos ? nullptr : chip.row(key.substr(0, dot));
}

/// One call of a vector function without its start: the slowest of instruction issue, UB ports and execution units; memory barriers
/// stand outside since nothing overlaps them. Source: hardware 1.4, 3.1.
Ticks vector_call(const machine::Chip& chip, const execute::CallWork& work) {
    // Registers wait for each other, so fewer instructions are issued than the two a cycle of the hardware.
    const double width = chip.constant("vector_issue_per_cycle");
    double issue = 0, barrier = 0, loads = 0, stores = 0;
    std::map<std::string, double> units;
    for (const auto& [key, count] : work.counts) {
        const machine::TimingRow* row = register_row(chip, key);
        if (!row) continue;
        double each = double(row->per_unit.numerator) / double(row->per_unit.denominator);
        double cycles = each * double(count);
        if (starts_with(key, "reg.load") || starts_with(key, "reg.gather")) loads += double(count);
        if (starts_with(key, "reg.store") || starts_with(key, "reg.scatter")) stores += double(count) * (key == "reg.store_pair" ? 2 : 1);
        if (row->unit == "barrier") {
            barrier += cycles;
        } else if (row->unit == "single") {
            issue += cycles;
        } else {
            issue += row->unit == "dual" ? cycles / width : double(count) / width;
            if (row->unit != "dual") units[row->unit] += cycles;
        }
    }
    double ports = stores + std::max(0.0, loads - stores) / 2;
    double slowest = std::max(issue, ports);
    for (const auto& [unit, cycles] : units) slowest = std::max(slowest, cycles);
    return ticks_of_cycles(slowest + barrier);
}

} // namespace

Ticks ticks_of_cycles(double cycles) { return Ticks(std::ceil(cycles * double(ticks_per_cycle) - 1e-6)); }

Costs::Costs(const execute::Record& record, const machine::Chip& chip, const std::vector<Change>& changes) {
    m_issue = ticks_of_cycles(chip.constant("scalar_issue_cycles"));
    m_scalar = ticks_of_cycles(chip.constant("scalar_instruction_cycles"));
    m_lock = ticks_of_cycles(chip.constant("lock_issue_cycles"));
    const Ticks row_mat = ticks_of_cycles(chip.constant("gm_row_cycles")), row_vec = ticks_of_cycles(chip.constant("gm_row_cycles_vec")), row_store = ticks_of_cycles(chip.constant("gm_store_row_cycles"));
    m_vector_row = ticks_of_cycles(chip.constant("vector_row_cycles"));
    m_partial = ticks_of_cycles(chip.constant("partial_mask_cycles"));
    m_clash_sources = std::int64_t(chip.constant("bank_clash_sources") * 1024);
    m_clash_destination = std::int64_t(chip.constant("bank_clash_destination") * 1024);
    m_sync = chip.row("sync.flag") ? ticks_of_cycles(chip.row("sync.flag")->startup_cycles) : ticks_per_cycle;

    for (const execute::Site& site : record.sites) {
        SiteCost s;
        const std::string& key = site.timing;
        if (const machine::TimingRow* row = row_for(chip, key, site.dtype)) {
            s.grade = row->grade;
            s.startup = ticks_of_cycles(row->startup_cycles);
            s.latency = ticks_of_cycles(row->latency_cycles);
            std::int64_t common = std::gcd(row->per_unit.numerator * ticks_per_cycle, row->per_unit.denominator);
            s.numerator = row->per_unit.numerator * ticks_per_cycle / common;
            s.denominator = row->per_unit.denominator / common;
            s.by_element = row->unit == "element";
            s.elements_per_cycle = std::int32_t(chip.constant("fix_elements_per_cycle"));
            if (starts_with(key, "path.gm_")) {
                s.kind = Kind::load;
                s.each_row = key == "path.gm_vec" ? row_vec : row_mat;
            } else if (starts_with(key, "path.acc_")) {
                s.kind = key == "path.acc_gm" ? Kind::fix_store : Kind::fix_move;
                if (key == "path.acc_vec_dual") s.elements_per_cycle *= 2; // each half at the full rate
            } else if (starts_with(key, "path.")) {
                s.kind = key.size() > 3 && key.substr(key.size() - 3) == "_gm" ? Kind::store : Kind::transfer;
                if (s.kind == Kind::store) s.each_row = row_store;
            } else if (starts_with(key, "cube.")) {
                s.kind = Kind::cube;
                std::sscanf(row->unit.c_str(), "%dx%dx%d", &s.block_m, &s.block_n, &s.block_k);
                s.k_pad = std::max(1, 32 * 8 / isa::bits(site.dtype)); // a fractal is 32 bytes deep
            } else if (key == "vector_function") {
                s.kind = Kind::vector_call;
            } else if (starts_with(key, "vector.")) {
                s.kind = row->unit == "call" ? Kind::fixed : Kind::vector_tile;
                if (const machine::TimingRow* add = chip.row("vector.add"); add && key == "vector.reduce" && row->unit == "line") {
                    s.kind = Kind::reduction;
                    s.combine_numerator = add->per_unit.numerator * ticks_per_cycle;
                    s.combine_denominator = add->per_unit.denominator;
                }
            }
        }
        m_sites.push_back(s);
    }
    for (const execute::CallWork& work : record.calls) m_calls.push_back(vector_call(chip, work));

    if (changes.empty()) return;
    for (const execute::CoreRecord& core : record.cores) m_stage_lists.push_back(&core.stages);
    for (const execute::Site& site : record.sites) {
        // One entry per stage name of any core; the stage's name decides, so the lists need not agree.
        std::vector<int> percents;
        for (const execute::CoreRecord& core : record.cores)
            for (std::size_t i = 0; i <= core.stages.size(); ++i) {
                std::string_view stage = i == 0 ? std::string_view() : std::string_view(core.stages[i - 1]);
                int percent = 100;
                for (const Change& c : changes) {
                    bool timing = c.timing.empty() || c.timing == site.timing || starts_with(site.timing, c.timing + ".");
                    if (timing && (c.name.empty() || c.name == site.name) && (c.stage.empty() || c.stage == stage)) percent = percent * c.percent / 100;
                }
                percents.push_back(percent);
            }
        m_percent.push_back(std::move(percents));
    }
}

Ticks Costs::issue(const execute::Row& row) const {
    Ticks t = m_issue + m_scalar * row.scalar_before;
    if (row.locks) t += 2 * m_lock * __builtin_popcount(row.locks);
    return t;
}

Ticks Costs::vector_tile(const SiteCost& s, const execute::Row& row) const {
    std::int64_t units = 0;
    bool partial = false;
    Ticks rows_work = 0;
    if (s.by_element) {
        units = std::int64_t(row.m) * row.n;
    } else if (row.row_bytes <= 0 || row.row_bytes >= row.bytes) {
        units = (row.bytes + line_bytes - 1) / line_bytes;
        partial = row.bytes % line_bytes != 0;
    } else {
        // Rows that lie apart are a loop of their own: a short row takes its beginning and a cycle a line, whatever the operation.
        const std::int64_t rows = row.bytes / row.row_bytes, inner = (row.row_bytes + line_bytes - 1) / line_bytes;
        units = rows * inner;
        partial = row.row_bytes % line_bytes != 0;
        if (rows > 1 && m_vector_row > 0) rows_work = rows * (m_vector_row + inner * ticks_per_cycle);
    }
    Ticks work = std::max((units * s.numerator + s.denominator - 1) / s.denominator, rows_work);
    // Bank groups of UB on A2/A3: 32-byte blocks, address bits 8:5. Two sources in step clash when their groups agree; a destination that
    // is shifted against the first source collides part of the time (hardware 1.2, 3.1).
    constexpr std::uint16_t unknown = 0xFFFF;
    std::int64_t factor = 1024;
    if (row.ub[0] != unknown && row.ub[1] != unknown && row.ub[0] != row.ub[1] && ((row.ub[0] ^ row.ub[1]) & 0xF) == 0)
        factor = m_clash_sources;
    else if (row.ub[0] != unknown && row.ub[2] != unknown && ((row.ub[0] ^ row.ub[2]) & 0x7) != 0)
        factor = m_clash_destination;
    return s.startup + (factor == 1024 ? work : work * factor / 1024) + (partial ? m_partial : 0);
}

Cost Costs::of(const execute::CoreRecord& core, const execute::Row& row) const {
    const SiteCost& s = m_sites[std::size_t(row.site)];
    Cost c;
    c.latency = s.latency;
    auto rows_of = [&] { return row.row_bytes > 0 ? (row.bytes + row.row_bytes - 1) / row.row_bytes : 1; };
    auto elements = [&] { return std::int64_t(row.m) * row.n; };
    switch (s.kind) {
    case Kind::fixed: c.busy = s.startup; break;
    case Kind::load:
        c.gm = true;
        c.busy = std::max(scaled(s, row.bytes), s.startup + rows_of() * s.each_row);
        break;
    case Kind::store:
        c.gm = c.writes_gm = true;
        c.busy = scaled(s, row.bytes);
        if (row.row_bytes > 0 && row.k > row.row_bytes && row.row_bytes < row.bytes) c.busy += rows_of() * s.each_row; // rows that lie apart in GM
        break;
    case Kind::fix_store:
    case Kind::fix_move:
        c.gm = c.writes_gm = s.kind == Kind::fix_store;
        c.busy = std::max(scaled(s, row.bytes), s.startup + (elements() * ticks_per_cycle + s.elements_per_cycle - 1) / s.elements_per_cycle);
        break;
    case Kind::transfer: c.busy = scaled(s, row.bytes); break;
    case Kind::cube: {
        std::int64_t k = (std::int64_t(row.k) + s.k_pad - 1) / s.k_pad * s.k_pad;
        std::int64_t blocks = 0;
        if (row.m == 1) // GEMV mode: the row is read as K/16 x 16, so 15 of 16 rows are not wasted (hardware 1.4)
            blocks = ((row.n + s.block_n - 1) / s.block_n) * ((k + s.block_k * s.block_m - 1) / (s.block_k * s.block_m));
        else
            blocks = std::int64_t((row.m + s.block_m - 1) / s.block_m) * ((row.n + s.block_n - 1) / s.block_n) * ((k + s.block_k - 1) / s.block_k);
        c.busy = scaled(s, blocks);
        break;
    }
    case Kind::vector_tile: c.busy = vector_tile(s, row); break;
    case Kind::reduction: {
        // The lines of a row are combined lane by lane, then one line is reduced.
        std::int64_t run = row.row_bytes > 0 && row.row_bytes < row.bytes ? row.row_bytes : row.m > 0 ? row.bytes / row.m : row.bytes;
        std::int64_t rows = run > 0 ? row.bytes / run : 0, further = run > 0 ? (run + line_bytes - 1) / line_bytes - 1 : 0;
        c.busy = scaled(s, rows) + (rows * further * s.combine_numerator + s.combine_denominator - 1) / s.combine_denominator;
        break;
    }
    case Kind::vector_call: c.busy = s.startup + (row.k >= 0 && std::size_t(row.k) < m_calls.size() ? m_calls[std::size_t(row.k)] : 0); break;
    }
    if (!m_percent.empty()) {
        std::size_t at = 0;
        for (const auto* list : m_stage_lists) {
            if (list == &core.stages) break;
            at += list->size() + 1;
        }
        int percent = m_percent[std::size_t(row.site)][at + std::size_t(row.stage + 1)];
        if (percent != 100) c.busy = c.busy * percent / 100;
    }
    return c;
}

} // namespace pto::time

#include "engine/report/decide.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace pto::report {
namespace {

bool starts_with(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }

/// Multiplications of one cycle: "16x16x32" is 8192.
double block_of(const machine::TimingRow& row) {
    int m = 16, n = 16, k = 16;
    std::sscanf(row.unit.c_str(), "%dx%dx%d", &m, &n, &k);
    return double(m) * n * k * double(row.per_unit.denominator) / double(std::max<std::int64_t>(1, row.per_unit.numerator));
}

/// Register operations that calculate: neither transfers nor masks.
bool calculates(const std::string& key) {
    return !starts_with(key, "reg.load") && !starts_with(key, "reg.store") && !starts_with(key, "reg.mask") && !starts_with(key, "reg.none") && !starts_with(key, "reg.barrier");
}

} // namespace

Roofline roofline_of(const execute::Record& record, const time::Timeline& times, const machine::Chip& chip) {
    Roofline r;
    r.hbm_bytes = double(times.hbm_read + times.hbm_written);
    r.l2_bytes = double(times.l2_bytes);
    r.hbm_bytes_per_us = chip.constant("hbm_bytes_per_us");
    r.l2_bytes_per_us = chip.constant("l2_bytes_per_us");
    constexpr double lanes = 64; // fp32 elements of a line
    std::map<std::int32_t, std::int64_t> sites;
    double macs = 0, ideal = 0, elements = 0; // ideal: cycles of the cube at its full rate, type by type
    std::int64_t cubes = 0, vectors = 0;
    for (const execute::CoreRecord& core : record.cores) {
        (core.core == isa::Core::cube ? cubes : vectors) += !core.rows.empty();
        for (const execute::Row& row : core.rows) {
            if (row.sync != execute::SyncKind::none) continue;
            const execute::Site& site = record.sites[std::size_t(row.site)];
            if (row.pipe == isa::Pipe::m && starts_with(site.timing, "cube.")) {
                double work = double(row.m) * row.n * row.k;
                macs += work;
                if (const machine::TimingRow* timing = chip.row(site.timing)) ideal += work / block_of(*timing);
            } else if (row.pipe == isa::Pipe::v && starts_with(site.timing, "vector.")) {
                elements += row.m > 0 ? double(row.m) * row.n : double(row.bytes) * 8 / isa::bits(site.dtype);
            } else if (row.pipe == isa::Pipe::v && row.k >= 0 && std::size_t(row.k) < record.calls.size()) {
                for (const auto& [key, count] : record.calls[std::size_t(row.k)].counts)
                    if (calculates(key)) elements += double(count) * lanes;
            }
        }
    }
    double us = times.us(times.total), bytes = std::max(1.0, double(times.l2_bytes));
    auto add = [&](const char* side, double operations, double peak) {
        if (operations <= 0 || us <= 0) return;
        RoofPoint p;
        p.side = side;
        p.operations = operations;
        p.intensity = operations / bytes;
        p.achieved = operations / us;
        p.peak = peak;
        // Bytes that hit L2 pass at its rate, the others at that of HBM: whichever takes longer makes the slope.
        double memory_us = std::max(r.hbm_bytes / r.hbm_bytes_per_us, r.l2_bytes / r.l2_bytes_per_us);
        double slope = memory_us > 0 ? operations / memory_us : peak;
        p.roof = std::min(peak, slope);
        p.limit = slope < peak ? "memory" : "compute";
        r.points.push_back(std::move(p));
    };
    std::int64_t places = chip.cube_cores;
    if (ideal > 0) add("cube", 2 * macs, 2 * macs / ideal * double(std::min<std::int64_t>(cubes, places)) * chip.clock_mhz);
    // One line operation a cycle on A2/A3; the 950 issues two.
    add("vector", elements, lanes * (chip.arch == "a5" ? 2 : 1) * double(std::min<std::int64_t>(vectors, 2 * places)) * chip.clock_mhz);
    return r;
}

} // namespace pto::report

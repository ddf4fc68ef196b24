#include "engine/execute/execute.hpp"

#include "engine/execute/block.hpp"

#include <algorithm>

namespace pto::execute {
namespace {

std::vector<program::ParamValue> param_values(const ir::Kernel& kernel, const LaunchArguments& arguments,
                                              const GlobalMemory& gm) {
    std::vector<program::ParamValue> out;
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
        const ir::Param& p = kernel.params[i];
        const Argument& a = arguments.arguments[i];
        program::ParamValue v;
        v.known = true;
        v.address = gm.address_of(i);
        v.shape = a.shape;
        v.scalar = {a.integer, a.real, p.dtype, true};
        for (std::size_t f = 0; f < p.fields.size() && f < a.fields.size(); ++f) {
            std::vector<program::Scalar> values;
            const bool real = isa::is_float(p.fields[f].dtype);
            const std::size_t n = real ? a.fields[f].reals.size() : a.fields[f].integers.size();
            for (std::size_t k = 0; k < n; ++k)
                values.push_back(
                    {real ? 0 : a.fields[f].integers[k], real ? a.fields[f].reals[k] : 0, p.fields[f].dtype, true});
            v.fields.push_back(std::move(values));
        }
        out.push_back(std::move(v));
    }
    return out;
}

void check_arguments(const ir::Kernel& kernel, const LaunchArguments& arguments, const ExecuteOptions& options) {
    auto refuse = [&](std::string message, Span at = {}) {
        throw Stop{Status::refused, kernel.name + ": " + std::move(message), at};
    };
    if (options.block_dim < 1) refuse("block_dim is " + std::to_string(options.block_dim));
    if (arguments.arguments.size() != kernel.params.size())
        refuse(std::to_string(arguments.arguments.size()) + " arguments for " + std::to_string(kernel.params.size()) +
               " parameters");
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
        const ir::Param& p = kernel.params[i];
        const Argument& a = arguments.arguments[i];
        if (p.kind != ir::ParamKind::tensor || !a.buffer.data) continue;
        if (a.shape.size() != p.dims.size())
            refuse(p.name + " has rank " + std::to_string(a.shape.size()) + ", the parameter has " +
                       std::to_string(p.dims.size()),
                   p.at);
        std::int64_t elements = 1;
        for (std::size_t k = 0; k < a.shape.size(); ++k) {
            if (!p.dims[k].dynamic && p.dims[k].size != a.shape[k])
                refuse("axis " + std::to_string(k) + " of " + p.name + " is " + std::to_string(a.shape[k]) +
                           ", the parameter says " + std::to_string(p.dims[k].size),
                       p.at);
            elements *= a.shape[k];
        }
        if (isa::bytes(p.dtype, elements) > a.buffer.bytes && isa::bits(p.dtype) >= 8)
            refuse(p.name + " needs " + std::to_string(isa::bytes(p.dtype, elements)) + " bytes, the buffer has " +
                       std::to_string(a.buffer.bytes),
                   p.at);
    }
}

/// Two blocks that touch the same GM bytes, one writing, with no grid-wide meeting between them.
void check_between_blocks(Launch& launch) {
    std::vector<LoggedAccess>& all = launch.gm_accesses;
    std::sort(all.begin(), all.end(), [](const LoggedAccess& a, const LoggedAccess& b) {
        return std::tie(a.access.first, a.core, a.pipe, a.tick) < std::tie(b.access.first, b.core, b.pipe, b.tick);
    });
    auto ordered = [](const LoggedAccess& first, const LoggedAccess& second) {
        return second.grid &&
               second.grid->ticks[std::size_t(first.core.block) * pipes_per_block + std::size_t(first.pipe)] >=
                   first.tick;
    };
    // Sweep by first byte: `open` holds accesses whose hull reaches the current one; readers and writers apart, for
    // inputs are read by all.
    std::vector<const LoggedAccess*> writers, readers;
    auto close = [](std::vector<const LoggedAccess*>& open, std::int64_t at) {
        open.erase(
            std::remove_if(open.begin(), open.end(), [&](const LoggedAccess* a) { return a->access.last <= at; }),
            open.end());
    };
    const auto check = [&](const LoggedAccess& a, const LoggedAccess& b) {
        if (a.core.block == b.core.block || (a.access.atomic && b.access.atomic)) return;
        if (ordered(a, b) || ordered(b, a) || !num::overlap(a.access.bytes, b.access.bytes)) return;
        // Who writes is told first, then the lower core: one finding for a pair of places, whichever way round two blocks met.
        const bool swap = a.access.write != b.access.write ? b.access.write : b.core < a.core;
        const LoggedAccess &x = swap ? b : a, &y = swap ? a : b;
        Place first = Findings::place_of(x), second = Findings::place_of(y);
        bool fresh = false;
        Hazard* h = launch.findings.find(HazardKind::block_race, first, second, MemorySpace::ddr, fresh);
        const bool looks = a.site->semantics == isa::Semantics::dump || b.site->semantics == isa::Semantics::dump;
        const bool harmless = looks || same_write(a.access, b.access);
        if (!h || (!fresh && (harmless || h->is_error))) return;
        h->is_error = !harmless;
        h->first = first;
        h->second = second;
        GlobalMemory::Range* r = launch.gm.find(a.access.first, a.access.last);
        h->begin = std::max(a.access.first, b.access.first);
        h->end = std::min(a.access.last, b.access.last);
        if (r) {
            h->what = r->name;
            h->begin -= r->address;
            h->end -= r->address;
            for (std::int32_t p : r->parameters) {
                const ir::Param& param = launch.program.kernel->params[std::size_t(p)];
                const std::vector<std::int64_t>& shape = launch.params[std::size_t(p)].shape;
                if (param.kind != ir::ParamKind::tensor || shape.empty()) continue;
                std::int64_t row = isa::bytes(param.dtype);
                if (shape.size() >= 2) row *= shape.back();
                const std::int64_t offset = r->address + h->begin - launch.params[std::size_t(p)].address;
                h->row_begin = offset / row;
                h->row_end = (offset + h->end - h->begin + row - 1) / row;
                break;
            }
        }
        const std::string rows =
            h->row_begin >= 0 ? " rows " + std::to_string(h->row_begin) + " to " + std::to_string(h->row_end) : "";
        h->message = h->what + rows + ": " + text(first.core, true) + (first.writes ? " writes" : " reads") + " what " +
                     text(second.core, true) + (second.writes ? " writes" : " reads") +
                     (looks      ? "; the dump may show a stale value"
                      : harmless ? ", with the same values"
                                 : "");
        h->order = "blocks run in any order, and no grid-wide synchronisation lies between the two";
        h->repair = first.writes && second.writes ? "let each block own its rows, or add atomically"
                                                  : "put sync_all between the two, or let each block own its rows";
    };
    for (const LoggedAccess& now : all) {
        close(writers, now.access.first);
        for (const LoggedAccess* w : writers) check(*w, now);
        if (now.access.write) {
            close(readers, now.access.first);
            for (const LoggedAccess* r : readers) check(*r, now);
        }
        (now.access.write ? writers : readers).push_back(&now);
        launch.work(std::int64_t(writers.size()) * 8);
    }
}

void run_waves(Launch& launch, Outcome& out, std::int32_t capacity, std::vector<std::unique_ptr<BlockRun>>& active,
               std::int32_t& next);

void run_blocks(Launch& launch, Outcome& out) {
    // As many blocks at a time as the chip has cores; normally one runs to its end before the next starts.
    const std::int32_t capacity =
        std::max(1, launch.grid.has_cube ? launch.chip.cube_cores : 2 * launch.chip.cube_cores);
    std::vector<std::unique_ptr<BlockRun>> active;
    std::int32_t next = 0;
    try {
        run_waves(launch, out, capacity, active, next);
    } catch (const Stop&) { // what was printed until here is told all the same
        for (auto& b : active) b->finish();
        throw;
    }
}

void run_waves(Launch& launch, Outcome& out, std::int32_t capacity, std::vector<std::unique_ptr<BlockRun>>& active,
               std::int32_t& next) {
    const std::vector<std::int32_t> order = block_order(launch.options.order, launch.grid.blocks);
    while (next < launch.grid.blocks || !active.empty()) {
        bool moved = false;
        if (next < launch.grid.blocks && std::int32_t(active.size()) < capacity) {
            active.push_back(std::make_unique<BlockRun>(launch, order[std::size_t(next++)]));
            moved = true;
        }
        for (std::size_t i = 0; i < active.size();) {
            const BlockRun::State state = active[i]->run();
            moved |= active[i]->moved();
            if (state == BlockRun::State::finished) {
                active[i]->finish();
                active.erase(active.begin() + std::ptrdiff_t(i));
                moved = true;
            } else {
                ++i;
            }
        }
        if (moved) continue;
        std::vector<BlockRun*> stuck;
        for (auto& b : active) stuck.push_back(b.get());
        out.hang = explain_hang(stuck, launch, launch.grid.blocks - next);
        out.status = Status::hang;
        out.message = out.hang.summary;
        if (!out.hang.stuck.empty()) out.at = out.hang.stuck[0].at.at;
        for (auto& b : active) b->finish();
        return;
    }
}

} // namespace

Launch::Launch(const program::Program& p, const machine::Chip& c, const LaunchArguments& a, const ExecuteOptions& o)
    : program(p), chip(c), options(o), table(p), gm(*p.kernel, a),
      grid(o.block_dim, p.kernel->subblocks(), p.core(isa::Core::cube) != nullptr,
           p.core(isa::Core::vector) != nullptr),
      findings(o.hazard_limit, o.block_dim > 1), texts(std::size_t(o.block_dim)) {
    for (const program::CoreCode& core : p.cores) prepared.push_back(program::prepare(p, core));
    params = param_values(*p.kernel, a, gm);
}

bool Outcome::has_races() const {
    return std::any_of(hazards.begin(), hazards.end(), [](const Hazard& h) { return h.is_error; });
}

Outcome execute(const program::Program& program, const machine::Chip& chip, const LaunchArguments& arguments,
                const ExecuteOptions& options) {
    Outcome out;
    std::unique_ptr<Launch> launch;
    try {
        check_arguments(*program.kernel, arguments, options);
        launch = std::make_unique<Launch>(program, chip, arguments, options);
        run_blocks(*launch, out);
        if (out.status == Status::done && options.hazards && options.block_dim > 1) check_between_blocks(*launch);
    } catch (const Stop& stop) {
        out.status = stop.status;
        out.message = stop.message;
        out.at = stop.at;
    }
    if (!launch) return out;
    out.hazards = launch->findings.take();
    std::stable_sort(out.hazards.begin(), out.hazards.end(),
                     [](const Hazard& a, const Hazard& b) { return a.is_error > b.is_error; });
    for (const std::string& t : launch->texts) out.text += t;
    out.stages = std::move(launch->stages);
    std::stable_sort(out.stages.begin(), out.stages.end(), [](const StageProgress& a, const StageProgress& b) { return a.core.block < b.core.block; });
    out.statistics = launch->statistics;
    out.statistics.cores =
        options.block_dim * (int(launch->grid.has_cube) + (launch->grid.has_vector ? launch->grid.subblocks : 0));
    if (options.record) {
        out.record.kernel = program.kernel->name;
        out.record.block_num = options.block_dim;
        out.record.sites = launch->table.record_sites();
        out.record.calls = std::move(launch->calls);
        out.record.cores = std::move(launch->records);
        std::stable_sort(out.record.cores.begin(), out.record.cores.end(),
                         [](const CoreRecord& a, const CoreRecord& b) {
                             return std::tie(a.block, a.core, a.subblock) < std::tie(b.block, b.core, b.subblock);
                         });
    }
    if (out.status == Status::done && options.strict && out.has_races()) {
        out.status = Status::race;
        for (const Hazard& h : out.hazards)
            if (h.is_error) {
                out.message = h.message;
                out.at = h.second.at.valid() ? h.second.at : h.first.at;
                break;
            }
    }
    if (out.status == Status::done) launch->gm.commit();
    if (options.sink && out.status != Status::interrupted && !out.text.empty()) options.sink->write(out.text);
    return out;
}

} // namespace pto::execute

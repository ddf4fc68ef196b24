#include "engine/driver/run.hpp"

#include "engine/check/check.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace pto::driver {
namespace {

/// A copy of all argument memory that keeps which buffers share bytes.
class Snapshot {
  public:
    explicit Snapshot(const execute::LaunchArguments& arguments) {
        for (const execute::Argument& a : arguments.arguments)
            if (a.buffer.data && a.buffer.bytes > 0) {
                auto begin = reinterpret_cast<std::uintptr_t>(a.buffer.data);
                m_ranges.push_back({begin, begin + std::uintptr_t(a.buffer.bytes), {}});
            }
        std::sort(m_ranges.begin(), m_ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
        std::vector<Range> merged;
        for (Range& r : m_ranges) {
            if (!merged.empty() && r.begin < merged.back().end) merged.back().end = std::max(merged.back().end, r.end);
            else merged.push_back(std::move(r));
        }
        m_ranges = std::move(merged);
        for (Range& r : m_ranges) {
            r.bytes.resize(r.end - r.begin);
            std::memcpy(r.bytes.data(), reinterpret_cast<const void*>(r.begin), r.bytes.size());
        }
    }
    /// The arguments, pointing into a fresh copy of the snapshot.
    execute::LaunchArguments copy(const execute::LaunchArguments& arguments) {
        m_work = m_ranges;
        execute::LaunchArguments out = arguments;
        for (execute::Argument& a : out.arguments)
            if (a.buffer.data && a.buffer.bytes > 0) {
                auto at = reinterpret_cast<std::uintptr_t>(a.buffer.data);
                for (Range& r : m_work)
                    if (r.begin <= at && at < r.end) a.buffer.data = r.bytes.data() + (at - r.begin);
            }
        return out;
    }
    /// The copy's bytes equal what the user's memory holds now.
    bool equals_user_memory() const {
        return std::all_of(m_work.begin(), m_work.end(), [](const Range& r) {
            return std::memcmp(r.bytes.data(), reinterpret_cast<const void*>(r.begin), r.bytes.size()) == 0;
        });
    }

  private:
    struct Range {
        std::uintptr_t begin = 0, end = 0;
        std::vector<std::byte> bytes;
    };
    std::vector<Range> m_ranges, m_work;
};

execute::ExecuteOptions execute_options(const RunOptions& o, const execute::OrderPolicy& order, bool record) {
    execute::ExecuteOptions e;
    e.block_dim = o.block_dim;
    e.order = order;
    e.record = record;
    e.strict = o.strictness == Strictness::strict;
    e.sink = o.sink;
    e.source = o.source;
    return e;
}

} // namespace

namespace {

constexpr std::int64_t exposable_operations = 100'000; // longer runs are not repeated to show what a race does
constexpr std::size_t exposed_races = 4;

bool ends_meet(const execute::Hazard& a, const execute::Hazard& b) {
    return a.kind == b.kind && a.first.at == b.first.at && a.second.at == b.second.at && a.first.operation == b.first.operation &&
           a.second.operation == b.second.operation;
}

/// Runs the orders that should turn the two ends of each race round, on copies, and compares what comes out.
void expose(Run& r, const Compiled& compiled, const execute::LaunchArguments& arguments, const RunOptions& options, Snapshot& kept, Snapshot& work) {
    execute::LaunchArguments base = kept.copy(arguments);
    RunOptions quiet = options;
    quiet.strictness = Strictness::warn;
    if (execute::execute(*compiled.program, *compiled.chip, base, execute_options(quiet, options.order, false)).status != execute::Status::done) return;
    for (std::size_t i = 0; i < r.outcome.hazards.size() && i < exposed_races; ++i) {
        const execute::Hazard& h = r.outcome.hazards[i];
        Exposure e;
        if (h.kind == execute::HazardKind::race && h.is_error) {
            const execute::Place &ran_first = h.second_ran_first ? h.second : h.first, &ran_second = h.second_ran_first ? h.first : h.second;
            using K = execute::OrderPolicy::Kind;
            for (const auto& order : {execute::OrderPolicy{K::late, ran_first.core.kind, ran_first.core.subblock, ran_first.pipe, 0},
                                      execute::OrderPolicy{K::early, ran_second.core.kind, ran_second.core.subblock, ran_second.pipe, 0}}) {
                execute::LaunchArguments copy = work.copy(arguments);
                const execute::Outcome other = execute::execute(*compiled.program, *compiled.chip, copy, execute_options(quiet, order, false));
                ++e.tried;
                if (other.status == execute::Status::interrupted) return;
                const bool turned = std::any_of(other.hazards.begin(), other.hazards.end(), [&](const execute::Hazard& o) {
                    return ends_meet(h, o) && o.second_ran_first != h.second_ran_first;
                });
                std::int64_t bytes = 0;
                std::string names;
                for (std::size_t a = 0; other.status == execute::Status::done && a < copy.arguments.size(); ++a) {
                    const auto *x = static_cast<const std::byte*>(base.arguments[a].buffer.data), *y = static_cast<const std::byte*>(copy.arguments[a].buffer.data);
                    std::int64_t differ = 0;
                    for (std::int64_t k = 0; x && y && k < copy.arguments[a].buffer.bytes; ++k) differ += x[k] != y[k];
                    if (!differ) continue;
                    bytes += differ;
                    if (compiled.kernel() && a < compiled.kernel()->params.size()) names += (names.empty() ? "" : ", ") + compiled.kernel()->params[a].name;
                }
                const bool hangs = other.status == execute::Status::hang;
                if (!turned && !hangs && !bytes) continue;
                if (!e.order.empty() && !bytes) continue; // one that changes values says more
                e.order = execute::text(order), e.bytes = bytes, e.arguments = names, e.hangs = hangs;
                if (bytes || hangs) break;
            }
        }
        r.exposures.push_back(std::move(e));
    }
}

} // namespace

std::string Run::status() const {
    if (outcome.status != execute::Status::done) return std::string(execute::name(outcome.status));
    if (std::any_of(hostile.begin(), hostile.end(), [](const HostileRun& h) { return h.status != execute::Status::done; }))
        return std::string(execute::name(std::find_if(hostile.begin(), hostile.end(), [](const HostileRun& h) {
                                             return h.status != execute::Status::done;
                                         })->status));
    if (std::any_of(hostile.begin(), hostile.end(), [](const HostileRun& h) { return !h.identical; })) return "differs";
    if (outcome.has_races()) return "race";
    return outcome.hazards.empty() ? "done" : "warned";
}

bool Run::refused() const {
    if (outcome.status != execute::Status::done) return true;
    return strictness == Strictness::strict && outcome.has_races();
}

Run run(const Compiled& compiled, const execute::LaunchArguments& arguments, const RunOptions& options) {
    Run r;
    r.kernel = compiled.name;
    r.computed_by = "simulator (" + compiled.chip->name + ")";
    r.block_dim = options.block_dim;
    r.strictness = options.strictness;
    r.order = options.order;
    r.launch = check::check_launch(*compiled.kernel(), *compiled.chip, options.block_dim);
    if (has_errors(r.launch)) {
        r.outcome.status = execute::Status::refused;
        r.outcome.message = r.launch.front().message;
        r.outcome.at = r.launch.front().at;
        return r;
    }
    double begin = options.clock ? options.clock() : 0;
    std::optional<Snapshot> before;
    if (!options.hostile.empty() || options.strictness == Strictness::warn) before.emplace(arguments);
    r.outcome = execute::execute(*compiled.program, *compiled.chip, arguments, execute_options(options, options.order, options.record));
    const bool finished = r.outcome.status == execute::Status::done || r.outcome.status == execute::Status::race;
    if (finished && r.outcome.has_races() && r.outcome.statistics.operations <= exposable_operations) {
        // A refused run has left the user's memory alone, so it still is what the run began with.
        Snapshot kept = before ? *before : Snapshot(arguments), work = kept;
        expose(r, compiled, arguments, options, kept, work);
    }
    if (before && r.outcome.status == execute::Status::done)
        for (const execute::OrderPolicy& order : options.hostile) {
            if (order == options.order) continue;
            execute::LaunchArguments copy = before->copy(arguments);
            RunOptions quiet = options;
            execute::Outcome other = execute::execute(*compiled.program, *compiled.chip, copy, execute_options(quiet, order, false));
            HostileRun h{order, other.status, true, other.message};
            if (other.status == execute::Status::done) h.identical = before->equals_user_memory();
            r.hostile.push_back(std::move(h));
            if (other.status == execute::Status::interrupted) break;
        }
    if (options.clock) r.seconds = options.clock() - begin;
    return r;
}

SyntheticArguments synthetic_arguments(const ir::Kernel& kernel) {
    SyntheticArguments s;
    for (const ir::Param& p : kernel.params) {
        execute::Argument a;
        if (p.kind == ir::ParamKind::tensor) {
            std::int64_t elements = 1;
            for (const ir::Dim& d : p.dims) {
                if (d.dynamic) {
                    s.missing = p.name + " has sizes that only a launch gives";
                    return s;
                }
                a.shape.push_back(d.size);
                elements *= d.size;
            }
            std::int64_t bytes = isa::bytes(p.dtype, elements);
            if (bytes > (std::int64_t(1) << 28)) {
                s.missing = p.name + " is too large to predict without a launch";
                return s;
            }
            s.memory.emplace_back(std::size_t(bytes));
            a.buffer = {s.memory.back().data(), bytes};
        } else {
            s.missing = p.name + " is a value that only a launch gives";
            return s;
        }
        s.arguments.arguments.push_back(std::move(a));
    }
    return s;
}

} // namespace pto::driver

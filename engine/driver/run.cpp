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
    if (!options.hostile.empty()) before.emplace(arguments);
    r.outcome = execute::execute(*compiled.program, *compiled.chip, arguments, execute_options(options, options.order, options.record));
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

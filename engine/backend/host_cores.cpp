#include "engine/backend/host_cores.hpp"

#include "engine/backend/host_lanes.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <unistd.h>

namespace pto::backend {

// Orders are as weak as the chip's: a set releases and the wait that takes it acquires, and nothing else orders two cores. What is
// counted for the search for hangs is relaxed on purpose: ThreadSanitizer must not see an order that the kernel did not ask for.
constexpr int laps = 64; // sets of one id that may be under way; hardware counts to 15

/// One id of one receiving core. Each set has a place of its own: with one counter the first wait would be ordered behind later sets too.
struct Flag {
    std::atomic<std::int64_t> sets = 0;
    std::atomic<std::int64_t> places[laps] = {}; // number of the set that is there, from 1
    void set() {
        const std::int64_t n = sets.fetch_add(1, std::memory_order_relaxed);
        places[n % laps].store(n + 1, std::memory_order_release);
    }
};

struct HostLaunch::Block {
    Flag flags[3][64];                             // by receiving core: cube, vector 0, vector 1
    std::atomic<std::int64_t> vectors[64] = {};    // arrivals of mode 1
    alignas(64) char ssbuf[XPTO_SSBUF_BYTES] = {};
};

struct HostLaunch::Core : XptoCore {
    HostLaunch* launch = nullptr;
    Block* home = nullptr;
    std::string text, complaint;
    std::int64_t seen_all[3] = {}, seen_group[2][64] = {}, taken[64] = {};
    int last_mode[64] = {};
    std::atomic<const std::atomic<std::int64_t>*> waits_on = nullptr;
    std::atomic<std::int64_t> needs = 0;
    std::atomic<int> what = 0, id = 0; // what: 0 a flag, 1 a group, 2 all cores
    std::atomic<std::int64_t> steps = 0;
    std::atomic<bool> finished = false, failed = false;

    int place() const { return is_cube ? 0 : 1 + int(subblock); }
    std::string name() const { return (is_cube ? std::string("AIC") : "AIV" + std::to_string(subblock)) + " of block " + std::to_string(block); }

    /// Waits until `counter` has `least`.
    void wait(std::atomic<std::int64_t>& counter, std::int64_t least, int kind, int number) {
        for (int round = 0; counter.load(std::memory_order_acquire) < least; ++round) {
            if (round == 0) {
                needs.store(least, std::memory_order_relaxed);
                what.store(kind, std::memory_order_relaxed);
                id.store(number, std::memory_order_relaxed);
                waits_on.store(&counter, std::memory_order_relaxed);
            }
            if (round < 64) std::this_thread::yield();
            else usleep(round < 1000 ? 20 : 200);
        }
        waits_on.store(nullptr, std::memory_order_relaxed);
        steps.fetch_add(1, std::memory_order_relaxed);
    }
};

namespace {
int bounded(std::int32_t id) { return id & 63; }
} // namespace

const XptoHostTable HostLaunch::table = {
    XPTO_HOST_TABLE_VERSION,
    [](XptoCore* c, std::int32_t id) {
        Core& core = static_cast<Core&>(*c);
        // A cube core's ids from 16 on address the second vector core; what that core sets arrives at the cube as id + 16.
        bool second = id >= 16 && core.is_cube;
        int to = core.is_cube ? (second ? 2 : 1) : 0, as = core.is_cube ? (second ? id - 16 : id) : id + (core.subblock ? 16 : 0);
        core.home->flags[to][bounded(as)].set();
    },
    [](XptoCore* c, std::int32_t id) {
        Core& core = static_cast<Core&>(*c);
        const std::int64_t n = core.taken[bounded(id)]++;
        core.wait(core.home->flags[core.place()][bounded(id)].places[n % laps], n + 1, 0, id);
    },
    [](XptoCore* c, std::int32_t mode, std::int32_t id) {
        Core& core = static_cast<Core&>(*c);
        core.last_mode[bounded(id)] = mode;
        auto& arrivals = mode == 1 ? core.home->vectors[bounded(id)] : core.launch->m_kinds[core.is_cube ? 0 : 1][bounded(id)];
        arrivals.fetch_add(1, std::memory_order_acq_rel);
    },
    [](XptoCore* c, std::int32_t id) {
        Core& core = static_cast<Core&>(*c);
        int mode = core.last_mode[bounded(id)] == 1 ? 1 : 0;
        std::int64_t members = mode == 1 ? core.subblocks : core.launch->m_kind_size[core.is_cube ? 0 : 1];
        auto& arrivals = mode == 1 ? core.home->vectors[bounded(id)] : core.launch->m_kinds[core.is_cube ? 0 : 1][bounded(id)];
        core.wait(arrivals, members * ++core.seen_group[mode][bounded(id)], 1, id);
    },
    [](XptoCore* c, std::int32_t kind) {
        Core& core = static_cast<Core&>(*c);
        HostLaunch& l = *core.launch;
        std::int64_t members = kind == 0 ? std::int64_t(l.m_cores.size()) : l.m_kind_size[kind == 2 ? 0 : 1];
        l.m_all[kind].fetch_add(1, std::memory_order_acq_rel);
        core.wait(l.m_all[kind], members * ++core.seen_all[kind], 2, kind);
    },
    [](XptoCore* c, const char* text, std::size_t length) { static_cast<Core&>(*c).text.append(text, length); },
    lane_function, convert_lanes, sum_as_tree,
};

HostLaunch::HostLaunch(HostProgram cube, HostProgram vector, std::uint32_t blocks, std::vector<void*> arguments)
    : m_cube(cube), m_vector(vector), m_arguments(std::move(arguments)) {
    const bool mix = cube && vector;
    for (std::uint32_t b = 0; b < blocks; ++b) {
        m_blocks.push_back(std::make_unique<Block>());
        std::vector<Core*> here;
        for (int place = 0; place < 3; ++place) {
            if (place == 0 ? !cube : !vector || (place == 2 && !mix)) continue;
            auto core = std::make_unique<Core>();
            core->block = b;
            core->blocks = blocks;
            core->is_cube = place == 0;
            core->subblock = place == 2 ? 1 : 0;
            core->subblocks = mix ? 2 : 1;
            core->index = std::uint32_t(m_cores.size());
            core->table = &table;
            core->ssbuf = m_blocks.back()->ssbuf;
            core->launch = this;
            core->home = m_blocks.back().get();
            ++m_kind_size[place == 0 ? 0 : 1];
            here.push_back(core.get());
            m_cores.push_back(std::move(core));
        }
        for (Core* core : here)
            for (Core* peer : here) core->peers[peer->place()] = peer;
    }
    for (auto& core : m_cores) m_threads.emplace_back([this, c = core.get()] { play(*c); });
}

HostLaunch::~HostLaunch() {
    for (std::thread& t : m_threads)
        if (t.joinable()) t.join();
}

void HostLaunch::play(Core& core) {
    try {
        const HostProgram& program = core.is_cube ? m_cube : m_vector;
        program.prepare(&core);
        m_prepared.fetch_add(1, std::memory_order_acq_rel); // everybody's memories are there before anybody writes into them
        while (m_prepared.load(std::memory_order_acquire) < int(m_cores.size())) std::this_thread::yield();
        program.run(&core, m_arguments.data());
    } catch (const std::exception& e) {
        core.complaint = e.what();
        core.failed.store(true, std::memory_order_release);
    } catch (...) {
        core.complaint = "an exception";
        core.failed.store(true, std::memory_order_release);
    }
    core.finished.store(true, std::memory_order_release);
    m_finished.fetch_add(1, std::memory_order_acq_rel);
    // The thread's memories live as long as it does, and a core that is late may still write into them.
    while (m_finished.load(std::memory_order_acquire) < int(m_cores.size())) usleep(200);
}

bool HostLaunch::stuck() const {
    for (const auto& c : m_cores) {
        if (c->finished.load(std::memory_order_relaxed)) continue;
        const auto* counter = c->waits_on.load(std::memory_order_relaxed);
        if (!counter || counter->load(std::memory_order_relaxed) >= c->needs.load(std::memory_order_relaxed)) return false;
    }
    return true;
}

std::string HostLaunch::describe_waits() const {
    std::string out;
    for (const auto& c : m_cores) {
        if (c->finished.load(std::memory_order_relaxed)) continue;
        int what = c->what.load(std::memory_order_relaxed), id = c->id.load(std::memory_order_relaxed);
        out += (out.empty() ? "" : "; ") + c->name() + " waits for " +
               (what == 0 ? "cross-core id " + std::to_string(id) : what == 1 ? "the group of id " + std::to_string(id) : std::string("all cores"));
    }
    return out + ": no core is left that could set it";
}

HostLaunch::State HostLaunch::poll(std::int32_t milliseconds) {
    using clock = std::chrono::steady_clock;
    const auto until = clock::now() + std::chrono::milliseconds(milliseconds);
    auto checked = clock::now();
    for (;;) {
        if (m_finished.load(std::memory_order_acquire) == int(m_cores.size())) {
            for (std::thread& t : m_threads)
                if (t.joinable()) t.join();
            for (const auto& c : m_cores)
                if (c->failed) {
                    m_trouble = c->name() + ": " + c->complaint;
                    return State::stopped;
                }
            return State::done;
        }
        for (const auto& c : m_cores) // a core that stopped leaves the others waiting
            if (c->failed.load(std::memory_order_acquire)) {
                m_trouble = c->name() + ": " + c->complaint;
                return State::stopped;
            }
        if (clock::now() - checked > std::chrono::milliseconds(20)) {
            checked = clock::now();
            std::int64_t progress = 0;
            for (const auto& c : m_cores) progress += c->steps.load(std::memory_order_relaxed) + c->finished.load(std::memory_order_relaxed);
            m_still = stuck() && progress == m_last_progress ? m_still + 1 : 0;
            m_last_progress = progress;
            if (m_still >= 3) {
                m_trouble = describe_waits();
                return State::hang;
            }
        }
        if (clock::now() >= until) return State::running;
        usleep(200);
    }
}

std::string HostLaunch::printed() const {
    std::string out;
    for (const auto& c : m_cores) out += c->text;
    return out;
}

} // namespace pto::backend

#pragma once
/// The cores of a launch as threads of this process, for kernels that the user's C++ compiler has built against PTO-ISA's CPU simulator.
/// Flags between cores count as on the chip; within a core every instruction is done before the next one starts, so nothing here
/// says anything about the order of one core's pipes, or about time.

#include "share/xpto/host/xpto_host_table.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace pto::backend {

/// One core kind's program out of a shared library.
struct HostProgram {
    void (*prepare)(XptoCore*) = nullptr;
    void (*run)(XptoCore*, void** arguments) = nullptr;
    explicit operator bool() const { return run != nullptr; }
};

class HostLaunch {
  public:
    /// Starts one thread a core: per block one cube core and two vector cores when both programs are there, else one core of the kind there is.
    ///   in   arguments  pointers to the values of the entry's parameters; must outlive the launch
    HostLaunch(HostProgram cube, HostProgram vector, std::uint32_t blocks, std::vector<void*> arguments);
    ~HostLaunch();

    enum class State { running, done, hang, stopped };
    /// Waits up to `milliseconds`. After `hang` and `stopped` the threads that are left never end: the process must.
    State poll(std::int32_t milliseconds);
    /// Who waits for what, or what an instruction complained about.
    const std::string& trouble() const { return m_trouble; }
    /// What printf wrote, by block, core and sequence.
    std::string printed() const;
    std::size_t cores() const { return m_cores.size(); }

  private:
    struct Core;
    struct Block;
    static const XptoHostTable table;
    void play(Core& core);
    bool stuck() const;
    std::string describe_waits() const;

    HostProgram m_cube, m_vector;
    std::vector<void*> m_arguments;
    std::vector<std::unique_ptr<Block>> m_blocks;
    std::vector<std::unique_ptr<Core>> m_cores;
    std::vector<std::thread> m_threads;
    std::string m_trouble;
    std::atomic<std::int64_t> m_all[3] = {};                   // arrivals of sync_all, per kind
    std::atomic<std::int64_t> m_kinds[2][64] = {};             // arrivals of mode 0, per core kind and id
    std::int64_t m_kind_size[2] = {};
    std::atomic<int> m_prepared = 0, m_finished = 0;
    std::int64_t m_last_progress = -1;
    int m_still = 0;
};

} // namespace pto::backend

#pragma once
/// What ran, in columns: the input of timing. Written by execute, read by time and report; holds no values.

#include "engine/base/span.hpp"
#include "engine/isa/op_row.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace pto::execute {

/// How a record row takes part in synchronisation.
enum class SyncKind : std::uint8_t { none, flag_set, flag_wait, barrier, cross_set, cross_wait, sync_all, mutex_lock, mutex_unlock };

/// One instruction that a core issued to a pipe. 64 bytes; long runs hold tens of millions. What the work columns mean:
///   load, store      bytes of the window, row_bytes of one contiguous run in GM, gm_address, m x n elements
///   move, insert     bytes written in all (both AIVs together), m x n elements
///   matmul           m, n, k
///   vector tile op   m x n elements of the region worked on (of the source for reductions), bytes of its widest operand, row_bytes of one
///                    contiguous run in UB (= bytes when rows follow each other without a gap), ub
///   vector call      k = index into Record::calls
///   flag_set         pipe sets, sync_pipe will wait, sync_id;  flag_wait: pipe waits, sync_pipe has set
///   barrier          pipe is drained (Pipe::all: every pipe of the core)
///   cross_set/_wait  pipe, sync_mode (CrossCoreSyncMode), sync_id as written (0 to 15; UNICAST on the cube 0 to 31)
///   sync_all         pipe all, sync_mode (SyncCoreType)
///   mutex_*          pipe, sync_id
struct Row {
    std::int64_t gm_address = -1;     // first GM byte touched, for the cache model
    std::int64_t bytes = 0;
    std::int32_t site = 0;            // index into Record::sites
    std::int32_t task = -1;
    std::int32_t scalar_before = 0;   // scalar instructions issued since the previous row of this core
    std::int32_t m = 0, n = 0, k = 0;
    std::int32_t row_bytes = 0;
    std::uint32_t locks = 0;          // bit i: mutex id i is held around it (auto_mutex)
    std::uint16_t ub[3] = {0xFFFF, 0xFFFF, 0xFFFF}; // UB addresses / 32 of two sources and the destination; 0xFFFF none or unknown
    std::int16_t stage = -1;          // index into CoreRecord::stages
    std::int16_t sync_id = -1;
    isa::Pipe pipe = isa::Pipe::s;
    SyncKind sync = SyncKind::none;
    std::uint8_t sync_pipe = 0;       // isa::Pipe: the other pipe of a flag
    std::uint8_t sync_mode = 0;
    std::uint8_t phase = 0;           // unit flag of L0C: 0 none, 1 partial, 2 final (matmul and store from Acc)
    std::uint8_t spare = 0;
};
static_assert(sizeof(Row) == 64);

/// What is the same for every instance of an instruction.
struct Site {
    const isa::OpRow* op = nullptr;   // null for a vector call
    std::string name;                 // "matmul", vector function's name
    std::string timing;               // isa::timing_key: "path.acc_vec", "cube.fp16", "vector.add"; "vector_function"
    isa::DType dtype = isa::DType::fp32; // of the widest operand; matmul: of the left one
    Span at;
};

/// What one call of a vector function did: register operations by timing key ("reg.load", 64), sorted by key. Equal calls share one entry.
struct CallWork {
    std::vector<std::pair<std::string, std::int64_t>> counts;
    std::int64_t loops = 0;           // loop iterations executed
    bool operator==(const CallWork&) const = default;
};

struct CoreRecord {
    isa::Core core = isa::Core::cube;
    std::int32_t block = 0, subblock = 0;
    std::deque<Row> rows;             // issue order; in pieces, for a long run must not be copied to grow
    std::vector<std::string> stages;
};

struct Record {
    std::string kernel;
    std::int32_t block_num = 1;
    std::vector<Site> sites;
    std::vector<CallWork> calls;
    std::vector<CoreRecord> cores;
};

} // namespace pto::execute

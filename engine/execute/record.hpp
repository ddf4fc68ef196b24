#pragma once
/// What ran, in columns: the input of timing. Written by execute, read by time and report; holds no values.

#include "engine/base/span.hpp"
#include "engine/isa/op_row.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pto::execute {

/// How a record row takes part in synchronisation.
enum class SyncKind : std::uint8_t { none, flag_set, flag_wait, barrier, cross_set, cross_wait, sync_all, mutex_lock, mutex_unlock };

/// One instruction that a core issued to a pipe. 64 bytes or less; long runs hold tens of millions.
struct Row {
    std::int32_t site = 0;            // index into Record::sites
    std::int32_t task = -1;
    std::int32_t scalar_before = 0;   // scalar instructions issued since the previous row of this core
    std::int32_t m = 0, n = 0, k = 0; // work: matmul sizes, or rows, columns, inner count
    std::int64_t bytes = 0;           // bytes moved
    std::int32_t row_bytes = 0;       // length of one contiguous GM row (bandwidth depends on it)
    std::int16_t stage = -1;
    isa::Pipe pipe = isa::Pipe::s;
    SyncKind sync = SyncKind::none;
    std::uint8_t sync_pipe = 0;       // flag_set/flag_wait: the other pipe
    std::uint8_t sync_mode = 0;       // cross-core mode
    std::int16_t sync_id = -1;
    std::uint8_t lock_count = 0;
    std::uint8_t locks[4]{};          // mutex ids held around it
    std::int64_t gm_address = -1;     // first GM byte touched, for the cache model
};

/// What is the same for every instance of an instruction.
struct Site {
    const isa::OpRow* op = nullptr;   // null for a vector call
    std::string name;                 // "matmul", vector function's name
    std::string timing;               // key of the chip's row, refined by path and dtype: "move.acc_vec", "matmul.fp16"
    isa::DType dtype = isa::DType::fp32;
    Span at;
    std::vector<std::pair<std::string, std::int64_t>> vector_counts; // vector call: register operations by timing key, per call (when constant)
};

struct CoreRecord {
    isa::Core core = isa::Core::cube;
    std::int32_t block = 0, subblock = 0;
    std::vector<Row> rows;            // issue order
    std::vector<std::string> stages;
};

struct Record {
    std::string kernel;
    std::int32_t block_num = 1;
    std::vector<Site> sites;
    std::vector<CoreRecord> cores;
};

} // namespace pto::execute

#pragma once
/// What a timeline says, folded: where each pipe's time went, what decided the total, the pace, what a change would bring.

#include "engine/time/replay.hpp"

#include <functional>

namespace pto::time {

/// Of one pipe of one core. busy + paid + free + in_core is at most the total; the rest had nothing queued.
struct PipeUse {
    std::int32_t core = 0;
    isa::Pipe pipe = isa::Pipe::s;
    std::int64_t operations = 0;
    Ticks busy = 0;
    Ticks paid = 0, free = 0;   // waits for other cores, by whether they delayed the next operation
    Ticks in_core = 0;          // flags, locks, barriers and unit flags of its own core
    Ticks landed = 0;           // last byte visible
};
/// Pipes that ran something, in the order of isa::Pipe, core by core.
std::vector<PipeUse> pipe_use(const execute::Record& record, const Timeline& timeline);

/// The chain of rows that decided the total, earliest first: each started when the one before it ended or let it go.
std::vector<RowRef> critical_path(const execute::Record& record, const Timeline& timeline);
/// The same without the list, latest first.
void walk_critical_path(const execute::Record& record, const Timeline& timeline, const std::function<void(RowRef)>& step);

/// What sets the pace: the busiest pipe, and in it the stage and operation with the most time.
struct Bound {
    std::int32_t core = -1;
    isa::Pipe pipe = isa::Pipe::s;
    double share = 0;           // of the total
    std::string stage;          // empty outside stages
    std::string operation;
    double operation_share = 0; // of the pipe's busy time
};
Bound bound(const execute::Record& record, const Timeline& timeline);

/// Ticks from one task to the next once the pipeline is full: the mean over the middle tasks of when their last stage is done. -1 when
/// fewer than four tasks lie between fill and drain.
struct Pace {
    Ticks steady = -1;
    double spread_percent = 0;  // largest deviation of a middle task from the mean
    std::int64_t tasks = 0;
    /// The pace no schedule can beat: the largest busy time of one pipe for a task.
    Ticks floor = -1;
    std::int32_t floor_core = -1;
    isa::Pipe floor_pipe = isa::Pipe::s;
};
Pace pace(const execute::Record& record, const Timeline& timeline, std::int32_t block);

/// One question and its answer, in percent of the total (negative is faster).
struct WhatIf {
    Change change;
    std::string text;           // "20 % faster matmul"
    double percent = 0;
};
/// Asks for the operations and stages with the most busy time, `most` of each kind: how the total changes when they take 20 % less.
/// cost: one replay each.
std::vector<WhatIf> what_if(const execute::Record& record, const machine::Chip& chip, const Timeline& timeline, int most = 2);

/// How the total changes, in percent, when a ring has one slot more. cost: one replay.
double with_more_slots(const execute::Record& record, const machine::Chip& chip, const Timeline& timeline, const MoreSlots& more);

} // namespace pto::time

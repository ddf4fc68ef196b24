#pragma once
/// Private: the edits that turn the text of a kernel into its pipelined form.

#include "engine/rewrite/pieces.hpp"

#include <map>

namespace pto::rewrite {

struct KernelEdits {
    const pipeline::Model& model;
    Text text;
    std::vector<TextEdit> edits;

    void add(std::int32_t begin, std::int32_t end, std::string replacement, Span origin) { edits.push_back({begin, end, std::move(replacement), origin}); }
    void insert(std::int32_t at, std::string replacement, Span origin) { add(at, at, std::move(replacement), origin); }
};

/// Removes pipeline= from the decorator.
void remove_pipeline_keyword(KernelEdits& k);
/// Leaves only the taken branch of every constant `if`.
void edit_folded(KernelEdits& k);
/// x = g.next() between the loops becomes an index that travels. Pipelined loops only.
void edit_outer_picks(KernelEdits& k, const pipeline::Loop& loop);
/// Lines in front of the outer loop that start the counters of outer picks.
std::string outer_pick_counters(const pipeline::Model& model, const pipeline::Loop& loop, const std::string& indent);
/// One loop: declarations, prefire, body, drain.
void edit_loop(KernelEdits& k, const pipeline::Loop& loop, const schedule::LoopSchedule& schedule, const sync::LoopPlan& plan);

} // namespace pto::rewrite

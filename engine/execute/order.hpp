#pragma once
/// Order policies: which enabled event happens next. Source: design 3.

#include "engine/isa/enums.hpp"
#include "engine/program/program.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pto::execute {

/// A core of a launch: AIC of a block, or one of its AIVs.
struct CoreName {
    isa::Core kind = isa::Core::cube;
    std::int32_t block = 0, subblock = 0;
    auto operator<=>(const CoreName&) const = default;
};
/// "AIC", "AIV1", with the block when the launch has several: "block 3 AIV0".
std::string text(const CoreName& core, bool with_block = false);

struct OrderPolicy {
    enum class Kind : std::uint8_t {
        program, // the enabled event that is first in program order
        early,   // the named pipe moves whenever it can
        late,    // the named pipe moves only when nothing else can
        random,  // any enabled event, by a fixed generator from `seed`
    };
    Kind kind = Kind::program;
    isa::Core core = isa::Core::cube; // early, late: pipe of the cube core, or of AIV `subblock`
    std::int32_t subblock = 0;
    isa::Pipe pipe = isa::Pipe::s;
    std::uint64_t seed = 0;
    bool operator==(const OrderPolicy&) const = default;
};

/// "program", "late(AIV0.MTE3)", "random(7)".
std::string text(const OrderPolicy& order);
std::optional<OrderPolicy> parse_order(std::string_view text);
/// splitmix64: the same numbers on every machine.
std::uint64_t next_random(std::uint64_t& state);
/// Blocks in the order they start: as numbered for program and early(...), backwards for late(...), shuffled for random(seed). Nothing but
/// atomic additions and unordered accesses can see it.
std::vector<std::int32_t> block_order(const OrderPolicy& order, std::int32_t blocks);
/// The finite list of `hostile=all`: program, then early and late for every pipe the program uses.
std::vector<OrderPolicy> hostile_orders(const program::Program& program);

} // namespace pto::execute

#include "engine/execute/order.hpp"

#include "engine/execute/execute.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace pto::execute {

std::string text(const CoreName& core, bool with_block) {
    std::string s = with_block ? "block " + std::to_string(core.block) + " " : "";
    return s + (core.kind == isa::Core::cube ? "AIC" : "AIV" + std::to_string(core.subblock));
}

std::string text(const OrderPolicy& order) {
    const std::string pipe =
        (order.core == isa::Core::cube ? std::string("AIC") : "AIV" + std::to_string(order.subblock)) + "." +
        std::string(isa::name(order.pipe));
    switch (order.kind) {
    case OrderPolicy::Kind::program: return "program";
    case OrderPolicy::Kind::early: return "early(" + pipe + ")";
    case OrderPolicy::Kind::late: return "late(" + pipe + ")";
    case OrderPolicy::Kind::random: return "random(" + std::to_string(order.seed) + ")";
    }
    return "?";
}

std::optional<OrderPolicy> parse_order(std::string_view text) {
    OrderPolicy o;
    if (text == "program") return o;
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos || text.back() != ')') return std::nullopt;
    const std::string_view kind = text.substr(0, open), inside = text.substr(open + 1, text.size() - open - 2);
    if (kind == "random") {
        o.kind = OrderPolicy::Kind::random;
        auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), o.seed);
        return error == std::errc{} && end == inside.data() + inside.size() ? std::optional(o) : std::nullopt;
    }
    if (kind == "early")
        o.kind = OrderPolicy::Kind::early;
    else if (kind == "late")
        o.kind = OrderPolicy::Kind::late;
    else
        return std::nullopt;
    const std::size_t dot = inside.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view core = inside.substr(0, dot);
    if (core == "AIC")
        o.core = isa::Core::cube;
    else if (core == "AIV0" || core == "AIV1") {
        o.core = isa::Core::vector;
        o.subblock = core == "AIV1";
    } else
        return std::nullopt;
    const auto pipe = isa::find_enum("PipeType", inside.substr(dot + 1));
    if (!pipe || pipe->as<isa::Pipe>() == isa::Pipe::all) return std::nullopt;
    o.pipe = pipe->as<isa::Pipe>();
    return o;
}

std::uint64_t next_random(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

std::vector<std::int32_t> block_order(const OrderPolicy& order, std::int32_t blocks) {
    std::vector<std::int32_t> out(std::size_t(std::max(blocks, 0)));
    std::iota(out.begin(), out.end(), 0);
    if (order.kind == OrderPolicy::Kind::late) std::reverse(out.begin(), out.end());
    if (order.kind == OrderPolicy::Kind::random) {
        std::uint64_t state = ~order.seed; // other numbers than those that choose pipes
        for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[next_random(state) % i]);
    }
    return out;
}

std::vector<OrderPolicy> hostile_orders(const program::Program& program) {
    std::vector<OrderPolicy> out(1);
    for (const program::CoreCode& core : program.cores) {
        std::uint32_t used = 1u << unsigned(isa::Pipe::s);
        for (const program::Instr& i : core.code) {
            if (i.kind != program::InstrKind::issue) continue;
            if (auto* op = std::get_if<ir::Op>(&i.stmt->what))
                used |= 1u << unsigned(op->pipe);
            else
                used |= 1u << unsigned(isa::Pipe::v);
        }
        const int copies = core.core == isa::Core::vector && program.kernel->is_mix() ? 2 : 1;
        for (int sub = 0; sub < copies; ++sub)
            for (int pipe = 0; pipe < int(isa::Pipe::all); ++pipe)
                if (used >> pipe & 1)
                    for (auto kind : {OrderPolicy::Kind::early, OrderPolicy::Kind::late})
                        out.push_back({kind, core.core, sub, isa::Pipe(pipe), 0});
    }
    return out;
}

std::string_view name(Status s) {
    switch (s) {
    case Status::done: return "done";
    case Status::hang: return "hang";
    case Status::race: return "race";
    case Status::out_of_range: return "out of range";
    case Status::refused: return "refused";
    case Status::interrupted: return "interrupted";
    case Status::limit: return "limit";
    }
    return "?";
}

} // namespace pto::execute

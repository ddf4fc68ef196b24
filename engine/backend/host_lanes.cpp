#include "engine/backend/host_lanes.hpp"

#ifndef XPTO_WITHOUT_LANES // a worker under a sanitizer is built from this folder alone
#include "engine/execute/numerics/cast.hpp"
#include "engine/execute/numerics/reduce.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace pto::backend {
namespace {

using isa::LaneFn;
constexpr std::array<std::pair<std::string_view, LaneFn>, 36> functions = {{
    {"add", LaneFn::add}, {"sub", LaneFn::sub}, {"mul", LaneFn::mul}, {"div", LaneFn::div}, {"max", LaneFn::max}, {"min", LaneFn::min},
    {"bit_and", LaneFn::bit_and}, {"bit_or", LaneFn::bit_or}, {"bit_xor", LaneFn::bit_xor}, {"bit_not", LaneFn::bit_not}, {"shl", LaneFn::shl}, {"shr", LaneFn::shr},
    {"neg", LaneFn::neg}, {"abs", LaneFn::abs}, {"relu", LaneFn::relu}, {"exp", LaneFn::exp}, {"log", LaneFn::log}, {"log2", LaneFn::log2}, {"log10", LaneFn::log10},
    {"sqrt", LaneFn::sqrt}, {"recip", LaneFn::recip}, {"rsqrt", LaneFn::rsqrt}, {"mul_add_dst", LaneFn::mul_add_dst}, {"axpy", LaneFn::axpy},
    {"mul_dst_add", LaneFn::mul_dst_add}, {"leaky_relu", LaneFn::leaky_relu}, {"prelu", LaneFn::prelu}, {"abs_sub", LaneFn::abs_sub}, {"exp_sub", LaneFn::exp_sub},
    {"exp_dif", LaneFn::exp_dif}, {"eq", LaneFn::eq}, {"ne", LaneFn::ne}, {"lt", LaneFn::lt}, {"le", LaneFn::le}, {"gt", LaneFn::gt}, {"ge", LaneFn::ge},
}};

} // namespace

const void* lane_function(std::int32_t arity, const char* function, const char* type) {
    const auto t = isa::find_dtype(type);
    if (!t) return nullptr;
    for (const auto& [name, fn] : functions)
        if (name == function) {
            switch (arity) {
            case 1: return reinterpret_cast<const void*>(numerics::unary_kernel(fn, *t));
            case 2: return reinterpret_cast<const void*>(numerics::binary_kernel(fn, *t));
            case 3: return reinterpret_cast<const void*>(numerics::ternary_kernel(fn, *t, true));
            case 4: return reinterpret_cast<const void*>(numerics::compare_kernel(fn, *t));
            }
        }
    return nullptr;
}

std::int32_t convert_lanes(const char* from, const void* source, const char* to, void* result, std::size_t n, const char* rounding, std::int32_t saturate) {
    using M = isa::VfRoundMode;
    const auto a = isa::find_dtype(from), b = isa::find_dtype(to);
    if (!a || !b) return 0;
    const std::string_view word = rounding;
    const M mode = word == "A" ? M::round : word == "F" ? M::floor : word == "C" ? M::ceil : word == "Z" ? M::trunc : word == "O" ? M::odd : word == "H" ? M::hybrid : M::rint;
    numerics::cast_lanes(*a, source, *b, result, n, numerics::astype_rule(*a, *b, mode, saturate ? isa::SaturateMode::on : isa::SaturateMode::off));
    return 1;
}

float sum_as_tree(const float* values, std::size_t n) { return numerics::tree_sum(values, n, n); }

} // namespace pto::backend
#else
namespace pto::backend {
const void* lane_function(std::int32_t, const char*, const char*) { return nullptr; }
std::int32_t convert_lanes(const char*, const void*, const char*, void*, std::size_t, const char*, std::int32_t) { return 0; }
float sum_as_tree(const float*, std::size_t) { return 0; }
} // namespace pto::backend
#endif

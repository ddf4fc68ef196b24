#include "engine/execute/numerics/reference.hpp"

#include <cmath>
#include <vector>

namespace pto::numerics::reference {
namespace {

using isa::LaneFn;
using Wide = __int128;

Wide value_of(DType t, std::uint64_t pattern) {
    const int shift = 64 - isa::bits(t);
    return isa::is_signed_int(t) ? Wide(std::int64_t(pattern << shift) >> shift) : Wide(pattern);
}
std::uint64_t pattern_of(DType t, Wide v) {
    return std::uint64_t(v) & (isa::bits(t) == 64 ? ~0ull : (1ull << isa::bits(t)) - 1);
}

std::optional<std::uint64_t> int_lane(LaneFn fn, DType t, std::uint64_t pa, std::uint64_t pb, std::uint64_t pc) {
    const Wide a = value_of(t, pa), b = value_of(t, pb), c = value_of(t, pc);
    auto wrap = [&](Wide v) { return value_of(t, pattern_of(t, v)); };
    auto positive = [](Wide v) { return v > 0 ? v : Wide(0); };
    auto size = [](Wide v) { return v < 0 ? -v : v; };
    const bool is_signed = isa::is_signed_int(t);
    const Wide width = isa::bits(t);
    switch (fn) {
    case LaneFn::copy: return pa;
    case LaneFn::add: return pattern_of(t, a + b);
    case LaneFn::sub: return pattern_of(t, a - b);
    case LaneFn::mul: return pattern_of(t, Wide(std::uint64_t(a) * std::uint64_t(b)));
    case LaneFn::div: return pattern_of(t, b == 0 ? 0 : a / b);
    case LaneFn::rem: return pattern_of(t, b == 0 ? 0 : a % b);
    case LaneFn::max: return pattern_of(t, a > b ? a : b);
    case LaneFn::min: return pattern_of(t, a < b ? a : b);
    case LaneFn::bit_and: return pa & pb;
    case LaneFn::bit_or: return pa | pb;
    case LaneFn::bit_xor: return pa ^ pb;
    case LaneFn::bit_not: return pattern_of(t, ~a);
    case LaneFn::shl: return pattern_of(t, b < 0 || b >= width ? 0 : Wide(std::uint64_t(a) << int(b)));
    case LaneFn::shr: return pattern_of(t, b < 0 || b >= width ? (a < 0 ? -1 : 0) : a >> int(b));
    case LaneFn::neg: return pattern_of(t, -a);
    case LaneFn::abs: return pattern_of(t, size(a));
    case LaneFn::relu: return pattern_of(t, positive(a));
    case LaneFn::add_relu: return pattern_of(t, positive(wrap(a + b)));
    case LaneFn::sub_relu: return pattern_of(t, positive(wrap(a - b)));
    case LaneFn::abs_sub:
        if (!is_signed) return std::nullopt;
        return pattern_of(t, size(wrap(a - b)));
    case LaneFn::addc: return pattern_of(t, a + b + c);
    case LaneFn::subc: return pattern_of(t, a - b + c);
    case LaneFn::mul_add_dst:
    case LaneFn::mul_dst_add:
    case LaneFn::fused_mul_add:
    case LaneFn::axpy: return pattern_of(t, Wide(std::uint64_t(a) * std::uint64_t(b)) + c);
    case LaneFn::fused_mul_add_relu:
        return pattern_of(t, positive(wrap(Wide(std::uint64_t(a) * std::uint64_t(b)) + c)));
    case LaneFn::eq: return a == b;
    case LaneFn::ne: return a != b;
    case LaneFn::lt: return a < b;
    case LaneFn::le: return a <= b;
    case LaneFn::gt: return a > b;
    case LaneFn::ge: return a >= b;
    default: return std::nullopt;
    }
}

} // namespace

void matmul(float* c, const float* a, const float* b, std::int64_t m, std::int64_t n, std::int64_t k, bool accumulate) {
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            float p = 0.0f;
            for (std::int64_t x = 0; x < k; ++x) p = std::fma(a[i * k + x], b[x * n + j], p);
            c[i * n + j] = canonical(accumulate ? c[i * n + j] + p : p);
        }
}

std::optional<std::uint64_t> lane(LaneFn fn, DType t, std::uint64_t pa, std::uint64_t pb, std::uint64_t pc,
                                  bool fused) {
    if (t != DType::fp32 && t != DType::fp16 && t != DType::bf16) {
        if (t == DType::boolean) t = DType::uint8;
        return isa::is_int(t) && isa::bits(t) >= 8 ? int_lane(fn, t, pa, pb, pc) : std::nullopt;
    }
    const double a = double(decode(t, std::uint32_t(pa))), b = double(decode(t, std::uint32_t(pb))),
                 c = double(decode(t, std::uint32_t(pc)));
    auto rounded = [&](double v) { return std::uint64_t(encode(t, v)); };
    auto kept = [&](double v) { return double(decode(t, encode(t, v))); };
    auto single = [&](double v) {
        return std::uint64_t(encode(t, double(decode(DType::fp32, encode(DType::fp32, v)))));
    }; // through fp32
    auto flush = [](double v) { return std::abs(v) < 0x1p-126 ? std::copysign(0.0, v) : v; };
    auto larger = [](double x, double y) {
        return x != x || y != y ? std::nan("") : x == y ? (std::signbit(x) ? y : x) : x > y ? x : y;
    };
    auto smaller = [](double x, double y) {
        return x != x || y != y ? std::nan("") : x == y ? (std::signbit(x) ? x : y) : x < y ? x : y;
    };
    auto logarithm = [&](double v) { return double(decode(DType::fp32, encode(DType::fp32, std::log(flush(v))))); };
    switch (fn) {
    case LaneFn::copy: return pa;
    // Sums, differences and products of 24-bit values rounded to double first are still right for 24 bits: 53 >= 2 * 24
    // + 2.
    case LaneFn::add: return rounded(a + b);
    case LaneFn::sub: return rounded(a - b);
    case LaneFn::mul: return rounded(a * b);
    case LaneFn::div: return rounded(flush(a) / flush(b));
    case LaneFn::rem: return rounded(std::fmod(a, b));
    case LaneFn::max: return rounded(larger(a, b));
    case LaneFn::min: return rounded(smaller(a, b));
    case LaneFn::neg: return rounded(-a);
    case LaneFn::abs: return rounded(std::abs(a));
    case LaneFn::relu: return rounded(larger(a, 0.0));
    case LaneFn::exp: return single(std::exp(a));
    case LaneFn::log: return single(std::log(flush(a)));
    case LaneFn::log2: return single(logarithm(a) * double(1.4426950408889634f));
    case LaneFn::log10: return single(logarithm(a) * double(0.4342944819032518f));
    case LaneFn::sqrt: return rounded(std::sqrt(flush(a)));
    case LaneFn::recip: return rounded(1.0 / flush(a));
    case LaneFn::rsqrt: return single(1.0 / double(decode(DType::fp32, encode(DType::fp32, std::sqrt(flush(a))))));
    case LaneFn::truncate: return rounded(std::trunc(a));
    case LaneFn::add_relu: return rounded(larger(kept(a + b), 0.0));
    case LaneFn::sub_relu: return rounded(larger(kept(a - b), 0.0));
    case LaneFn::abs_sub: return rounded(std::abs(a - b));
    case LaneFn::exp_sub:
    case LaneFn::exp_dif: return single(std::exp(double(decode(DType::fp32, encode(DType::fp32, a - b)))));
    case LaneFn::leaky_relu:
    case LaneFn::prelu: return rounded(a >= 0 ? a : a * b);
    case LaneFn::addc: return rounded(kept(a + b) + c);
    case LaneFn::subc: return rounded(kept(a - b) + c);
    case LaneFn::mul_add_dst:
    case LaneFn::mul_dst_add:
    case LaneFn::fused_mul_add:
    case LaneFn::axpy:
    case LaneFn::fused_mul_add_relu: {
        double v = kept(a * b) + c;
        if (fused) {
            // Exact in long double only on some machines; std::fma in double, then nearest even once more, is right
            // unless the double result is a tie of the narrow type by accident. Avoid that by rounding the double to
            // odd.
            v = std::fma(a, b, c);
            const double p = a * b, s = p + c, part = s - p, lost = (p - (s - part)) + (c - part);
            if (std::isfinite(s) && lost != 0.0 && (std::bit_cast<std::uint64_t>(s) & 1) == 0)
                v = std::nextafter(s, lost > 0 ? HUGE_VAL : -HUGE_VAL);
        }
        if (fn == LaneFn::fused_mul_add_relu) v = larger(fused ? v : kept(v), 0.0);
        return rounded(v);
    }
    case LaneFn::eq: return a == b;
    case LaneFn::ne: return a != b;
    case LaneFn::lt: return a < b;
    case LaneFn::le: return a <= b;
    case LaneFn::gt: return a > b;
    case LaneFn::ge: return a >= b;
    default: return std::nullopt;
    }
}

float row_sum(const float* x, std::size_t n) {
    float total = 0.0f;
    for (std::size_t first = 0; first < n; first += 64) {
        std::vector<float> level(64, 0.0f);
        for (std::size_t i = first; i < n && i < first + 64; ++i) level[i - first] = x[i];
        while (level.size() > 1) {
            std::vector<float> next;
            for (std::size_t i = 0; i < level.size(); i += 2) next.push_back(level[i] + level[i + 1]);
            level = next;
        }
        total = total + level[0];
    }
    return canonical(total);
}

} // namespace pto::numerics::reference

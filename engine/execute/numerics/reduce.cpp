#include "engine/execute/numerics/reduce.hpp"

#include "engine/execute/numerics/convert.hpp"
#include "engine/execute/numerics/elementary.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

namespace pto::numerics {
namespace {

constexpr std::size_t most_lanes = 128;

bool lane_float(DType t) { return t == DType::fp32 || t == DType::fp16 || t == DType::bf16; }

float kept(DType t, float x) {
    return t == DType::fp16   ? fp16_to_fp32(fp32_to_fp16(x))
           : t == DType::bf16 ? bf16_to_fp32(fp32_to_bf16(x))
                              : canonical(x);
}
void write_float(DType t, float x, void* out) {
    const std::uint32_t bits = t == DType::fp16   ? fp32_to_fp16(x)
                               : t == DType::bf16 ? fp32_to_bf16(x)
                                                  : std::bit_cast<std::uint32_t>(canonical(x));
    std::memcpy(out, &bits, std::size_t(isa::bytes(t)));
}

template <class Op>
float tree(const float* x, std::size_t lanes, Op op) {
    float level[2][most_lanes / 2]; // two buffers, so that a level may be computed in any order
    for (std::size_t i = 0; i < lanes / 2; ++i) level[0][i] = op(x[2 * i], x[2 * i + 1]);
    int now = 0;
    for (std::size_t half = lanes / 4; half > 0; half /= 2, now = 1 - now)
        for (std::size_t i = 0; i < half; ++i) level[1 - now][i] = op(level[now][2 * i], level[now][2 * i + 1]);
    return level[now][0];
}

/// Largest or smallest of n >= 1 values; the order is free because NaN and the zeros have one answer each.
template <bool Largest>
float extreme(const float* x, std::size_t n) {
    constexpr std::size_t width = 16;
    float best[width];
    for (std::size_t j = 0; j < width; ++j) best[j] = x[j < n ? j : 0];
    std::size_t i = 0;
    for (; i + width <= n; i += width)
        for (std::size_t j = 0; j < width; ++j)
            best[j] = Largest ? max_fp32(best[j], x[i + j]) : min_fp32(best[j], x[i + j]);
    for (; i < n; ++i) best[0] = Largest ? max_fp32(best[0], x[i]) : min_fp32(best[0], x[i]);
    for (std::size_t j = 1; j < width; ++j) best[0] = Largest ? max_fp32(best[0], best[j]) : min_fp32(best[0], best[j]);
    return best[0];
}

/// The row as fp32 pieces of one chunk each.
template <class F>
void for_each_chunk(DType t, const void* row, std::size_t n, F&& f) {
    const std::size_t lanes = chunk_bytes / std::size_t(isa::bytes(t));
    float x[most_lanes];
    for (std::size_t i = 0; i < n; i += lanes) {
        const std::size_t some = std::min(lanes, n - i);
        to_fp32(t, static_cast<const std::byte*>(row) + i * std::size_t(isa::bytes(t)), x, some);
        f(x, some, lanes);
    }
}

bool float_row(LaneFn fn, DType t, const void* row, std::size_t n, void* out) {
    float total = fn == LaneFn::prod ? 1.0f : 0.0f;
    bool first = true;
    for_each_chunk(t, row, n, [&](float* x, std::size_t some, std::size_t lanes) {
        if (fn == LaneFn::sum || fn == LaneFn::prod) {
            std::fill(x + some, x + lanes, fn == LaneFn::sum ? 0.0f : 1.0f);
            if (fn == LaneFn::sum)
                total = kept(t, total + kept(t, tree(x, lanes, [](float a, float b) { return a + b; })));
            else
                total = kept(t, total * kept(t, tree(x, lanes, [](float a, float b) { return a * b; })));
            return;
        }
        const float best = fn == LaneFn::max ? extreme<true>(x, some) : extreme<false>(x, some);
        total = first ? best : fn == LaneFn::max ? max_fp32(total, best) : min_fp32(total, best);
        first = false;
    });
    write_float(t, total, out);
    return true;
}

template <class T>
void int_row(LaneFn fn, const T* x, std::size_t n, void* out) {
    std::uint64_t wide = fn == LaneFn::prod ? 1 : 0; // wrapping: the low bits do not depend on the order
    T best = x[0];
    for (std::size_t i = 0; i < n; ++i) {
        if (fn == LaneFn::sum)
            wide += std::uint64_t(x[i]);
        else if (fn == LaneFn::prod)
            wide *= std::uint64_t(x[i]);
        else
            best = fn == LaneFn::max ? std::max(best, x[i]) : std::min(best, x[i]);
    }
    if (fn == LaneFn::sum || fn == LaneFn::prod) best = T(wide);
    std::memcpy(out, &best, sizeof(T));
}

/// Calls f with a null pointer of the integer type; false for other types.
template <class F>
bool with_int(DType t, F&& f) {
    switch (t) {
    case DType::boolean:
    case DType::uint8: f(static_cast<const std::uint8_t*>(nullptr)); return true;
    case DType::int8: f(static_cast<const std::int8_t*>(nullptr)); return true;
    case DType::uint16: f(static_cast<const std::uint16_t*>(nullptr)); return true;
    case DType::int16: f(static_cast<const std::int16_t*>(nullptr)); return true;
    case DType::uint32: f(static_cast<const std::uint32_t*>(nullptr)); return true;
    case DType::int32: f(static_cast<const std::int32_t*>(nullptr)); return true;
    case DType::uint64: f(static_cast<const std::uint64_t*>(nullptr)); return true;
    case DType::index:
    case DType::int64: f(static_cast<const std::int64_t*>(nullptr)); return true;
    default: return false;
    }
}

template <class T>
T element(const void* base, std::int64_t byte_offset) {
    T x;
    std::memcpy(&x, static_cast<const std::byte*>(base) + byte_offset, sizeof(T));
    return x;
}

/// First index of the extreme among n elements `step` bytes apart; `value(i)` reads one.
template <class Value>
std::int32_t first_extreme(bool largest, std::size_t n, Value&& value) {
    std::int32_t at = 0;
    auto best = value(0);
    for (std::size_t i = 0; i < n; ++i) {
        const auto x = value(i);
        if (x != x) return std::int32_t(i);
        if (largest ? x > best : x < best) best = x, at = std::int32_t(i);
    }
    return at;
}

bool arg_strided(LaneFn fn, DType t, const void* base, std::size_t n, std::int64_t step, std::int32_t* index) {
    if (n == 0 || (fn != LaneFn::argmax && fn != LaneFn::argmin)) return false;
    const bool largest = fn == LaneFn::argmax;
    if (t == DType::fp32)
        *index = first_extreme(largest, n, [&](std::size_t i) { return element<float>(base, std::int64_t(i) * step); });
    else if (t == DType::fp16)
        *index = first_extreme(largest, n, [&](std::size_t i) {
            return fp16_to_fp32(element<std::uint16_t>(base, std::int64_t(i) * step));
        });
    else if (t == DType::bf16)
        *index = first_extreme(largest, n, [&](std::size_t i) {
            return bf16_to_fp32(element<std::uint16_t>(base, std::int64_t(i) * step));
        });
    else
        return with_int(t, [&]<class T>(const T*) {
            *index = first_extreme(largest, n, [&](std::size_t i) { return element<T>(base, std::int64_t(i) * step); });
        });
    return true;
}

/// Larger means earlier: descending values, NaN before everything.
float sort_key(DType t, const void* record) {
    return t == DType::fp32 ? element<float>(record, 0) : fp16_to_fp32(element<std::uint16_t>(record, 0));
}
bool before(float a, float b) { return a != a ? b == b : a > b; }

} // namespace

float tree_sum(const float* x, std::size_t n, std::size_t chunk_lanes) {
    float lanes[most_lanes] = {};
    std::copy_n(x, n, lanes);
    return tree(lanes, chunk_lanes, [](float a, float b) { return a + b; });
}

bool reduce_row(LaneFn fn, DType type, const void* row, std::size_t n, void* out) {
    if (n == 0 || (fn != LaneFn::sum && fn != LaneFn::prod && fn != LaneFn::max && fn != LaneFn::min)) return false;
    if (lane_float(type)) return float_row(fn, type, row, n, out);
    return with_int(type, [&]<class T>(const T*) { int_row(fn, static_cast<const T*>(row), n, out); });
}

bool arg_row(LaneFn fn, DType type, const void* row, std::size_t n, std::int32_t* index) {
    return arg_strided(fn, type, row, n, isa::bytes(type), index);
}

bool reduce_columns(LaneFn fn, DType type, const void* base, std::size_t rows, std::int64_t row_bytes, std::size_t cols,
                    void* out) {
    const LaneFn step = fn == LaneFn::sum ? LaneFn::add : fn == LaneFn::prod ? LaneFn::mul : fn;
    if (rows == 0 || (step != LaneFn::add && step != LaneFn::mul && step != LaneFn::max && step != LaneFn::min))
        return false;
    const BinaryKernel kernel = binary_kernel(step, type);
    if (kernel == nullptr) return false;
    const auto* from = static_cast<const std::byte*>(base);
    const std::size_t bytes = std::size_t(isa::bytes(type));
    unary_kernel(LaneFn::copy, type)(out, from, cols);
    alignas(64) std::byte pair[1024];
    const std::size_t piece = sizeof pair / bytes;
    for (std::size_t r = 1; r < rows;) {
        const std::byte* row = from + std::int64_t(r) * row_bytes;
        const bool paired = fn == LaneFn::sum && r + 1 < rows;
        for (std::size_t c = 0; c < cols; c += piece) {
            const std::size_t some = std::min(piece, cols - c);
            std::byte* to = static_cast<std::byte*>(out) + c * bytes;
            const std::byte* add = row + c * bytes;
            if (paired) {
                kernel(pair, add, add + row_bytes, some);
                add = pair;
            }
            kernel(to, to, add, some);
        }
        r += paired ? 2 : 1;
    }
    return true;
}

bool arg_columns(LaneFn fn, DType type, const void* base, std::size_t rows, std::int64_t row_bytes, std::size_t cols,
                 std::int32_t* indices) {
    for (std::size_t c = 0; c < cols; ++c)
        if (!arg_strided(fn, type, static_cast<const std::byte*>(base) + c * std::size_t(isa::bytes(type)), rows,
                         row_bytes, indices + c))
            return false;
    return true;
}

bool sort32(DType type, const void* values, const std::uint32_t* index, std::size_t n, void* records) {
    if (type != DType::fp32 && type != DType::fp16) return false;
    const std::size_t bytes = std::size_t(isa::bytes(type));
    auto* out = static_cast<std::byte*>(records);
    for (std::size_t first = 0; first < n; first += 32) {
        const std::size_t some = std::min<std::size_t>(32, n - first);
        std::array<float, 32> keys{};
        std::array<std::uint8_t, 32> order{};
        to_fp32(type, static_cast<const std::byte*>(values) + first * bytes, keys.data(), some);
        std::iota(order.begin(), order.end(), std::uint8_t(0));
        std::stable_sort(order.begin(), order.begin() + std::ptrdiff_t(some),
                         [&](std::uint8_t a, std::uint8_t b) { return before(keys[a], keys[b]); });
        for (std::size_t i = 0; i < some; ++i, out += record_bytes) {
            std::memset(out, 0, record_bytes);
            std::memcpy(out, static_cast<const std::byte*>(values) + (first + order[i]) * bytes, bytes);
            std::memcpy(out + 4, index + first + order[i], 4);
        }
    }
    return true;
}

std::size_t merge_records(DType type, const RecordList* lists, std::size_t list_count, std::size_t limit,
                          bool exhausted, void* out, std::size_t* taken) {
    std::fill_n(taken, list_count, 0);
    std::size_t written = 0;
    while (written < limit) {
        std::size_t best = list_count;
        bool ended = false;
        for (std::size_t l = 0; l < list_count; ++l) {
            if (taken[l] == lists[l].count) {
                ended = true;
                continue;
            }
            const auto* head = static_cast<const std::byte*>(lists[l].records) + taken[l] * record_bytes;
            if (best == list_count ||
                before(sort_key(type, head),
                       sort_key(type, static_cast<const std::byte*>(lists[best].records) + taken[best] * record_bytes)))
                best = l;
        }
        if (best == list_count || (ended && exhausted)) break;
        std::memcpy(static_cast<std::byte*>(out) + written * record_bytes,
                    static_cast<const std::byte*>(lists[best].records) + taken[best] * record_bytes, record_bytes);
        ++taken[best];
        ++written;
    }
    return written;
}

} // namespace pto::numerics

#pragma once
/// Typed ids: what points sideways in a tree is a small number with a type of its own.

#include <compare>
#include <cstdint>
#include <functional>

#define PTO_ID(Name)                                                                                                   \
    struct Name {                                                                                                      \
        std::int32_t index = -1;                                                                                       \
        constexpr bool valid() const { return index >= 0; }                                                            \
        constexpr auto operator<=>(const Name&) const = default;                                                       \
    }

namespace pto {

template <class... F> struct on : F... { using F::operator()...; };
template <class... F> on(F...) -> on<F...>;

} // namespace pto

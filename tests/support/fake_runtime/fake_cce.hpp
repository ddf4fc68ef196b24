#pragma once
// The compiler's own words, enough to compile a launcher for the fake runtime with a host compiler.
#include <cstdint>
#include <type_traits>
#define __global__
#define AICORE
#define __gm__
using half = _Float16;
using bfloat16_t = std::uint16_t;
extern "C" void xpto_fake_launch(std::uint32_t blocks, void* stream, void* first, void* last);

template <class... A> void fake_launch(std::uint32_t blocks, void* stream, A... arguments) {
    void *first = nullptr, *last = nullptr;
    auto look = [&](auto value) {
        if constexpr (std::is_pointer_v<decltype(value)>) {
            if (!first) first = (void*)value;
            last = (void*)value;
        }
    };
    (look(arguments), ...);
    xpto_fake_launch(blocks, stream, first, last);
}

#pragma once
/// What the library's simulator leaves to its user: builtins of the device compiler, unqualified min and max, one form of an instruction.
#if defined(__CPU_SIM)
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "pto/declared/builtins.hpp"

template <class T> T min(T, T);
template <class T> T max(T, T);
#define __ssbuf__ volatile
#define __simt_vf__
#define __launch_bounds__(n)
namespace pto {
template <class D, class Scratch, class T, int Descending> void TCI_IMPL(D& d, T start, Scratch&) { TCI_IMPL<D, T, Descending>(d, start); }
} // namespace pto
#endif

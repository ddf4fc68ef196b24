#pragma once
/// The engine's lane functions for kernels that were compiled for the host (share/xpto/host/xpto_host_table.h says what each is).

#include <cstddef>
#include <cstdint>

namespace pto::backend {

const void* lane_function(std::int32_t arity, const char* function, const char* type);
std::int32_t convert_lanes(const char* from, const void* source, const char* to, void* result, std::size_t n, const char* rounding, std::int32_t saturate);
float sum_as_tree(const float* values, std::size_t n);

} // namespace pto::backend

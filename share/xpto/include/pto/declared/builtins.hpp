#pragma once
/// Builtins of the device compiler that generated C++ calls and the library's own headers do not declare, for its simulator either.
/// pipe_t is declared before: here by scalar_unit.hpp, with the library by its headers.

#include <concepts>
#include <cstddef>
#include <cstdint>

void get_buf(pipe_t, std::int64_t id, int mode);
void rls_buf(pipe_t, std::int64_t id, int mode);
void set_intra_block(pipe_t, std::int64_t id);
void wait_intra_block(pipe_t, std::int64_t id);
void ffts_cross_core_sync(pipe_t, std::uint64_t message);
std::uint64_t getFFTSMsg(int mode, std::int64_t id);
void wait_flag_dev(std::int64_t id);
void wait_flag_dev(pipe_t, std::int64_t id);
void set_mask_count();
void set_atomic_f32();
void set_atomic_f16();
void set_atomic_bf16();
void set_atomic_s32();
void set_atomic_s16();
void set_atomic_s8();
void set_atomic_add();
void set_atomic_none();
std::int64_t get_ar();
void copy_data_align64(std::uint8_t* to, std::uint8_t* from, std::size_t bytes);
void copy_gm_to_ubuf_align_v2(std::uint8_t* to, std::uint8_t* from, int sid, int bursts, std::size_t bytes, int left, int right, bool select, int cache, int source_stride, int target_stride);

struct dim3_declared { std::uint32_t x, y, z; };
inline dim3_declared threadIdx, blockDim, blockIdx, gridDim;

namespace cce {
struct dim3 { std::uint32_t x, y, z; };
template <auto F, class... A> requires std::invocable<decltype(F), A...> void async_invoke(dim3, A...);
} // namespace cce

#pragma once
/// What the library's simulator leaves to its user: builtins of the device compiler, and unqualified min and max.
#if defined(__CPU_SIM)
#include <cstdint>
#include <pto/pto-inst.hpp>

void get_buf(pipe_t, std::int64_t, int);
void rls_buf(pipe_t, std::int64_t, int);
void set_intra_block(pipe_t, std::int64_t);
void wait_intra_block(pipe_t, std::int64_t);
void ffts_cross_core_sync(pipe_t, std::uint64_t);
std::uint64_t getFFTSMsg(int, std::int64_t);
void wait_flag_dev(pipe_t, std::int64_t);
void wait_flag_dev(std::int64_t);
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
void copy_data_align64(std::uint8_t*, const std::uint8_t*, std::size_t);
void copy_gm_to_ubuf_align_v2(std::uint8_t*, std::uint8_t*, int, int, std::size_t, int, int, bool, int, int, int);
template <class T> T min(T, T);
template <class T> T max(T, T);
#define __ssbuf__ volatile
#define __simt_vf__
#define __launch_bounds__(n)
struct XyzDeclared { std::uint32_t x, y, z; };
inline XyzDeclared threadIdx;
namespace cce {
struct dim3 { std::uint32_t x, y, z; };
template <auto F, class... A> void async_invoke(dim3, A...);
} // namespace cce
#endif

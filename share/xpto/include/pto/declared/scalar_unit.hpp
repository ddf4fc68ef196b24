#pragma once
/// Flags, barriers, locks, queries, cache, element copies and prints of the scalar unit. Source: codegen 1.8 to 1.10, 2.4, 2.5.

#include "tiles.hpp"

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
enum class cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

#include "builtins.hpp"

void set_flag(pipe_t set, pipe_t wait, event_t);
void wait_flag(pipe_t set, pipe_t wait, event_t);
void pipe_barrier(pipe_t);
void set_ffts_base_addr(unsigned long);
void set_mask_norm();
void set_vector_mask(std::uint64_t high, std::uint64_t low);
std::uint64_t get_ctrl();
void set_ctrl(std::uint64_t);
std::uint64_t sbitset0(std::uint64_t, int bit);
std::uint64_t sbitset1(std::uint64_t, int bit);
std::int64_t get_block_idx();
std::int64_t get_block_num();
std::int64_t get_subblockid();
std::int64_t get_subblockdim();
void dcci(void*, cache_line_t);
void dcci(void*, cache_line_t, dcci_dst_t);
template <pto::Number T> T min(T, T);
template <pto::Number T> T max(T, T);

namespace pto {
template <SyncCoreType> void SYNCALL();
template <SyncAllMode M, SyncCoreType, Global G> requires(M == SyncAllMode::Soft) void SYNCALL(G& workspace, std::int32_t used_cores);
} // namespace pto

namespace cce {
template <class T> concept Printable = std::is_arithmetic_v<T> || std::is_pointer_v<T>;
template <Printable... A> requires(sizeof...(A) <= 8) void printf(const char* format, A...);
} // namespace cce

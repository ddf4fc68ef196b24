#pragma once
/// Generated kernels on the host, over PTO-ISA's CPU simulator: what that simulator does not declare, and what it does differently
/// from the chip. Written from scratch; the simulator's headers come from the user (PTO_ISA_HOME).
///   cores    one thread a core; one shared library a core kind (__DAV_CUBE__ or __DAV_VEC__ is defined, never both)
///   tiles    a destination in another core's memory (Acc->Vec, Vec->Mat) is re-based into that core's buffers
///   flags    between cores they count; within a core everything is done in program order, so its flags, barriers and locks are empty
/// Values follow the meaning of the operations in the engine (engine/execute) wherever the two simulators could differ.

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <pto/pto-inst.hpp>

#include "xpto_host_table.h"

#ifndef EVENT_ID8
#define EVENT_ID8 8
#define EVENT_ID9 9
#define EVENT_ID10 10
#define EVENT_ID11 11
#define EVENT_ID12 12
#define EVENT_ID13 13
#define EVENT_ID14 14
#define EVENT_ID15 15
#endif
#ifndef __ssbuf__
#define __ssbuf__
#endif
#ifndef __VEC_SCOPE__
#define __VEC_SCOPE__
#endif

namespace xpto_host {

inline thread_local XptoCore* core = nullptr;
inline thread_local bool atomic_add = false;

inline void prepare(XptoCore* c) {
    core = c;
    pto::NPUMemoryModel& memory = pto::NPUMemoryModel::Instance();
    memory.Reset();
    memory.Initialize(pto::NPUArch::A5);
    pto::cpu_sim::set_execution_context(c->block, c->subblock, c->subblocks);
    c->ub = memory.GetUBBase();
    c->l1 = memory.GetL1Base();
}

inline uint32_t block_idx() { return core->block; }
inline uint32_t block_num() { return core->blocks; }
inline uint32_t subblock_id() { return core->subblock; }
inline uint32_t subblock_dim() { return core->subblocks; }

template <pto::SyncCoreType Kind> void sync_all() {
    core->table->sync_all(core, Kind == pto::SyncCoreType::Mix ? 0 : Kind == pto::SyncCoreType::AIVOnly ? 1 : 2);
}

/// The software form, with its work areas: its meaning is the same.
template <pto::SyncAllMode, pto::SyncCoreType Kind, class... Areas> void sync_all(Areas&&...) { sync_all<Kind>(); }

/// Destinations of a cache line, by the names the chip's compiler has; caches are not simulated.
struct CacheDestination {
    static constexpr int CACHELINE_ALL = 0, CACHELINE_UB = 1, CACHELINE_OUT = 2, CACHELINE_ATOMIC = 3;
};

// Products with a phase: the phase is the accumulator's unit flag, which orders two pipes of one core.
template <pto::AccPhase, class D, class A, class L, class R> void matmul_acc(D& d, A& acc, L& l, R& r) { pto::TMATMUL_ACC(d, acc, l, r); }
template <class D, class A, class L, class R> void matmul_acc(D& d, A& acc, L& l, R& r) { pto::TMATMUL_ACC(d, acc, l, r); }
template <pto::AccPhase, class D, class L, class R, class B> void matmul_bias(D& d, L& l, R& r, B& bias) { pto::TMATMUL_BIAS(d, l, r, bias); }
template <class D, class L, class R, class B> void matmul_bias(D& d, L& l, R& r, B& bias) { pto::TMATMUL_BIAS(d, l, r, bias); }

/// Counting up along one row; the scratch is the card's matter.
template <class D, class Scratch, class T, int Descending> void count_row(D& d, T start, Scratch&) { pto::TCI<D, T, Descending>(d, start); }

inline uint32_t* shared_words(uint64_t offset) {
    if (offset >= XPTO_SSBUF_BYTES) throw std::out_of_range("an SSBUF offset beyond the buffer");
    return reinterpret_cast<uint32_t*>(core->ssbuf + offset);
}

/// A pointer of generated code: below a megabyte it is an offset in UB, which the simulator's buffers stand for.
template <class T> T* resolved(T* at) {
    auto address = reinterpret_cast<uintptr_t>(at);
    return address < (1u << 20) ? reinterpret_cast<T*>(core->ub + address) : at;
}

} // namespace xpto_host

// ------------------------------------------------------------------ names the simulator lacks

inline void get_buf(pipe_t, int64_t, int64_t) {}
inline void rls_buf(pipe_t, int64_t, int64_t) {}
inline void set_intra_block(pipe_t, int64_t id) { xpto_host::core->table->cross_set(xpto_host::core, int32_t(id)); }
inline void wait_intra_block(pipe_t, int64_t id) { xpto_host::core->table->cross_wait(xpto_host::core, int32_t(id)); }
inline uint64_t getFFTSMsg(int64_t mode, int64_t id) { return uint64_t(mode) << 32 | uint64_t(id); }
inline void ffts_cross_core_sync(pipe_t, uint64_t message) {
    int32_t mode = int32_t(message >> 32), id = int32_t(message);
    if (mode >= 2) { // both vector cores of the block, or the cube
        xpto_host::core->table->cross_set(xpto_host::core, id);
        if (mode == 2 && xpto_host::core->is_cube) xpto_host::core->table->cross_set(xpto_host::core, id + 16);
    } else {
        xpto_host::core->table->group_set(xpto_host::core, mode, id);
    }
}
inline void wait_flag_dev(pipe_t, int64_t id) { xpto_host::core->table->group_wait(xpto_host::core, int32_t(id)); }
inline void set_ffts_base_addr(uint64_t) {}
inline void set_mask_count() {}
inline void set_atomic_f32() {}
inline void set_atomic_f16() {}
inline void set_atomic_bf16() {}
inline void set_atomic_s32() {}
inline void set_atomic_s16() {}
inline void set_atomic_s8() {}
inline void set_atomic_add() { xpto_host::atomic_add = true; }
inline void set_atomic_none() { xpto_host::atomic_add = false; }

inline void copy_data_align64(uint8_t* to, const uint8_t* from, uint64_t bytes) { std::memcpy(to, xpto_host::resolved(from), bytes); }
template <class... Rest> void copy_gm_to_ubuf_align_v2(uint8_t* to, const uint8_t* from, Rest... rest) {
    const uint64_t values[] = {uint64_t(rest)...}; // sid, bursts, bytes of a burst, ...
    std::memcpy(xpto_host::resolved(to), from, values[1] * values[2]);
}

template <class T> T min(T a, T b) { return b < a ? b : a; }
template <class T> T max(T a, T b) { return a < b ? b : a; }

namespace xpto_cce {
inline int printf(const char* format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    std::string text(size_t(std::vsnprintf(nullptr, 0, format, arguments)) + 1, '\0');
    va_end(arguments);
    std::vsnprintf(text.data(), text.size(), format, again);
    va_end(again);
    xpto_host::core->table->write(xpto_host::core, text.data(), text.size() - 1);
    return int(text.size()) - 1;
}
} // namespace xpto_cce

#include "xpto_movement.hpp"
#include "xpto_conversions.hpp"
#include "xpto_registers.hpp"
#include "xpto_lanes.hpp"

// ------------------------------------------------------------------ from here on generated code meets our names

#define cce xpto_cce
#define get_block_idx xpto_host::block_idx
#define get_block_num xpto_host::block_num
#define get_subblockid xpto_host::subblock_id
#define get_subblockdim xpto_host::subblock_dim
#define SYNCALL xpto_host::sync_all
#define TMOV xpto_host::move
#define TINSERT xpto_host::insert
#define TEXTRACT xpto_host::extract
#define TSTORE xpto_host::store
#define TCI xpto_host::count_row
#define TCVT xpto_host::convert_tile
#define TAXPY xpto_host::axpy
#define TCMP xpto_host::compare
#define TCMPS xpto_host::compare_scalar
#define TSEL xpto_host::select
#define TMATMUL_ACC xpto_host::matmul_acc
#define TMATMUL_BIAS xpto_host::matmul_bias
#define dcci_dst_t xpto_host::CacheDestination

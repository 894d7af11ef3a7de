/* SPDX-License-Identifier: MIT */
/*
 * The CUDA C++ that the kernels use, on a CPU; included before each kernel.  A thread of
 * the GPU is a fiber.  The fibers of a CTA run on one CPU thread and switch where they
 * wait for each other; CTAs run one after the other.  The emulator checks results,
 * addresses, and races in shared memory (race_check.h).  It does not model speed or the
 * order of accesses to global memory.
 */
#ifndef TESTS_EMULATOR_H
#define TESTS_EMULATOR_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <functional>

#include "race_check.h"

/* ---- the language --------------------------------------------------------------- */

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
/* A CPU thread runs one CTA at a time. */
#define __shared__ thread_local

struct dim3 {
    unsigned x, y, z;
};
struct uint2 {
    uint32_t x, y;
};
struct uint4 {
    uint32_t x, y, z, w;
};
struct int2 {
    int x, y;
};
struct float2 {
    float x, y;
};
struct float4 {
    float x, y, z, w;
};
static inline int2 make_int2(int x, int y) { return {x, y}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
static inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return {x, y, z, w};
}

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __fdividef(float a, float b) { return a / b; }
#define __log2f(x) log2f(x) /* glibc has a function of this name */
template <class T> static inline T __ldg(const T *at) { return *at; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
static inline int __vimax3_s32(int a, int b, int c) { return max(max(a, b), c); }
template <class To, class From> static inline To same_bits(From from)
{
    To to;
    static_assert(sizeof to == sizeof from, "the same size");
    memcpy(&to, &from, sizeof to);
    return to;
}
static inline int __float_as_int(float x) { return same_bits<int>(x); }
static inline float __int_as_float(int x) { return same_bits<float>(x); }
static inline float __uint_as_float(uint32_t x) { return same_bits<float>(x); }
static inline double __hiloint2double(int high, int low)
{
    return same_bits<double>((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}
/* 1 in each byte where a and b differ. */
static inline unsigned __vsetne4(unsigned a, unsigned b)
{
    unsigned bits = 0;

    for (int x = 0; x < 32; x += 8)
        bits |= (unsigned)((a >> x & 255) != (b >> x & 255)) << x;
    return bits;
}

/* ---- threads -------------------------------------------------------------------- */

/* The thread of a kernel. */
struct gpu_thread {
    dim3 threadIdx, blockIdx, blockDim, gridDim;
};
extern __thread gpu_thread *gpu_self;
#define threadIdx (gpu_self->threadIdx)
#define blockIdx (gpu_self->blockIdx)
#define blockDim (gpu_self->blockDim)
#define gridDim (gpu_self->gridDim)

/*
 * Switches to other fibers until done(what, number) is true.  If all threads of a CTA
 * wait, the launch fails.
 */
void gpu_wait(bool (*done)(const void *what, unsigned number), const void *what,
              unsigned number);

/* The threads of a collective operation. */
enum gpu_scope { GPU_WARP, GPU_WARPGROUP, GPU_CTA };
/*
 * Collective: waits for all threads of the scope, and returns the values of all, by index
 * in the scope.  The last thread to arrive first runs `together` on them.
 */
void *const *gpu_collective(gpu_scope scope, void *value,
                            void (*together)(void *const *all, int count) = nullptr);
/* Collective: waits, and orders memory accesses before and after. */
void gpu_barrier(gpu_scope scope);
/* Index of the thread in its warp. */
int gpu_lane();

/* Fails the launch with this message. */
[[noreturn]] void gpu_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- synchronisation -------------------------------------------------------------- */

static inline void __syncthreads() { gpu_barrier(GPU_CTA); }
static inline void __syncwarp() { gpu_barrier(GPU_WARP); }
static inline void __threadfence() {}

/*
 * How many threads of a scope have `mine` set; *of: how many threads there are.  Orders
 * memory accesses of a CTA, not those of a warp.
 */
int gpu_count(gpu_scope scope, bool mine, int *of);

static inline int __syncthreads_or(int x)
{
    int of;
    return gpu_count(GPU_CTA, x != 0, &of) > 0;
}
static inline int __syncthreads_and(int x)
{
    int of;
    return gpu_count(GPU_CTA, x != 0, &of) == of;
}
static inline int __any_sync(unsigned, int x)
{
    int of;
    return gpu_count(GPU_WARP, x != 0, &of) > 0;
}
unsigned __ballot_sync(unsigned lanes, int x);
/* Named barrier of a CTA: bar.sync, or bar.arrive unless it waits. */
void gpu_named_barrier(int id, int threads, bool waits);

template <class T> static inline T __shfl_sync(unsigned, T x, int lane)
{
    T mine = x;
    void *const *const all = gpu_collective(GPU_WARP, &mine);
    const T theirs = *(T *)all[lane & 31];
    gpu_collective(GPU_WARP, nullptr); /* `mine` must outlive all reads */
    return theirs;
}
template <class T> static inline T __shfl_xor_sync(unsigned lanes, T x, int by)
{
    return __shfl_sync(lanes, x, gpu_lane() ^ by);
}

/* Plain operations are atomic: fibers switch only where they wait. */
template <class T, class U> static inline T atomicAdd(T *at, U x)
{
    const T old = *at;
    *at = old + (T)x;
    return old;
}
static inline int atomicExch(int *at, int x)
{
    const int old = *at;
    *at = x;
    return old;
}

/* ---- shared memory ----------------------------------------------------------------- */

/*
 * A 32-bit address of dynamic shared memory: checks range, alignment and races of the
 * access.
 */
unsigned char *gpu_shared(uint32_t at, int bytes, int align, access_kind kind);
uint32_t gpu_shared_address(const void *at);
/*
 * A 16-bit element of rows of 128 bytes with the 128-byte swizzle.  The swizzle keeps 16
 * bytes together; races are checked at the first element of these, for all of them.
 */
static inline unsigned char *gpu_swizzled(uint32_t plain, access_kind kind)
{
    const uint32_t at = plain ^ (plain >> 7 & 7) << 4;

    return plain % 16 == 0 ? gpu_shared(at, 16, 16, kind)
                           : gpu_shared(at, 2, 2, ACCESS_UNCHECKED);
}

/* ---- order of accesses to shared memory ----------------------------------------------
 */

/*
 * Accesses before the release of a token happen before those after an acquire of the same
 * token and phase.
 */
void gpu_release(const void *token, unsigned phase);
void gpu_acquire(const void *token, unsigned phase);
/* fence.proxy.async */
void gpu_proxy_fence();

/* Units that work asynchronously. */
enum gpu_unit { GPU_TMA, GPU_WGMMA, GPU_CP_ASYNC, GPU_UNITS };
/* Earlier accesses of this thread happen before the next work of its warpgroup's unit. */
void gpu_join(gpu_unit unit);
/*
 * In its lifetime, accesses are those of a unit that this thread starts; threads do not
 * switch.  They happen after what the thread has done, and after gpu_join().
 */
class gpu_async
{
  public:
    explicit gpu_async(gpu_unit unit);
    ~gpu_async();
};
/* Ends a group of the thread's asynchronous work. */
void gpu_commit(gpu_unit unit);
/* Waits until at most `pending` of the thread's last groups are incomplete. */
void gpu_wait_groups(gpu_unit unit, int pending);

/* ---- launches ------------------------------------------------------------------- */

/*
 * Runs a grid, CTA after CTA, with `shared` bytes of dynamic shared memory.  On failure
 * returns false, and gpu_failure() has the message.
 */
bool gpu_run(const std::function<void()> &kernel, dim3 grid, dim3 block, size_t shared);
const char *gpu_failure();

/* Kernels by name.  gpu_bind copies the arguments of a launch. */
typedef std::function<void()> (*gpu_bind)(void **arguments);
struct gpu_kernel {
    gpu_bind bind;
    long launches;
};
void gpu_register(const char *name, gpu_bind bind);
gpu_kernel *gpu_find(const char *name);
/* Writes a file of lines "NAME LAUNCHES" of all kernels. */
void gpu_write_launches(const char *file);
/* Number of warps that have queued their tile for replay. */
extern long gpu_replays;

#endif

/* SPDX-License-Identifier: MIT */
/*
 * CUDA C++ on a CPU, as far as the kernels use it, included before each of them.  A
 * thread of the GPU is a fiber; those of a CTA take turns on one thread of the CPU, and
 * switch where they wait for each other.  What this shows is what a kernel computes and
 * which addresses it touches, not its speed, and no race.
 */
#ifndef TESTS_EMULATOR_GPU_H
#define TESTS_EMULATOR_GPU_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <functional>

/* ---- the language --------------------------------------------------------------- */

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
/* One CTA at a time runs on a thread of the CPU. */
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
static inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return {x, y, z, w};
}

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __fdividef(float a, float b) { return a / b; }
#define __log2f(x) log2f(x) /* glibc has a function of that name */
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

/* A thread of the GPU, as kernels see it. */
struct gpu_thread {
    dim3 threadIdx, blockIdx, blockDim, gridDim;
};
extern __thread gpu_thread *gpu_self;
#define threadIdx (gpu_self->threadIdx)
#define blockIdx (gpu_self->blockIdx)
#define blockDim (gpu_self->blockDim)
#define gridDim (gpu_self->gridDim)

/* Others run until `done(what)` is true.  A CTA all of whose threads wait has failed. */
void gpu_wait(bool (*done)(const void *what, unsigned number), const void *what,
              unsigned number);

/* Threads that go through one call together: a warp, a warpgroup, a CTA. */
enum gpu_scope { GPU_WARP, GPU_WARPGROUP, GPU_CTA };
/*
 * What every thread of the scope gives, by its place in it, once all have come.  The last
 * to come runs `together` first, for all of them.
 */
void *const *gpu_meet(gpu_scope scope, void *mine,
                      void (*together)(void *const *all, int count) = nullptr);
/* Of the thread in its warp, its warpgroup. */
int gpu_lane();
int gpu_place();

/* The kernel did what it must not: the launch fails with these words. */
[[noreturn]] void gpu_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- synchronisation -------------------------------------------------------------- */

static inline void __syncthreads() { gpu_meet(GPU_CTA, nullptr); }
static inline void __syncwarp() { gpu_meet(GPU_WARP, nullptr); }
static inline void __threadfence() {}

/* How many threads of a scope give something other than 0, and how many there are. */
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
/* Barrier `id` of the CTA, which opens when `threads` have come; some do not wait. */
void gpu_named_barrier(int id, int threads, bool waits);

template <class T> static inline T __shfl_sync(unsigned, T x, int lane)
{
    T mine = x;
    void *const *const all = gpu_meet(GPU_WARP, &mine);
    const T theirs = *(T *)all[lane & 31];
    gpu_meet(GPU_WARP, nullptr); /* `mine` is still there until all have read */
    return theirs;
}
template <class T> static inline T __shfl_xor_sync(unsigned lanes, T x, int by)
{
    return __shfl_sync(lanes, x, gpu_lane() ^ by);
}

/* Fibers switch nowhere else, so these are atomic as they are. */
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

/* `bytes` at a 32-bit address of the CTA's dynamic shared memory, aligned to `align`. */
unsigned char *gpu_shared(uint32_t at, int bytes, int align);
uint32_t gpu_shared_address(const void *at);

/* ---- launches ------------------------------------------------------------------------
 */

/*
 * All threads of a grid, CTA after CTA; `shared`: bytes of dynamic shared memory.  False:
 * it failed, and gpu_failure() says how.
 */
bool gpu_run(const std::function<void()> &kernel, dim3 grid, dim3 block, size_t shared);
const char *gpu_failure();

/* A kernel by name, and how it takes its arguments: copies of what `arguments` leads to.
 */
typedef std::function<void()> (*gpu_bind)(void **arguments);
struct gpu_kernel {
    gpu_bind bind;
    long launches;
};
void gpu_register(const char *name, gpu_bind bind);
gpu_kernel *gpu_find(const char *name);
/* Lines "NAME LAUNCHES" of all kernels, added to a file. */
void gpu_write_launches(const char *file);

#endif

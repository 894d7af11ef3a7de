/* SPDX-License-Identifier: MIT */
/* PTX of Ampere: cp.async, ldmatrix, mma.sync. */
#ifndef ATTEND_CUDA_SM80_INSTRUCTIONS_CUH
#define ATTEND_CUDA_SM80_INSTRUCTIONS_CUH

#ifndef __CUDACC__
#include "emulated_sm80.h" /* of tests/emulator */
#else

#include "cuda/instructions.cuh"

/*
 * Hides the value of x from the compiler, so that it recomputes what depends on x at each
 * use.  Else it hoists these values out of the loop, and registers spill.
 */
DEVICE int rematerialize(int x)
{
    asm volatile("" : "+r"(x)::"memory");
    return x;
}
DEVICE int thread_index() { return rematerialize(threadIdx.x); }
/* Compiler barrier: no computation of x moves across it. */
template <int N> DEVICE void pin(float (&x)[N][4])
{
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            asm volatile("" : "+f"(x[n][e])::"memory");
}

/* Copies `bytes` bytes, and fills up to 16 with zeros. */
DEVICE void copy_16(uint32_t to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(bytes)
                 : "memory");
}
DEVICE void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/* Waits for all copies of this thread except the N latest groups. */
template <int N> DEVICE void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/* Four 8 x 8 matrices; a lane gets columns 2 (lane % 4) and + 1 of row lane / 4 of each.
 */
DEVICE void load_matrices(uint32_t (&x)[4], uint32_t at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(at)
                 : "memory");
}
/* The same, transposed. */
DEVICE void load_transposed(uint32_t (&x)[4], uint32_t at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(at)
                 : "memory");
}

/* d += a b: m16n8k16, float accumulators. */
DEVICE void mma_bf16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
DEVICE void mma_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#endif
#endif

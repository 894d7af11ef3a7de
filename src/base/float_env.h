/* SPDX-License-Identifier: MIT */
/*
 * The floating-point environment of a thread: rounding, denormals, traps.  Calls compute
 * in the default one, so that a row has the same bits on every thread and no trap of the
 * caller's ends the process.  On machines without a control word there is nothing to do.
 */
#ifndef ATTEND_BASE_FLOAT_ENV_H
#define ATTEND_BASE_FLOAT_ENV_H

#include <stdint.h>

/* The control word of the calling thread, which is set to its default. */
static inline uint64_t set_default_float_env(void)
{
#if defined __x86_64__
    const uint32_t standard = 0x1f80; /* all exceptions masked, nearest, no flush */
    uint32_t given;

    __asm__ volatile("stmxcsr %0" : "=m"(given) : : "memory");
    __asm__ volatile("ldmxcsr %0" : : "m"(standard) : "memory");
    return given;
#elif defined __aarch64__
    uint64_t given;

    __asm__ volatile("mrs %0, fpcr" : "=r"(given) : : "memory");
    __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)) : "memory");
    return given;
#else
    return 0;
#endif
}

/* On x86-64 the flags of exceptions are in the same word, and are restored too. */
static inline void restore_float_env(uint64_t given)
{
#if defined __x86_64__
    const uint32_t word = (uint32_t)given;

    __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory");
#elif defined __aarch64__
    __asm__ volatile("msr fpcr, %0" : : "r"(given) : "memory");
#else
    (void)given;
#endif
}

#endif

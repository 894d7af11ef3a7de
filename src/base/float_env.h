/* SPDX-License-Identifier: MIT */
/*
 * The floating-point environment of a thread: rounding, denormals, traps.  Calls compute
 * in the default one, so that a row has the same bits on every thread and no trap of the
 * caller's ends the process.  The control word is written only if it differs: a write
 * serializes the pipeline.  On machines without one these functions do nothing.
 */
#ifndef ATTEND_BASE_FLOAT_ENV_H
#define ATTEND_BASE_FLOAT_ENV_H

#include <stdint.h>

#if defined __x86_64__
/* All exceptions masked, round to nearest, no flushing; without the exception flags. */
#define DEFAULT_FLOAT_ENV 0x1f80u
#define FLOAT_ENV_CONTROL 0xffc0u

static inline uint64_t read_float_env(void)
{
    uint32_t word;

    __asm__ volatile("stmxcsr %0" : "=m"(word) : : "memory");
    return word;
}

static inline void write_float_env(uint64_t given)
{
    const uint32_t word = (uint32_t)given;

    __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory");
}
#elif defined __aarch64__
#define DEFAULT_FLOAT_ENV UINT64_C(0)
#define FLOAT_ENV_CONTROL UINT64_MAX

static inline uint64_t read_float_env(void)
{
    uint64_t word;

    __asm__ volatile("mrs %0, fpcr" : "=r"(word) : : "memory");
    return word;
}

static inline void write_float_env(uint64_t word)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(word) : "memory");
}
#else
#define DEFAULT_FLOAT_ENV UINT64_C(0)
#define FLOAT_ENV_CONTROL UINT64_C(0)

static inline uint64_t read_float_env(void) { return 0; }

static inline void write_float_env(uint64_t word) { (void)word; }
#endif

/*
 * Sets the default environment of the calling thread; returns the previous control word.
 */
static inline uint64_t set_default_float_env(void)
{
    const uint64_t given = read_float_env();

    if ((given & FLOAT_ENV_CONTROL) != DEFAULT_FLOAT_ENV)
        write_float_env(DEFAULT_FLOAT_ENV);
    return given;
}

static inline void restore_float_env(uint64_t given)
{
    if ((given & FLOAT_ENV_CONTROL) != DEFAULT_FLOAT_ENV)
        write_float_env(given);
}

#endif

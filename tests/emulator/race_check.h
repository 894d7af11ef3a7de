/* SPDX-License-Identifier: MIT */
/*
 * Finds accesses to shared memory that no barrier orders, as racecheck does on a GPU.  An
 * actor is a thread of a CTA, or a unit that works asynchronously: copies of TMA,
 * products of a warpgroup, cp.async of a thread.  Each actor has a vector clock; a
 * release and an acquire of the same token order what came before the one and after the
 * other.  As on a GPU, shuffles, votes and atomics order nothing.
 *
 * Shared memory that kernels access by 32-bit addresses is checked, in words of four
 * bytes; C++ objects in shared memory are not.  The order in which the emulator happens
 * to run the threads does not matter.
 */
#ifndef TESTS_RACE_CHECK_H
#define TESTS_RACE_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <unordered_map>
#include <vector>

enum access_kind {
    ACCESS_READ,
    ACCESS_WRITE,
    /* By the asynchronous proxy: TMA and wgmma. */
    ACCESS_ASYNC_READ,
    ACCESS_ASYNC_WRITE,
    ACCESS_UNCHECKED /* accesses of a barrier or an atomic, or checked before */
};

class race_check
{
  public:
    /* Starts a CTA, without the state of the last one. */
    void begin(int threads, size_t shared_bytes);

    int products_of(int thread) const { return threads + thread / 128; }
    /* One of several units, so that copies are not ordered among themselves. */
    int next_copy() { return threads + groups() + (int)(copies_begun++ % COPIES); }
    /* cp.async, in CTAs of up to COPYING threads. */
    int copies_of(int thread) const { return threads + groups() + COPIES + thread; }
    enum { COPYING = 128 };

    /*
     * A completed unit releases its own accesses, not those of the thread that started
     * it.
     */
    void release(int actor, const void *token, unsigned phase);
    void acquire(int actor, const void *token, unsigned phase);
    /* Later accesses of `unit` happen after earlier ones of the thread. */
    void start(int thread, int unit);
    /* fence.proxy.async of a thread: its writes are visible to the asynchronous proxy. */
    void fence(int thread);

    /* False on a race: what() describes it. */
    bool access(int actor, access_kind kind, uint32_t at, int bytes);
    const char *what() const { return wrong.c_str(); }

  private:
    enum { COPIES = 16, NOBODY = 0xffff, MANY = 0xfffe };
    typedef std::vector<uint32_t> clock;
    /*
     * The last write and the reads since then; for reads by MANY, the index of their
     * clock.
     */
    struct word {
        uint32_t written = 0, read = 0;
        uint16_t writer = NOBODY, reader = NOBODY;
        uint16_t unfenced = NOBODY; /* the thread whose write has no proxy fence yet */
    };

    int groups() const { return (threads + 127) / 128; }
    void wake();
    void join(uint32_t *to, const uint32_t *from) const;
    uint32_t *clock_of(int actor) { return now.data() + (size_t)actor * actors; }
    std::string name(int actor) const;
    bool conflict(int actor, bool writes, uint32_t at, int other, bool wrote);
    bool check_proxies(access_kind kind, word &w, uint32_t at, int actor);
    bool check_read(int actor, word &w, uint32_t at);
    bool check_write(int actor, word &w, uint32_t at);
    void read_by_many(word &w, int actor, uint32_t epoch);

    int threads = 0;
    size_t actors = 0;
    unsigned copies_begun = 0;
    bool awake = false; /* something was accessed */
    std::string wrong;
    clock now; /* clocks of all actors, one after the other */
    std::unordered_map<uintptr_t, clock> tokens;
    std::vector<word> words;
    std::vector<clock> many;
    std::vector<uint32_t> unused;                /* clocks of `many` */
    std::vector<std::vector<uint32_t>> unfenced; /* words, by thread */
};

#endif

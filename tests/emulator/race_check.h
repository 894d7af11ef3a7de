/* SPDX-License-Identifier: MIT */
/*
 * Finds accesses to shared memory that no barrier orders, as racecheck does on a GPU.  An
 * actor is a thread of a CTA, or a unit that works asynchronously: copies of TMA,
 * products of a warpgroup, cp.async of a thread.  Each actor has a vector clock; a
 * release and an acquire of the same token order what came before the one and after the
 * other.  What orders nothing on a GPU orders nothing here: shuffles, votes, atomics.
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
    ACCESS_UNCHECKED /* of a barrier, of an atomic, or checked already */
};

class race_check
{
  public:
    /* A CTA starts.  Nothing is kept of the last one. */
    void begin(int threads, size_t shared_bytes);

    int products_of(int thread) const { return threads + thread / 128; }
    /* One of several units, so that copies are not ordered among themselves. */
    int next_copy() { return threads + groups() + (int)(copies_begun++ % COPIES); }
    /* cp.async, in CTAs of up to COPYING threads. */
    int copies_of(int thread) const { return threads + groups() + COPIES + thread; }
    enum { COPYING = 128 };

    /* A unit that has finished releases its own accesses, not those of who started it. */
    void release(int actor, const void *token, unsigned phase);
    void acquire(int actor, const void *token, unsigned phase);
    /* What `unit` does from now on happens after what the thread has done so far. */
    void start(int thread, int unit);
    /* fence.proxy.async of a thread: its writes are visible to the asynchronous proxy. */
    void fence(int thread);

    /* True, or what() says what is wrong. */
    bool access(int actor, access_kind kind, uint32_t at, int bytes);
    const char *what() const { return wrong.c_str(); }

  private:
    enum { COPIES = 16, NOBODY = 0xffff, MANY = 0xfffe };
    typedef std::vector<uint32_t> clock;
    /* The last write, and the read since, or, for reads of MANY, where their clock is. */
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
    clock now; /* of all actors, one after the other */
    std::unordered_map<uintptr_t, clock> tokens;
    std::vector<word> words;
    std::vector<clock> many;
    std::vector<uint32_t> unused;                /* clocks of `many` */
    std::vector<std::vector<uint32_t>> unfenced; /* words, by thread */
};

#endif

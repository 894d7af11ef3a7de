/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/base.h"
#include "base/cpus.h"

/*
 * Spinning time of a waiting thread before it sleeps.  Waking it costs the caller some 10
 * us, by this condition variable or by a futex.
 */
#define SPIN_NS 50000

/*
 * States of a worker.  The caller assigns work (IDLE or ASLEEP to GIVEN) and withdraws
 * work that was not started (GIVEN to IDLE); the worker starts it (GIVEN to TAKEN) and
 * finishes (TAKEN or AWAITED to IDLE).  ASLEEP: the worker has to be woken; AWAITED: the
 * caller has to be woken.
 */
enum state { IDLE, ASLEEP, GIVEN, TAKEN, AWAITED, ENDED };

struct worker {
    _Alignas(ATTENDI_ALIGN) atomic_int state;
    int w;
    struct pool *pool;
    pthread_t thread;
    pthread_mutex_t mutex; /* for sleeping and waking */
    pthread_cond_t changed;
};

struct pool {
    struct allocator allocator;
    int threads; /* with the caller */
    int started; /* workers 1 .. started run */
    bool refused;
    atomic_int available; /* threads minus those that could not be created */
    bool spins;
    pid_t process; /* the workers' process; 0: none yet */
    void (*body)(void *arg, int w);
    void *arg;
    struct worker worker[]; /* [threads]; worker[0] is the caller and not used */
};

static void pause_spin(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Spins until the state changes (true) or SPIN_NS have passed (false). */
static bool spin_while(const struct worker *k, int state)
{
    enum { LOOKS = 32 }; /* polls between two readings of the clock */
    const int64_t end = now_ns() + SPIN_NS;

    do {
        for (int look = 0; look < LOOKS; look++) {
            if (atomic_load_explicit(&k->state, memory_order_acquire) != state)
                return true;
            pause_spin();
        }
    } while (now_ns() < end);
    return false;
}

/*
 * Waits until the state is neither `state` nor `asleep`, the state while this thread
 * sleeps.
 */
static void wait_while(struct worker *k, int state, int asleep)
{
    if (atomic_load(&k->state) != state || (k->pool->spins && spin_while(k, state)) ||
        !atomic_compare_exchange_strong(&k->state, &state, asleep))
        return;
    pthread_mutex_lock(&k->mutex);
    while (atomic_load(&k->state) == asleep)
        pthread_cond_wait(&k->changed, &k->mutex);
    pthread_mutex_unlock(&k->mutex);
}

static void move_to(struct worker *k, int state)
{
    const int before = atomic_exchange(&k->state, state);

    if (before != ASLEEP && before != AWAITED)
        return;
    /* Taking the mutex orders the store against the waiter's check: no lost wake-up. */
    pthread_mutex_lock(&k->mutex);
    pthread_mutex_unlock(&k->mutex);
    pthread_cond_signal(&k->changed);
}

/* "attend-3", for debuggers and lists of threads. */
static void name_thread(int w)
{
#ifdef __linux__
    char name[16];

    snprintf(name, sizeof name, "attend-%d", w);
    prctl(PR_SET_NAME, name);
#else
    (void)w;
#endif
}

static void *work(void *arg)
{
    struct worker *const me = arg;

    name_thread(me->w);
    for (;;) {
        int state = GIVEN;

        wait_while(me, IDLE, ASLEEP);
        if (atomic_compare_exchange_strong(&me->state, &state, TAKEN)) {
            me->pool->body(me->pool->arg, me->w);
            move_to(me, IDLE);
        } else if (state == ENDED) {
            return NULL;
        }
    }
}

/* Workers block the host's signals, but not those of their own faults. */
static void signals_to_block(sigset_t *set)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

    sigfillset(set);
    for (size_t x = 0; x < ARRAY_LEN(faults); x++)
        sigdelset(set, faults[x]);
}

static bool start_worker(struct pool *pool, int w)
{
    struct worker *const k = &pool->worker[w];

    k->w = w;
    k->pool = pool;
    atomic_init(&k->state, IDLE);
    if (pthread_mutex_init(&k->mutex, NULL) != 0)
        return false;
    if (pthread_cond_init(&k->changed, NULL) == 0) {
        if (pthread_create(&k->thread, NULL, work, k) == 0)
            return true;
        pthread_cond_destroy(&k->changed);
    }
    pthread_mutex_destroy(&k->mutex);
    return false;
}

/* Starts the missing workers up to `last`, unless creating one has failed before. */
static void start_workers(struct pool *pool, int last)
{
    sigset_t block, before;

    signals_to_block(&block);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    while (pool->started < last && !pool->refused)
        if (start_worker(pool, pool->started + 1))
            pool->started++;
        else
            pool->refused = true;
    if (pool->refused)
        atomic_store(&pool->available, pool->started + 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The highest running worker, at most `last`. */
static int workers_up_to(struct pool *pool, int last)
{
    const pid_t process = getpid();

    if (process != pool->process) {
        pool->process = process;
        pool->started = 0;
        pool->refused = false;
        atomic_store(&pool->available, pool->threads);
        /* If threads share CPUs, a spinning thread would hold up another one. */
        pool->spins = pool->threads <= attendi_cpus();
    }
    if (pool->started < last && !pool->refused)
        start_workers(pool, last);
    return (int)min_i64(pool->started, last);
}

struct pool *attendi_pool_create(const struct allocator *allocator, int threads)
{
    struct pool *const pool = attendi_allocate(
        allocator, sizeof *pool + (size_t)threads * sizeof pool->worker[0]);

    if (pool)
        *pool = (struct pool){
            .allocator = *allocator, .threads = threads, .available = threads};
    return pool;
}

int attendi_pool_threads(struct pool *pool) { return atomic_load(&pool->available); }

void attendi_pool_destroy(struct pool *pool)
{
    if (!pool)
        return;
    const struct allocator allocator = pool->allocator;
    const int running = pool->process == getpid() ? pool->started : 0;
    for (int w = 1; w <= running; w++)
        move_to(&pool->worker[w], ENDED);
    for (int w = 1; w <= running; w++) {
        struct worker *const k = &pool->worker[w];
        pthread_join(k->thread, NULL);
        pthread_cond_destroy(&k->changed);
        pthread_mutex_destroy(&k->mutex);
    }
    attendi_release(&allocator, pool);
}

void attendi_pool_run(void *user, int n, void (*body)(void *arg, int w), void *arg)
{
    struct pool *const pool = user;
    const int last = workers_up_to(pool, (int)min_i64(n, pool->threads) - 1);

    pool->body = body;
    pool->arg = arg;
    for (int w = 1; w <= last; w++)
        move_to(&pool->worker[w], GIVEN);
    body(arg, 0);
    for (int w = 1; w < n; w++) {
        int state = GIVEN;
        if (w > last ||
            atomic_compare_exchange_strong(&pool->worker[w].state, &state, IDLE))
            body(arg, w);
    }
    for (int w = 1; w <= last; w++)
        wait_while(&pool->worker[w], TAKEN, AWAITED);
}

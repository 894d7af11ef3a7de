/* SPDX-License-Identifier: MIT */
/*
 * The context's thread pool: number and start of threads, failures to create threads,
 * fork(), and destruction.  The linker puts __wrap_pthread_create() in place of the C
 * library's.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "support/counting.h"
#include "support/pools.h"

#define SET "scalar" /* available on every machine */
enum { THREADS = 4, PAIRS = 200 };

static int started, asked;        /* threads, since count_anew() */
static int granted_of_asked = -1; /* threads that can be created; -1: all */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*body)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*body)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*body)(void *), void *arg)
{
    if (granted_of_asked >= 0 && asked++ >= granted_of_asked)
        return EAGAIN;
    const int status = __real_pthread_create(thread, attr, body, arg);
    started += status == 0;
    return status;
}

static void count_anew(int granted)
{
    started = asked = 0;
    granted_of_asked = granted;
}

static problem decoding(int64_t nk)
{
    return problem_make((shape){1, 8, 8, 1, nk, 64, 64}, ATTEND_F32, (uint64_t)nk);
}

/* A problem that is scheduled on `workers` of THREADS workers; nk = 0: none found. */
static problem for_workers(int workers)
{
    for (int64_t nk = 16; nk < 65536; nk += nk / 16 * 2) {
        problem p = decoding(nk);
        pool_log log = {0, 0};
        auto_context const ctx = pool_context(SET, THREADS, pool_sequential, &log);
        const int fine = ctx && problem_run(&p, ctx) && log.n_max == workers;
        if (fine)
            return p;
        problem_free(&p);
    }
    return (problem){.n = {0}};
}

/* Two problems and their expected results. */
typedef struct fixture {
    problem four, three;
    result want_four, want_three;
    int ready;
} fixture;

static fixture fixture_make(void)
{
    fixture f = {.four = for_workers(4), .three = for_workers(3)};
    auto_context const lone = open_set(SET, 1);

    f.ready = lone && f.four.n.nk && f.three.n.nk && problem_run(&f.four, lone) &&
              problem_run(&f.three, lone);
    if (f.ready) {
        f.want_four = result_copy(&f.four);
        f.want_three = result_copy(&f.three);
    }
    return f;
}

static void fixture_free(fixture *f)
{
    result_free(&f->want_four);
    result_free(&f->want_three);
    problem_free(&f->four);
    problem_free(&f->three);
}
#define auto_fixture FREED(fixture_free) fixture

static int both_are_right(const fixture *f, attend_context *ctx)
{
    return problem_gives(&f->four, ctx, &f->want_four) &&
           problem_gives(&f->three, ctx, &f->want_three);
}

TEST(threads_are_started_once)
{
    auto_fixture f = fixture_make();
    counting c = {.fail_at = -1};
    const attend_options options = counting_options(&c, SET, THREADS);

    CHECK(f.ready, "problems for 4 and 3 workers");
    count_anew(-1);
    attend_context *const ctx = open_context(&options);
    CHECK(ctx != NULL, "a context");
    CHECK(started == 0, "%d threads before the first call", started);
    CHECK(problem_run(&f.three, ctx) && started == 2, "%d threads for 3 workers",
          started);
    CHECK(both_are_right(&f, ctx), "the first pair");
    const int first = c.calls;
    for (int pair = 1; pair < PAIRS; pair++)
        CHECK(both_are_right(&f, ctx), "pair %d", pair);
    CHECK(started == THREADS - 1, "%d threads in %d pairs of calls", started, PAIRS);
    CHECK(c.calls == first, "%d allocations", c.calls - first);
    attend_context_destroy(ctx);
    CHECK(c.live == 0 && !c.misused, "%d blocks left", c.live);
}

TEST(a_call_for_one_worker_starts_none)
{
    auto_problem p = decoding(16);
    auto_context const ctx = open_set(SET, THREADS);

    count_anew(-1);
    CHECK(ctx && problem_run(&p, ctx) && started == 0, "%d threads", started);
}

TEST(threads_may_be_refused)
{
    auto_fixture f = fixture_make();

    CHECK(f.ready, "problems for 4 and 3 workers");
    for (int granted = 0; granted < THREADS; granted++) {
        auto_context const ctx = open_set(SET, THREADS);
        count_anew(granted);
        for (int repeat = 0; repeat < 5; repeat++)
            CHECK(ctx && both_are_right(&f, ctx), "%d threads granted", granted);
        CHECK(started == granted && asked <= granted + 1,
              "%d of %d granted, asked %d times", started, granted, asked);
    }
    count_anew(-1);
}

/* The number of times each w was run. */
static void count_run(void *arg, int w) { atomic_fetch_add(&((atomic_int *)arg)[w], 1); }

TEST(every_worker_runs_once)
{
    const struct allocator allocator = attendi_allocator_default();

    for (int granted = 0; granted < THREADS; granted++) {
        struct pool *const pool = attendi_pool_create(&allocator, THREADS);
        CHECK(pool != NULL, "a pool");
        count_anew(granted);
        for (int repeat = 0; repeat < 200; repeat++)
            for (int n = 1; n <= 2 * THREADS; n++) {
                atomic_int runs[2 * THREADS + 1] = {0};
                attendi_pool_run(pool, n, count_run, runs);
                for (int w = 0; w <= 2 * THREADS; w++)
                    CHECK(runs[w] == (w < n), "%d threads, n = %d: w = %d ran %d times",
                          granted, n, w, runs[w]);
            }
        attendi_pool_destroy(pool);
    }
    count_anew(-1);
}

/* Exit status of a forked child; -1 if it was killed. */
static int child_status(pid_t child)
{
    int status = 0;

    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                    : -1;
}

static int compute_in_child(const fixture *f, attend_context *ctx)
{
    count_anew(-1);
    const int fine =
        both_are_right(f, ctx) && both_are_right(f, ctx) && started == THREADS - 1;
    attend_context_destroy(ctx);
    return fine ? 0 : 1;
}

TEST(a_child_of_fork)
{
#ifdef __SANITIZE_THREAD__
    SKIP("the race detector does not know that a child has none of its parent's threads");
#endif
    auto_fixture f = fixture_make();
    auto_context const ctx = open_set(SET, THREADS);

    CHECK(f.ready && ctx, "problems for 4 and 3 workers");
    for (int used = 0; used < 2; used++) {
        CHECK(!used || both_are_right(&f, ctx), "before");
        fflush(stdout);
        const pid_t first = fork();
        if (first == 0)
            _exit(compute_in_child(&f, ctx));
        CHECK(first > 0 && child_status(first) == 0, "a child that computes");
        const pid_t second = fork();
        if (second == 0) {
            attend_context_destroy(ctx);
            _exit(0);
        }
        CHECK(second > 0 && child_status(second) == 0, "a child that only destroys");
        CHECK(both_are_right(&f, ctx), "the parent goes on");
    }
}

/* Number of threads of this process; -1: unknown. */
static int threads_here(void)
{
    DIR *const tasks = opendir("/proc/self/task");
    int count = 0;

    if (!tasks)
        return -1;
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

TEST(contexts_end_their_threads)
{
    auto_fixture f = fixture_make();
    const int before = threads_here();

    CHECK(f.ready, "problems for 4 and 3 workers");
    for (int life = 0; life < 8 + test_count(12); life++) {
        attend_context *const one = open_set(SET, THREADS);
        auto_context const two = open_set(SET, 2);
        CHECK(one && two && both_are_right(&f, one) && both_are_right(&f, two),
              "context %d", life);
        attend_context_destroy(one);
        CHECK(both_are_right(&f, two), "context %d", life);
    }
    /* The kernel may list a thread for a moment after it was joined. */
    for (int wait = 0; wait < 1000 && threads_here() > before; wait++)
        usleep(1000);
    CHECK(threads_here() == before, "%d threads before and %d after", before,
          threads_here());
}

/* Other threads block the signal: a worker that received it would end the program. */
TEST(workers_take_no_signals)
{
    auto_fixture f = fixture_make();
    auto_context const ctx = open_set(SET, THREADS);
    sigset_t usr1, before, pending;

    CHECK(f.ready && ctx && both_are_right(&f, ctx), "threads");
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, &before);
    CHECK(!sigismember(&before, SIGUSR1), "the caller's mask has changed");
    kill(getpid(), SIGUSR1);
    CHECK(both_are_right(&f, ctx), "with a signal pending");
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1), "not pending");
    signal(SIGUSR1, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

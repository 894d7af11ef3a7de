/* SPDX-License-Identifier: MIT */
/*
 * A program supplies its own threads, and the library starts none.  The pool of this
 * example creates one POSIX thread per piece of work; a real pool passes `body` to
 * waiting workers.
 */
#include <attend/attend.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS = 4, HEADS = 8, N = 64, D = 32 };

struct piece {
    void (*body)(void *arg, int w);
    void *arg;
    int w;
};

static void *work(void *p)
{
    const struct piece *piece = p;

    piece->body(piece->arg, piece->w);
    return NULL;
}

/* Counts its calls in `user`: checked below. */
static void pool(void *user, int n, void (*body)(void *arg, int w), void *arg)
{
    struct piece pieces[WORKERS];
    pthread_t threads[WORKERS];
    int started = 0;

    ++*(int *)user;
    /*
     * n is at most attend_options.threads.  If a thread cannot be created, its piece runs
     * here.
     */
    for (int w = 0; w < n; w++) {
        if (w < n - 1 && started < WORKERS) {
            pieces[started] = (struct piece){body, arg, w};
            if (pthread_create(&threads[started], NULL, work, &pieces[started]) == 0) {
                started++;
                continue;
            }
        }
        body(arg, w);
    }
    for (int t = 0; t < started; t++)
        pthread_join(threads[t], NULL);
}

static attend_status forward(const attend_options *options, const float *x, float *out,
                             attend_error *err)
{
    const attend_view view = {x, ATTEND_F32, {1, HEADS, N, D}, {0, N * D, D, 1}};
    attend_context *ctx;
    attend_status status = attend_context_create(&ctx, options, err);

    if (status != ATTEND_OK)
        return status;
    attend_io io = attend_io_default();
    io.q = io.k = io.v = view;
    io.out = attend_tensor_dense(out, ATTEND_F32, 1, HEADS, N, D);
    status = attend_forward(ctx, NULL, &io, err);
    attend_context_destroy(ctx);
    return status;
}

int main(void)
{
    static float x[HEADS * N * D], pooled[HEADS * N * D], alone[HEADS * N * D];
    int calls = 0;

    for (int n = 0; n < HEADS * N * D; n++)
        x[n] = (float)(n * 7919 % 1000) / 500 - 1;

    attend_options lent = attend_options_default();
    lent.threads = WORKERS;
    lent.parallel_for = pool;
    lent.parallel_user = &calls;
    attend_options one = attend_options_default();
    one.threads = 1;

    attend_error err;
    if (forward(&lent, x, pooled, &err) != ATTEND_OK ||
        forward(&one, x, alone, &err) != ATTEND_OK) {
        fprintf(stderr, "host_pool: %s\n", err.message);
        return 1;
    }
    /* The bits do not depend on the number of threads. */
    const int same = memcmp(pooled, alone, sizeof pooled) == 0;
    printf("the pool was called %d time(s); bits %s\n", calls, same ? "equal" : "differ");
    return calls > 0 && same ? 0 : 1;
}

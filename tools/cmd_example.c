/* SPDX-License-Identifier: MIT */
/*
 * `attend example`: attention at work without any file.  Copying and averaging
 * with orthonormal keys, the weights of a causal sentence, and the speed of
 * every kernel set.
 */
#include "commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
    "usage: attend example\n"
    "\n"
    "Shows what attention does, computed by the library on numbers made up on the spot:\n"
    "a query that copies a value, one that averages two, the weights of a causal\n"
    "sentence, and how fast each kernel set of this machine is.  Takes a few seconds.\n"
    "\n"
    "example:\n"
    "  attend example\n";

/* A contiguous (1, h, l, d) tensor of f32. */
static attend_tensor tensor(float *data, int64_t h, int64_t l, int64_t d)
{
    return (attend_tensor){.data = data,
                           .dtype = ATTEND_F32,
                           .size = {1, h, l, d},
                           .stride = {h * l * d, l * d, d, 1}};
}

static attend_view view(const float *data, int64_t h, int64_t l, int64_t d)
{
    return (attend_view){.data = data,
                         .dtype = ATTEND_F32,
                         .size = {1, h, l, d},
                         .stride = {h * l * d, l * d, d, 1}};
}

static void print_row(const float *row, int n)
{
    for (int i = 0; i < n; i++)
        printf(" %6.3f", (double)row[i]);
}

/*
 * Keys are the unit vectors e_0 .. e_3, values one-dimensional.  With q = beta k_j
 * the weight of key j is e^beta / (e^beta + 3): everything for a large beta.
 */
static attend_status copy_and_average(attend_context *ctx, attend_error *err)
{
    enum { N = 4, ROWS = 5 };
    const float k[N * N] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const float v[N] = {10, 20, 30, 40};
    const struct {
        float beta;
        int a, b; /* q = beta (k_a + k_b), or beta k_a when they are the same */
        const char *what;
    } rows[ROWS] = {
        {0, 2, 2, "beta =  0, q = 0            the mean of all"},
        {2, 2, 2, "beta =  2, q = beta k2      mostly v2"},
        {20, 2, 2, "beta = 20, q = beta k2      copies v2 = 30"},
        {2, 0, 2, "beta =  2, q = beta (k0+k2) between v0 and v2"},
        {20, 0, 2, "beta = 20, q = beta (k0+k2) averages v0 and v2: 20"},
    };
    float q[ROWS * N] = {0}, out[ROWS], weights[ROWS * N];

    for (int i = 0; i < ROWS; i++) {
        q[i * N + rows[i].a] = rows[i].beta;
        q[i * N + rows[i].b] = rows[i].beta;
    }
    attend_rule rule = attend_rule_default();
    rule.scale_is_set = 1;
    rule.scale = 1.0;
    attend_io io = attend_io_default();
    io.q = view(q, 1, ROWS, N);
    io.k = view(k, 1, N, N);
    io.v = view(v, 1, N, 1);
    io.out = tensor(out, 1, ROWS, 1);
    io.weights = tensor(weights, 1, ROWS, N);
    const attend_status status = attend_forward(ctx, &rule, &io, err);
    if (status)
        return status;

    printf("1. Copy and average.  Four orthonormal keys k0..k3 with the values 10 20 30 "
           "40,\n"
           "   scale 1.  A query asks for keys; beta says how firmly.\n\n"
           "   %-51s      weights of k0..k3      output\n",
           "query");
    for (int i = 0; i < ROWS; i++) {
        printf("   %-51s", rows[i].what);
        print_row(weights + i * N, N);
        printf("  %6.3f\n", (double)out[i]);
    }
    putchar('\n');
    return ATTEND_OK;
}

/* Self-attention of six tokens whose vectors are their letters: equal words attend. */
static attend_status causal_sentence(attend_context *ctx, attend_error *err)
{
    enum { N = 6, D = 4 };
    const char *const words[N] = {"the", "cat", "saw", "the", "other", "cat"};
    const float x[N * D] = {
        2, 0, 0, 0, /* the */
        0, 2, 0, 0, /* cat */
        0, 0, 2, 0, /* saw */
        2, 0, 0, 0, /* the */
        1, 0, 0, 2, /* other */
        0, 2, 0, 0, /* cat */
    };
    float out[N * D], weights[N * N];
    attend_rule rule = attend_rule_default();
    attend_io io = attend_io_default();

    rule.causal = ATTEND_CAUSAL_TOP_LEFT;
    io.q = view(x, 1, N, D);
    io.k = view(x, 1, N, D);
    io.v = view(x, 1, N, D);
    io.out = tensor(out, 1, N, D);
    io.weights = tensor(weights, 1, N, N);
    const attend_status status = attend_forward(ctx, &rule, &io, err);
    if (status)
        return status;

    printf("2. Causal self-attention.  Each word sees itself and the words before it; "
           "equal\n"
           "   words have equal vectors and find each other.\n\n   %8s",
           "");
    for (int j = 0; j < N; j++)
        printf(" %6s", words[j]);
    putchar('\n');
    for (int i = 0; i < N; i++) {
        printf("   %8s", words[i]);
        print_row(weights + i * N, i + 1);
        for (int j = i + 1; j < N; j++)
            printf(" %6s", ".");
        putchar('\n');
    }
    putchar('\n');
    return ATTEND_OK;
}

/* Values in -1 .. 1 that are the same in every run. */
static void fill(float *data, size_t n, uint32_t state)
{
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (float)(int32_t)state * 0x1p-31f;
    }
}

/* Fastest of a few calls of one kernel set, for about half a second or one call. */
static attend_status time_set(const char *isa, const attend_io *io, double *seconds,
                              attend_error *err)
{
    attend_options options = attend_options_default();
    attend_context *ctx;

    options.isa = isa;
    attend_status status = attend_context_create(&ctx, &options, err);
    if (status)
        return status;
    const double start = tool_seconds();
    double best = INFINITY;
    for (int n = 0; n < 20 && tool_seconds() - start < 0.4; n++) {
        const double before = tool_seconds();
        status = attend_forward(ctx, NULL, io, err);
        if (status)
            break;
        best = fmin(best, tool_seconds() - before);
    }
    attend_context_destroy(ctx);
    *seconds = best;
    return status;
}

static attend_status speed(attend_error *err)
{
    enum { H = 8, N = 1024, D = 64 };
    const size_t size = (size_t)H * N * D;
    float *const data = malloc(4 * size * sizeof *data);

    if (!data) {
        *err =
            (attend_error){.status = ATTEND_ENOMEM, .message = "no memory for tensors"};
        return ATTEND_ENOMEM;
    }
    fill(data, 3 * size, 1);
    attend_io io = attend_io_default();
    io.q = view(data, H, N, D);
    io.k = view(data + size, H, N, D);
    io.v = view(data + 2 * size, H, N, D);
    io.out = tensor(data + 3 * size, H, N, D);

    printf("3. Speed.  %d heads, %d queries and keys, d = %d, f32, every core.\n\n"
           "   kernel set   milliseconds   GFLOP/s\n",
           H, N, D);
    attend_status status = ATTEND_OK;
    for (int i = 0; i < attend_isa_count() && status == ATTEND_OK; i++) {
        attend_isa isa;
        double seconds;
        if (attend_isa_get(i, &isa) != ATTEND_OK)
            continue;
        if (!isa.runs) {
            printf("   %-11s  cannot run here (needs %s)\n", isa.name, isa.needs);
            continue;
        }
        /* The reference takes seconds for them all. */
        const int heads = strcmp(isa.name, "ref") ? H : 1;
        io.q.size[1] = io.k.size[1] = io.v.size[1] = io.out.size[1] = heads;
        status = time_set(isa.name, &io, &seconds, err);
        if (status == ATTEND_OK)
            printf("   %-11s  %12.2f  %8.1f%s\n", isa.name, 1e3 * seconds,
                   4e-9 * heads * N * N * D / seconds, heads == H ? "" : "   (one head)");
        fflush(stdout);
    }
    free(data);
    return status;
}

int cmd_example(int argc, char **argv)
{
    tool_option options[] = {{.name = "help"}};
    attend_context *ctx;
    attend_error err;

    const int usage = tool_parse_options("example", argc, argv, options, 1);
    if (usage)
        return usage;
    if (options[0].value) {
        fputs(help_text, stdout);
        return tool_finish_output("example", TOOL_OK);
    }
    const attend_options defaults = attend_options_default();
    const int failed = tool_create_context("example", &defaults, &ctx);
    if (failed)
        return failed;
    printf("attend %s, kernel set %s, %d threads\n\n", attend_version(),
           attend_context_isa(ctx), attend_context_threads(ctx));
    attend_status status = copy_and_average(ctx, &err);
    if (status == ATTEND_OK)
        status = causal_sentence(ctx, &err);
    attend_context_destroy(ctx);
    if (status == ATTEND_OK)
        status = speed(&err);
    if (status)
        return tool_fail("example", tool_status(status), "%s", err.message);
    return tool_finish_output("example", TOOL_OK);
}

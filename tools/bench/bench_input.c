/* SPDX-License-Identifier: MIT */
#include "bench/bench_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/numbers.h"

/* Alignment of every tensor, so that times do not depend on malloc(). */
enum { ALIGNMENT = 4096 };

static void *aligned_memory(size_t bytes)
{
    return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

static void fill(void *data, attend_dtype dtype, int64_t count, uint64_t seed)
{
    struct check_random random = {.seed = seed};

    for (int64_t n = 0; n < count; n++)
        check_store(data, dtype, n, sqrt(3.0) * (2 * check_random_unit(&random) - 1));
}

static void fill_random_mask(unsigned char *mask, int64_t count, uint64_t seed)
{
    struct check_random random = {.seed = seed};

    for (int64_t n = 0; n < count; n++)
        mask[n] = (unsigned char)check_random_chance(&random, 0.5);
}

/* Row i is of document floor(i DOCUMENTS / nq), key j of floor(j DOCUMENTS / nk). */
static void fill_document_mask(const struct bench_case *shape, unsigned char *mask)
{
    enum { DOCUMENTS = 8 };

    for (int64_t i = 0; i < shape->nq; i++)
        for (int64_t j = 0; j < shape->nk; j++)
            mask[i * shape->nk + j] =
                i * DOCUMENTS / shape->nq == j * DOCUMENTS / shape->nk;
}

void bench_fill_mask(const struct bench_case *shape, unsigned char *mask)
{
    if (shape->mask == BENCH_MASK_RANDOM)
        fill_random_mask(mask, shape->nq * shape->nk, 4);
    else
        fill_document_mask(shape, mask);
}

static void set_views(const struct bench_case *shape, attend_dtype dtype,
                      struct bench_input *input)
{
    input->rule = attend_rule_default();
    input->rule.causal = shape->causal;
    input->rule.window_left = shape->window_left;
    if (input->mask)
        input->rule.mask =
            attend_view_dense(input->mask, ATTEND_BOOL, 1, 1, shape->nq, shape->nk);
    input->io = attend_io_default();
    input->io.q =
        attend_view_dense(input->q, dtype, shape->nb, shape->hq, shape->nq, shape->d);
    input->io.k = input->io.v = attend_view_dense(input->store, dtype, shape->nb,
                                                  shape->hkv, shape->nk, shape->d);
    input->io.out =
        attend_tensor_dense(input->out, dtype, shape->nb, shape->hq, shape->nq, shape->d);
    bench_input_rotate(input, 0);
}

static void set_values(const struct bench_case *shape, attend_dtype dtype,
                       struct bench_input *input)
{
    const int64_t k_count = shape->nb * shape->hkv * shape->nk * shape->d;

    fill(input->q, dtype, shape->nb * shape->hq * shape->nq * shape->d, 1);
    fill(input->store, dtype, k_count, 2);
    fill(input->store + input->k_bytes, dtype, k_count, 3);
    for (int64_t copy = 1; copy < input->copies; copy++)
        memcpy(input->store + (size_t)copy * 2 * input->k_bytes, input->store,
               2 * input->k_bytes);
    if (input->mask)
        bench_fill_mask(shape, input->mask);
}

int bench_input_make(const struct bench_case *shape, attend_dtype dtype,
                     struct bench_input *input)
{
    const size_t size = attend_dtype_size(dtype);
    const size_t q_bytes = (size_t)(shape->nb * shape->hq * shape->nq * shape->d) * size;

    *input = (struct bench_input){.copies = 1};
    input->k_bytes = (size_t)(shape->nb * shape->hkv * shape->nk * shape->d) * size;
    if (shape->kind == BENCH_DECODE)
        input->copies = (int64_t)((BENCH_ROTATION_BYTES - 1) / (2 * input->k_bytes) + 1);
    input->store_bytes = (size_t)input->copies * 2 * input->k_bytes;
    input->q = aligned_memory(q_bytes);
    input->out = aligned_memory(q_bytes);
    input->store = aligned_memory(input->store_bytes);
    if (shape->mask != BENCH_MASK_NONE)
        input->mask = aligned_memory((size_t)(shape->nq * shape->nk));
    if (!input->q || !input->out || !input->store ||
        (shape->mask != BENCH_MASK_NONE && !input->mask))
        return -1;
    set_values(shape, dtype, input);
    set_views(shape, dtype, input);
    return 0;
}

void bench_input_free(struct bench_input *input)
{
    free(input->q);
    free(input->out);
    free(input->store);
    free(input->mask);
    *input = (struct bench_input){.copies = 0};
}

void bench_input_rotate(struct bench_input *input, int64_t call)
{
    const size_t copy = (size_t)(call % input->copies);

    input->io.k.data = input->store + copy * 2 * input->k_bytes;
    input->io.v.data = input->store + (copy * 2 + 1) * input->k_bytes;
}

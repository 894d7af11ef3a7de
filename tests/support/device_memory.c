/* SPDX-License-Identifier: MIT */
#include "support/device_memory.h"

#include <dlfcn.h>

#include "check/check.h"
#include "check/sample.h"

struct test_driver driver;

int open_driver(void)
{
    static const char *const names[] = {"cuMemAlloc_v2",
                                        "cuMemFree_v2",
                                        "cuMemcpyHtoD_v2",
                                        "cuMemcpyDtoH_v2",
                                        "cuDevicePrimaryCtxRetain",
                                        "cuCtxSetCurrent",
                                        "cuStreamCreate",
                                        "cuStreamBeginCapture_v2",
                                        "cuStreamEndCapture",
                                        "cuGraphInstantiateWithFlags",
                                        "cuGraphLaunch",
                                        "cuStreamSynchronize"};
    void *const library = device_runs() ? dlopen("libcuda.so.1", RTLD_NOW) : NULL;
    void *ctx;

    for (size_t x = 0; library != NULL && x < sizeof names / sizeof *names; x++) {
        void *const found = dlsym(library, names[x]);
        memcpy((char *)&driver + x * sizeof found, &found, sizeof found);
    }
    if (library != NULL && (driver.retain(&ctx, 0) != 0 || driver.set_current(ctx) != 0))
        exit(2);
    return library != NULL;
}

const char *why_not(void)
{
    static char words[256];

    attend_devices(words, sizeof words);
    return words;
}

int problems(int all) { return (int)test_count(all); }

int repetitions(int all)
{
    return strstr(why_not(), "emulated GPU") != NULL ? 2 : problems(all);
}

uintptr_t device_block(size_t size, int fill)
{
    auto_free unsigned char *const bytes = malloc(size + 2 * GUARD);
    uintptr_t at = 0;

    memset(bytes, fill, size + 2 * GUARD);
    if (driver.allocate(&at, size + 2 * GUARD) != 0 ||
        driver.copy_in(at, bytes, size + 2 * GUARD) != 0)
        exit(2);
    return at + GUARD;
}

void device_free(uintptr_t block) { driver.release(block - GUARD); }

int guards_hold(uintptr_t block, size_t size, int fill)
{
    auto_free unsigned char *const bytes = malloc(size + 2 * GUARD);
    int holds = driver.copy_out(bytes, block - GUARD, size + 2 * GUARD) == 0;

    for (size_t x = 0; x < GUARD; x++)
        holds &= bytes[x] == fill && bytes[size + GUARD + x] == fill;
    return holds;
}

static uintptr_t random_block(int64_t count, uint64_t seed)
{
    auto_free uint16_t *const numbers = malloc((size_t)count * 2);
    struct check_random random = {.seed = seed};
    const uintptr_t at = device_block((size_t)count * 2, 0);

    for (int64_t x = 0; x < count; x++)
        check_store(numbers, ATTEND_BF16, x, check_random_normal(&random));
    if (driver.copy_in(at, numbers, (size_t)count * 2) != 0)
        exit(2);
    return at;
}

/* ---- blocks of a check ----------------------------------------------------------- */

struct copies {
    const struct check_blocks *blocks;
    uintptr_t at[CHECK_BLOCKS];
};

/* `pointer` is the address of a pointer into a block; redirects it to the copy. */
static void move(const struct copies *copies, void *pointer)
{
    const unsigned char *from;

    memcpy(&from, pointer, sizeof from);
    for (int x = 0; x < CHECK_BLOCKS; x++) {
        const unsigned char *const base = copies->blocks->block[x].base;
        const size_t room = copies->blocks->block[x].room;
        if (from && base && from >= base && from <= base + room) {
            const uintptr_t to = copies->at[x] + (uintptr_t)(from - base);
            memcpy(pointer, &to, sizeof to);
            return;
        }
    }
}

static attend_status forward_copies(const struct copies *copies, attend_context *ctx,
                                    attend_rule rule, attend_io io, attend_error *err)
{
    attend_stats stats;
    void *const pointers[] = {&rule.causal_offset, &rule.key_lengths, &rule.mask.data,
                              &rule.bias.data,     &rule.alibi,       &rule.sinks,
                              &io.q.data,          &io.k.data,        &io.v.data,
                              &io.out.data,        &io.lse.data,      &io.weights.data};

    for (size_t x = 0; x < sizeof pointers / sizeof *pointers; x++)
        move(copies, pointers[x]);
    if (io.stats) {
        void *const of_stats[] = {&stats.rows.data,      &stats.top_weights.data,
                                  &stats.distances.data, &stats.class_mass.data,
                                  &stats.top_keys,       &stats.classes};
        stats = *io.stats;
        for (size_t x = 0; x < sizeof of_stats / sizeof *of_stats; x++)
            move(copies, of_stats[x]);
        io.stats = &stats;
    }
    const attend_status status = attend_forward(ctx, &rule, &io, err);
    return status == ATTEND_OK ? attend_context_wait(ctx, err) : status;
}

attend_status device_forward(struct check_blocks *blocks, attend_context *ctx,
                             const attend_rule *rule, const attend_io *io,
                             attend_error *err)
{
    struct copies copies = {.blocks = blocks};
    int holds = 1;

    for (int x = 0; x < CHECK_BLOCKS; x++)
        if (blocks->block[x].base) {
            copies.at[x] = device_block(blocks->block[x].room, 0xff);
            holds &= driver.copy_in(copies.at[x], blocks->block[x].base,
                                    blocks->block[x].room) == 0;
        }
    attend_status status = forward_copies(&copies, ctx, *rule, *io, err);
    for (int x = 0; x < CHECK_BLOCKS; x++)
        if (blocks->block[x].base) {
            holds &= guards_hold(copies.at[x], blocks->block[x].room, 0xff) &&
                     driver.copy_out(blocks->block[x].base, copies.at[x],
                                     blocks->block[x].room) == 0;
            device_free(copies.at[x]);
        }
    if (status == ATTEND_OK && !holds) {
        snprintf(err->message, sizeof err->message, "a write outside of a block");
        status = ATTEND_EINVAL;
    }
    return status;
}

struct device_problem device_problem(int64_t nb, int64_t hq, int64_t hkv, int64_t nq,
                                     int64_t nk, int64_t d)
{
    struct device_problem p = {
        nb, hq, hkv, nq, nk, d, attend_rule_default(), attend_io_default(), 0,
        0,  0,  0,   0,  0,  0};

    p.q = random_block(nb * hq * nq * d, 1);
    p.k = random_block(nb * hkv * nk * d, 2);
    p.v = random_block(nb * hkv * nk * d, 3);
    p.out_size = (size_t)(nb * hq * nq * d) * 2;
    p.lse_size = (size_t)(nb * hq * nq) * 4;
    p.out = device_block(p.out_size, 0xff);
    p.lse = device_block(p.lse_size, 0xff);
    p.io.q = attend_view_dense((void *)p.q, ATTEND_BF16, nb, hq, nq, d);
    p.io.k = attend_view_dense((void *)p.k, ATTEND_BF16, nb, hkv, nk, d);
    p.io.v = attend_view_dense((void *)p.v, ATTEND_BF16, nb, hkv, nk, d);
    p.io.out = attend_tensor_dense((void *)p.out, ATTEND_BF16, nb, hq, nq, d);
    p.io.lse = attend_tensor_dense((void *)p.lse, ATTEND_F32, nb, hq, nq, 1);
    return p;
}

void free_problem(struct device_problem *p)
{
    const uintptr_t blocks[] = {p->q, p->k, p->v, p->out, p->lse};

    for (size_t x = 0; x < sizeof blocks / sizeof *blocks; x++)
        device_free(blocks[x]);
}

attend_context *device_context(attend_order order)
{
    attend_options options = attend_options_default();
    attend_context *ctx = NULL;

    options.device = "cuda";
    options.order = order;
    if (attend_context_create(&ctx, &options, NULL) != ATTEND_OK)
        exit(2);
    return ctx;
}

int device_run(attend_context *ctx, const attend_rule *rule, const attend_io *io)
{
    return IS_OK(attend_forward, ctx, rule, io) && IS_OK(attend_context_wait, ctx);
}

unsigned char *results(const struct device_problem *p)
{
    unsigned char *const bytes = malloc(p->out_size + p->lse_size);

    if (driver.copy_out(bytes, p->out, p->out_size) != 0 ||
        driver.copy_out(bytes + p->out_size, p->lse, p->lse_size) != 0)
        exit(2);
    return bytes;
}

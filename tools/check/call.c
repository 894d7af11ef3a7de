/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE

#include "check/call.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Examined bytes around an output. */
enum { MARGIN = 256, POISON = 0xff };

/* The blocks after those of tensors. */
enum { OFFSETS = CHECK_TENSORS, LENGTHS, ALIBI, SINKS, CLASSES, TOP_KEYS };

/* The message for a fault in the running call, prepared before it. */
static char fault_line[768];

static void on_fault(int signal_number)
{
    (void)signal_number;
    if (write(STDERR_FILENO, fault_line, strlen(fault_line)) < 0)
        _exit(2);
    _exit(1);
}

void check_report_faults(void)
{
    struct sigaction action = {.sa_handler = on_fault};

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

static void prepare_fault_line(const attend_context *ctx, const struct check_problem *p)
{
    char problem[512];

    check_describe(p, problem, sizeof problem);
    snprintf(fault_line, sizeof fault_line,
             "attend check: %s: access outside a tensor; %s\n", attend_context_isa(ctx),
             problem);
}

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* `room` bytes between two unreadable pages; NULL: out of memory. */
static unsigned char *map_guarded(size_t room)
{
#ifdef __EMSCRIPTEN__
    return malloc(room);
#else
    const size_t page = page_size();
    unsigned char *const base =
        mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED || mprotect(base + page, room, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    return base + page;
#endif
}

static void unmap_guarded(unsigned char *base, size_t room)
{
#ifdef __EMSCRIPTEN__
    (void)room;
    free(base);
#else
    munmap(base - page_size(), room + 2 * page_size());
#endif
}

int check_has_guards(void)
{
#ifdef __EMSCRIPTEN__
    return 0;
#else
    return 1;
#endif
}

static void release(struct check_blocks *blocks, int which)
{
    if (blocks->block[which].base == NULL)
        return;
    if (blocks->exact)
        free(blocks->block[which].base);
    else
        unmap_guarded(blocks->block[which].base, blocks->block[which].room);
    blocks->block[which].base = NULL;
    blocks->block[which].room = 0;
}

void check_blocks_free(struct check_blocks *blocks)
{
    for (int which = 0; which < CHECK_BLOCKS; which++)
        release(blocks, which);
}

static void reserve(struct check_blocks *blocks, int which, size_t size)
{
    const size_t page = page_size();

    if (blocks->exact) {
        release(blocks, which);
        blocks->block[which].base = check_memory(size, 1);
        blocks->block[which].room = size;
        return;
    }
    if (blocks->block[which].base != NULL && size + MARGIN <= blocks->block[which].room)
        return;
    release(blocks, which);

    const size_t room = (2 * size + MARGIN + page - 1) / page * page;
    blocks->block[which].base = map_guarded(room);
    if (!blocks->block[which].base) {
        fprintf(stderr, "attend check: cannot map %zu bytes\n", room);
        exit(1);
    }
    blocks->block[which].room = room;
}

/* `size` bytes of poison with poison around them, at one end of the block. */
static unsigned char *place(struct check_blocks *blocks, int which, size_t size,
                            int at_start)
{
    reserve(blocks, which, size);

    unsigned char *const base = blocks->block[which].base;
    const size_t room = blocks->block[which].room;
    const size_t around = size + MARGIN < room ? size + MARGIN : room;
    if (at_start) {
        memset(base, POISON, around);
        return base;
    }
    memset(base + room - around, POISON, around);
    return base + room - size;
}

/* The first overwritten byte around a block, or -1. */
static int64_t spoilt(const struct check_blocks *blocks, int which, size_t size,
                      int at_start)
{
    const size_t room = blocks->block[which].room;
    const size_t around = size + MARGIN < room ? size + MARGIN : room;
    const unsigned char *const from =
        blocks->block[which].base + (at_start ? 0 : room - around);

    for (size_t at = 0; at < around; at++)
        if (from[at] != POISON)
            return (int64_t)at;
    return -1;
}

/* A tensor in memory, all of whose elements lie in `bytes` bytes. */
struct placed {
    attend_tensor tensor;
    size_t bytes;
};

/* Sets the strides; returns the span of the elements and the place of the first in it. */
static int64_t set_strides(attend_tensor *t, const struct check_layout *layout,
                           int64_t *first)
{
    static const int orders[4][4] = {
        {3, 2, 1, 0}, {3, 1, 2, 0}, {2, 3, 1, 0}, {0, 1, 2, 3}};
    int64_t extent = 1, last = 0;

    *first = 0;
    for (int at = 0; at < 4; at++) {
        const int axis = orders[layout->order & 3][at];
        const int64_t n = t->size[axis];
        int64_t stride = extent * (1 + layout->skip[axis]);
        if (layout->broadcast >> axis & 1)
            stride = 0;
        else if (n > 0)
            extent = stride * n + (at == 0 ? layout->pad : 0);
        const int64_t reach = n > 0 ? stride * (n - 1) : 0;
        if (layout->negative >> axis & 1) {
            *first += reach;
            stride = -stride;
        }
        last += reach;
        t->stride[axis] = stride;
    }
    return check_count(t->size) > 0 ? last + 1 : 0;
}

static struct placed place_tensor(struct check_blocks *blocks,
                                  const struct check_problem *p, int which)
{
    struct placed t = {.tensor.dtype = check_tensor_dtype(p, which)};
    const size_t width = attend_dtype_size(t.tensor.dtype);
    int64_t first;

    check_tensor_shape(p, which, t.tensor.size);
    t.bytes = (size_t)set_strides(&t.tensor, &p->layout[which], &first) * width;
    t.tensor.data =
        place(blocks, which, t.bytes, p->layout[which].at_start) + (size_t)first * width;
    return t;
}

static int64_t rows_of(const attend_tensor *t)
{
    return t->size[0] * t->size[1] * t->size[2];
}

/* Offset of the first element of row `row` from element 0. */
static int64_t row_start(const attend_tensor *t, int64_t row)
{
    const int64_t plane = row / t->size[2];

    return plane / t->size[1] * t->stride[0] + plane % t->size[1] * t->stride[1] +
           row % t->size[2] * t->stride[2];
}

/* Reads every element and replaces it by poison. */
static double *take(const struct placed *placed)
{
    const attend_tensor *const t = &placed->tensor;
    double *const values = check_memory((size_t)check_count(t->size), sizeof *values);
    const size_t width = attend_dtype_size(t->dtype);
    int64_t at = 0;

    for (int64_t row = 0; row < rows_of(t); row++)
        for (int64_t c = 0; c < t->size[3]; c++) {
            const int64_t element = row_start(t, row) + c * t->stride[3];
            values[at++] = check_load(t->data, t->dtype, element);
            memset((char *)t->data + element * (int64_t)width, POISON, width);
        }
    return values;
}

static attend_view place_input(struct check_blocks *blocks, const struct check_problem *p,
                               int which)
{
    const attend_tensor t = place_tensor(blocks, p, which).tensor;
    int64_t at = 0;

    for (int64_t row = 0; row < rows_of(&t); row++)
        for (int64_t c = 0; c < t.size[3]; c++)
            check_store(t.data, t.dtype, row_start(&t, row) + c * t.stride[3],
                        p->input[which][at++]);
    return attend_view_of(&t);
}

static const void *place_array(struct check_blocks *blocks, int which, const void *from,
                               int64_t count, size_t size)
{
    if (from == NULL)
        return NULL;

    unsigned char *const to = place(blocks, which, (size_t)count * size, 0);
    memcpy(to, from, (size_t)count * size);
    return to;
}

static attend_rule place_rule(struct check_blocks *blocks, const struct check_problem *p)
{
    attend_rule rule = attend_rule_default();

    rule.scale_is_set = p->scale_is_set;
    rule.scale = p->scale;
    rule.softcap = p->softcap;
    rule.causal = p->causal;
    rule.causal_offset =
        place_array(blocks, OFFSETS, p->causal_offset, p->nb, sizeof *p->causal_offset);
    rule.window_left = p->window_left;
    rule.window_right = p->window_right;
    rule.key_lengths =
        place_array(blocks, LENGTHS, p->key_lengths, p->nb, sizeof *p->key_lengths);
    if (p->mask != NULL)
        rule.mask = place_input(blocks, p, CHECK_MASK);
    if (p->bias != NULL)
        rule.bias = place_input(blocks, p, CHECK_BIAS);
    rule.alibi = place_array(blocks, ALIBI, p->alibi, p->hq, sizeof *p->alibi);
    rule.sinks = place_array(blocks, SINKS, p->sinks, p->hq, sizeof *p->sinks);
    return rule;
}

const char *const check_output_names[CHECK_OUTPUTS] = {
    "out",         "lse",       "weights",    "rows",
    "top_weights", "distances", "class_mass", "top_keys"};

int check_output_shape(int output)
{
    return output == CHECK_TOP_KEYS ? CHECK_TOP_WEIGHTS : CHECK_OUT + output;
}

void check_outputs_free(struct check_outputs *outputs)
{
    for (int t = 0; t < CHECK_OUTPUTS; t++)
        free(outputs->values[t]);
    *outputs = (struct check_outputs){0};
}

/* A call in memory, with its outputs. */
struct placed_call {
    attend_io io;
    attend_stats stats;
    struct placed placed[CHECK_TOP_KEYS];
};

static void place_outputs(struct check_blocks *blocks, const struct check_problem *p,
                          struct placed_call *call)
{
    attend_tensor *const tensors[] = {&call->io.out,
                                      &call->io.lse,
                                      &call->io.weights,
                                      &call->stats.rows,
                                      &call->stats.top_weights,
                                      &call->stats.distances,
                                      &call->stats.class_mass};

    for (int t = 0; t < CHECK_TOP_KEYS; t++)
        if (check_wants(p, CHECK_OUT + t)) {
            call->placed[t] = place_tensor(blocks, p, CHECK_OUT + t);
            *tensors[t] = call->placed[t].tensor;
        }
}

/* Bytes of top_keys. */
static size_t names_size(const struct check_problem *p)
{
    return (size_t)(p->nb * p->hq * p->nq * p->stats.top) * sizeof(int64_t);
}

static void place_stats(struct check_blocks *blocks, const struct check_problem *p,
                        struct placed_call *call)
{
    const struct check_request *const request = &p->stats;

    call->stats.columns = request->column;
    call->stats.classes =
        place_array(blocks, CLASSES, request->classes, p->nb * p->nk, sizeof(int32_t));
    if (request->top > 0)
        call->stats.top_keys = (void *)place(blocks, TOP_KEYS, names_size(p), 0);
    if (request->columns + request->top + request->bins + request->class_count > 0)
        call->io.stats = &call->stats;
}

static double *take_names(const struct check_problem *p, int64_t *names)
{
    const int64_t count = p->nb * p->hq * p->nq * p->stats.top;
    double *const values = check_memory((size_t)count, sizeof *values);

    for (int64_t at = 0; at < count; at++)
        values[at] = (double)names[at];
    memset(names, POISON, names_size(p));
    return values;
}

/* Reads the outputs; 0, and the name of an output, if memory around it was written. */
static int take_outputs(const struct check_blocks *blocks, const struct check_problem *p,
                        const struct placed_call *call, struct check_outputs *outputs,
                        char *reason, size_t reason_size)
{
    for (int t = 0; t < CHECK_OUTPUTS; t++) {
        const struct placed *const placed = &call->placed[t];
        int64_t at;
        if (!check_wants(p, check_output_shape(t)))
            continue;
        if (t == CHECK_TOP_KEYS) {
            outputs->values[t] = take_names(p, call->stats.top_keys);
            at = spoilt(blocks, TOP_KEYS, names_size(p), 0);
        } else {
            outputs->values[t] = take(placed);
            at = spoilt(blocks, CHECK_OUT + t, placed->bytes,
                        p->layout[CHECK_OUT + t].at_start);
        }
        if (at < 0)
            continue;
        snprintf(reason, reason_size, "wrote outside %s (byte %lld of its block)",
                 check_output_names[t], (long long)at);
        check_outputs_free(outputs);
        return 0;
    }
    return 1;
}

void check_place(struct check_blocks *blocks, const struct check_problem *p)
{
    blocks->rule = place_rule(blocks, p);
    blocks->io = attend_io_default();
    blocks->io.q = place_input(blocks, p, CHECK_Q);
    blocks->io.k = place_input(blocks, p, CHECK_K);
    blocks->io.v = place_input(blocks, p, CHECK_V);
}

int check_call_placed(struct check_blocks *blocks, attend_context *ctx,
                      const struct check_problem *p, struct check_outputs *outputs,
                      char *reason, size_t reason_size)
{
    struct placed_call call = {.io = blocks->io, .stats = attend_stats_default()};
    attend_error error;

    *outputs = (struct check_outputs){0};
    place_outputs(blocks, p, &call);
    place_stats(blocks, p, &call);
    prepare_fault_line(ctx, p);
    const attend_status status =
        blocks->forward ? blocks->forward(blocks, ctx, &blocks->rule, &call.io, &error)
                        : attend_forward(ctx, &blocks->rule, &call.io, &error);
    if (status != ATTEND_OK) {
        snprintf(reason, reason_size, "%s: %s", attend_status_name(status),
                 error.message);
        return 0;
    }
    return take_outputs(blocks, p, &call, outputs, reason, reason_size);
}

int check_call(struct check_blocks *blocks, attend_context *ctx,
               const struct check_problem *p, struct check_outputs *outputs, char *reason,
               size_t reason_size)
{
    check_place(blocks, p);
    return check_call_placed(blocks, ctx, p, outputs, reason, reason_size);
}

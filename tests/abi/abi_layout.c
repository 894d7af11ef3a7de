/* SPDX-License-Identifier: MIT */
/*
 * Sizes, offsets and numbers of 0.1 on 64-bit machines, which never change: structs grow
 * at their end.
 */
#include <attend/stats.h>

#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX == UINT64_MAX

#define AT(type, field, offset)                                                          \
    _Static_assert(offsetof(attend_##type, field) == (offset), #type "." #field)
#define FROZEN(type, size) _Static_assert(sizeof(attend_##type) == (size), #type)
/* New fields fill whole 8 bytes, never padding. */
#define GROWS(type, size)                                                                \
    _Static_assert(sizeof(attend_##type) >= (size) && sizeof(attend_##type) % 8 == 0,    \
                   #type)

FROZEN(error, 256);
AT(error, status, 0);
AT(error, message, 4);

FROZEN(view, 80);
AT(view, data, 0);
AT(view, dtype, 8);
AT(view, size, 16);
AT(view, stride, 48);

FROZEN(tensor, 80);
AT(tensor, data, 0);
AT(tensor, dtype, 8);
AT(tensor, size, 16);
AT(tensor, stride, 48);

FROZEN(part, 160);
AT(part, out, 0);
AT(part, lse, 80);

GROWS(options, 80);
AT(options, struct_size, 0);
AT(options, threads, 8);
AT(options, isa, 16);
AT(options, alloc, 24);
AT(options, free, 32);
AT(options, alloc_user, 40);
AT(options, parallel_for, 48);
AT(options, parallel_user, 56);
AT(options, progress, 64);
AT(options, progress_user, 72);
AT(options, order, 80);

GROWS(rule, 248);
AT(rule, struct_size, 0);
AT(rule, scale_is_set, 8);
AT(rule, scale, 16);
AT(rule, softcap, 24);
AT(rule, causal, 32);
AT(rule, causal_offset, 40);
AT(rule, window_left, 48);
AT(rule, window_right, 56);
AT(rule, key_lengths, 64);
AT(rule, mask, 72);
AT(rule, bias, 152);
AT(rule, alibi, 232);
AT(rule, sinks, 240);

GROWS(io, 504);
AT(io, struct_size, 0);
AT(io, q, 8);
AT(io, k, 88);
AT(io, v, 168);
AT(io, out, 248);
AT(io, lse, 328);
AT(io, weights, 408);
AT(io, force_weights, 488);
AT(io, stats, 496);

GROWS(stats, 360);
AT(stats, struct_size, 0);
AT(stats, columns, 8);
AT(stats, rows, 16);
AT(stats, top_weights, 96);
AT(stats, top_keys, 176);
AT(stats, distances, 184);
AT(stats, class_mass, 264);
AT(stats, classes, 344);
AT(stats, summaries, 352);
AT(stats, raw, 360);

GROWS(summary, 552);

#endif

#define IS(name, number) _Static_assert((int)(name) == (number), #name)

IS(ATTEND_OK, 0);
IS(ATTEND_EINVAL, 1);
IS(ATTEND_ENOMEM, 2);
IS(ATTEND_EUNSUPPORTED, 3);
IS(ATTEND_ETOOBIG, 4);
IS(ATTEND_ECOMM, 6);
IS(ATTEND_ECANCELLED, 7);
IS(ATTEND_EBUSY, 8);
IS(ATTEND_F64, 1);
IS(ATTEND_F32, 2);
IS(ATTEND_F16, 3);
IS(ATTEND_BF16, 4);
IS(ATTEND_BOOL, 5);
IS(ATTEND_CAUSAL_NONE, 0);
IS(ATTEND_CAUSAL_TOP_LEFT, 1);
IS(ATTEND_CAUSAL_BOTTOM_RIGHT, 2);
IS(ATTEND_CAUSAL_OFFSET, 3);

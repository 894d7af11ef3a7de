/* SPDX-License-Identifier: MIT */
/*
 * Structs of older and newer headers: docs/ARCHITECTURE.md.  Each ends at an unreadable
 * page.
 */
#include "support/strides.h"

enum { NQ = 3, NK = 5, D = 4, LARGER = 24 };

static float q[NQ * D], k[NK * D], v[NK * D], out[NQ * D];

static attend_io sound_io(void)
{
    attend_io io = attend_io_default();

    io.q = attend_view_dense(q, ATTEND_F32, 1, 1, NQ, D);
    io.k = attend_view_dense(k, ATTEND_F32, 1, 1, NK, D);
    io.v = attend_view_dense(v, ATTEND_F32, 1, 1, NK, D);
    io.out = attend_tensor_dense(out, ATTEND_F32, 1, 1, NQ, D);
    return io;
}

static attend_context *ctx;

/* Status of a call with the structs, and its error. */
static attend_status forward(const attend_rule *rule, const attend_io *io,
                             attend_error *err)
{
    memset(out, 0x55, sizeof out);
    const attend_status status = attend_forward(ctx, rule, io, err);
    if (attend_forward(ctx, rule, io, NULL) != status)
        test_fail(__FILE__, __LINE__, "the same status", "with err NULL");
    return status;
}

/* Status of creating a context, which is then freed. */
static attend_status create(const attend_options *options, attend_error *err)
{
    auto_context made = NULL;
    const attend_status status = attend_context_create(&made, options, err);

    if (status != ATTEND_OK &&
        (made != NULL || attend_context_create(&made, options, NULL) != status))
        test_fail(__FILE__, __LINE__, "no context", "after a failure");
    return status;
}

TEST(older_options)
{
    const attend_options now = attend_options_default();
    auto_guarded old = struct_at_end(&now, sizeof now, 80);

    CHECK(create((void *)old.data, NULL) == ATTEND_OK, "80 bytes, as in 0.1");
}

/* One struct: larger with zeros, larger with another byte at either end, unpublished
 * sizes. */
#define GROWS(given, name, call)                                                         \
    do {                                                                                 \
        const size_t known = sizeof(given);                                              \
        char text[64];                                                                   \
        attend_error err = {.message = ""};                                              \
        auto_guarded end = struct_at_end(&(given), known, known + LARGER);               \
        void *const larger = end.data;                                                   \
        CHECK((call) == ATTEND_OK, "%s with a tail of zeros: %s", name, err.message);    \
        for (size_t at = known; at < known + LARGER; at += LARGER - 1) {                 \
            end.data[at] = 1;                                                            \
            snprintf(text, sizeof text, "%s has byte %zu", name, at);                    \
            CHECK((call) == ATTEND_EUNSUPPORTED && strstr(err.message, text),            \
                  "%s with a tail: %s", name, err.message);                              \
            end.data[at] = 0;                                                            \
        }                                                                                \
    } while (0)

/* A size below the first published one, or between two published ones. */
#define REFUSES(given, name, bytes, first, call)                                         \
    do {                                                                                 \
        char text[32];                                                                   \
        attend_error err = {.message = ""};                                              \
        auto_guarded end = struct_at_end(&(given), sizeof(given), bytes);                \
        void *const larger = end.data;                                                   \
        snprintf(text, sizeof text, "(%zu)", (size_t)(bytes));                           \
        CHECK(is_refused(call, ATTEND_EINVAL, &err, name ".struct_size", text), name);   \
        CHECK(strstr(err.message, (bytes) < (first) ? " is below " : " of any header"),  \
              "%s", err.message);                                                        \
    } while (0)

TEST(newer_structs)
{
    const attend_options options = attend_options_default();
    const attend_rule rule = attend_rule_default();
    const attend_io io = sound_io();

    GROWS(options, "options", create(larger, &err));
    GROWS(rule, "rule", forward(larger, &io, &err));
    GROWS(io, "io", forward(&rule, larger, &err));
}

TEST(sizes_that_never_were)
{
    const attend_options options = attend_options_default();
    const attend_rule rule = attend_rule_default();
    const attend_io io = sound_io();
    static const size_t sizes[] = {
        0, 1, sizeof(size_t), offsetof(attend_options, progress), 72, 84, SIZE_MAX};

    for (size_t at = 0; at < sizeof sizes / sizeof sizes[0]; at++)
        REFUSES(options, "options", sizes[at], 80, create(larger, &err));
    REFUSES(rule, "rule", 0, 248, forward(larger, &io, &err));
    REFUSES(rule, "rule", 240, 248, forward(larger, &io, &err));
    REFUSES(io, "io", 0, 504, forward(&rule, larger, &err));
    REFUSES(io, "io", 496, 504, forward(&rule, larger, &err));
    for (int x = 0; x < NQ * D; x++)
        CHECK(memcmp(&out[x], "\x55\x55\x55\x55", sizeof out[x]) == 0, "written");
}

/* Summaries of `stride` bytes each in a request with `kinds` of them. */
static attend_status summarise(attend_stats *stats, char *to, int64_t stride,
                               int64_t kinds, attend_error *err)
{
    attend_io io = sound_io();

    stats->summaries = (attend_summary *)(void *)to;
    stats->summary_stride = stride;
    stats->summary_kinds = kinds;
    io.stats = stats;
    return forward(NULL, &io, err);
}

TEST(summaries_of_any_header)
{
    enum { ROOM = 5 * ATTEND_SUMMARY_GROUPS * 600, SMALL = 552 };
    static char now[ROOM], old[ROOM], wide[ROOM], two[ROOM];
    attend_stats stats = attend_stats_default();
    attend_error err = {.message = ""};

    CHECK(summarise(&stats, now, sizeof(attend_summary), ATTEND_SUMMARY_COUNT, &err) ==
              ATTEND_OK,
          "%s", err.message);
    memset(wide, 0x55, sizeof wide);
    CHECK(summarise(&stats, wide, 600, 5, &err) == ATTEND_OK, "%s", err.message);
    CHECK(summarise(&stats, two, SMALL, 2, &err) == ATTEND_OK, "%s", err.message);
    for (int x = 0; x < 5 * ATTEND_SUMMARY_GROUPS; x++) {
        const char *const first = now + x * (int)sizeof(attend_summary);
        CHECK(memcmp(first, wide + x * 600, SMALL) == 0, "summary %d at 600", x);
        for (int byte = SMALL; byte < 600; byte++)
            CHECK(wide[x * 600 + byte] == 0, "byte %d of summary %d", byte, x);
        if (x < 2 * ATTEND_SUMMARY_GROUPS)
            CHECK(memcmp(first, two + x * SMALL, SMALL) == 0, "summary %d of two", x);
    }

    /* A request of 0.1 has no field for the size of summaries. */
    stats.summaries = (attend_summary *)(void *)old;
    auto_guarded older = struct_at_end(&stats, sizeof stats, 360);
    attend_io io = sound_io();
    io.stats = (void *)older.data;
    CHECK(forward(NULL, &io, &err) == ATTEND_OK, "%s", err.message);
    for (int x = 0; x < 5 * ATTEND_SUMMARY_GROUPS; x++)
        CHECK(memcmp(now + x * (int)sizeof(attend_summary), old + x * SMALL, SMALL) == 0,
              "summary %d of 0.1", x);

    static const struct {
        int64_t stride, kinds;
        const char *field, *value;
    } wrong[] = {{544, 5, "summary_stride", "(544)"},
                 {1 << 20, 5, "summary_stride", "(1048576)"},
                 {600, -1, "summary_kinds", "(-1)"}};
    for (int x = 0; x < 3; x++)
        CHECK(is_refused(summarise(&stats, now, wrong[x].stride, wrong[x].kinds, &err),
                         ATTEND_EINVAL, &err, wrong[x].field, wrong[x].value),
              "case %d", x);

    /* A newer header has an unknown kind: its summaries are 0. */
    static char six[6 * ATTEND_SUMMARY_GROUPS * SMALL];
    memset(six, 0x55, sizeof six);
    CHECK(summarise(&stats, six, SMALL, 6, &err) == ATTEND_OK, "%s", err.message);
    for (int x = 0; x < 5 * ATTEND_SUMMARY_GROUPS; x++)
        CHECK(memcmp(old + x * SMALL, six + x * SMALL, SMALL) == 0, "summary %d of 6", x);
    for (size_t byte = 5 * ATTEND_SUMMARY_GROUPS * SMALL; byte < sizeof six; byte++)
        CHECK(six[byte] == 0, "byte %zu of an unknown kind", byte);
}

TEST(structs_that_the_library_fills)
{
    const attend_isa isa = attend_isa_default();
    struct {
        attend_isa isa;
        char more[LARGER];
    } larger;

    memset(&larger, 0x55, sizeof larger);
    larger.isa.struct_size = sizeof larger;
    CHECK(attend_isa_get(0, &larger.isa) == ATTEND_OK, "a newer header's");
    CHECK(larger.isa.name != NULL && larger.more[0] == 0 && larger.more[LARGER - 1] == 0,
          "name, and zeros");
    larger.isa.struct_size = sizeof isa - 8;
    CHECK(attend_isa_get(0, &larger.isa) == ATTEND_EINVAL, "too small");

    attend_head head = attend_head_default();
    char reason[100];
    head.struct_size = 16;
    CHECK(attend_head_character(&head, 0.1, reason, sizeof reason) ==
                  ATTEND_CHARACTER_MIXED &&
              strstr(reason, "head.struct_size (16)"),
          "%s", reason);
}

TEST(dense_layouts)
{
    const attend_view bhld = attend_view_dense(q, ATTEND_F32, 2, 3, 5, 7);
    const attend_tensor blhd = attend_tensor_dense_blhd(out, ATTEND_F16, 2, 5, 3, 7);
    const int64_t size[4] = {2, 3, 5, 7};
    const int64_t stride[4] = {105, 35, 7, 1}, other[4] = {105, 7, 21, 1};

    CHECK(bhld.data == q && bhld.dtype == ATTEND_F32, "data and dtype");
    CHECK(blhd.data == out && blhd.dtype == ATTEND_F16, "data and dtype");
    CHECK(memcmp(bhld.size, size, sizeof size) == 0 &&
              memcmp(blhd.size, size, sizeof size) == 0,
          "sizes are b, h, l, d in both");
    CHECK(memcmp(bhld.stride, stride, sizeof stride) == 0, "(b, h, l, d)");
    CHECK(memcmp(blhd.stride, other, sizeof other) == 0, "(b, l, h, d)");
}

BEFORE_ALL
{
    ctx = open_context(NULL);
    for (int x = 0; x < NK * D; x++) {
        k[x] = (float)(x % 7) / 4 - 1;
        v[x] = (float)x;
        q[x % (NQ * D)] = (float)(x % 5) - 2;
    }
}
AFTER_ALL { attend_context_destroy(ctx); }

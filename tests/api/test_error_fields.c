/* SPDX-License-Identifier: MIT */
/* attend_error.field and .member: the argument that a call refused, as numbers. */
#include <stddef.h>

#include "support/problems.h"

static attend_context *ctx;

/* The struct has kept its size: its message became shorter. */
_Static_assert(sizeof(attend_error) == 256 && offsetof(attend_error, message) == 4 &&
                   offsetof(attend_error, field) == 248 &&
                   offsetof(attend_error, member) == 252,
               "attend_error");

TEST(each_field_has_one_name)
{
#define COUNTED(identifier, number, name) {ATTEND_FIELD_##identifier, number, name},
    static const struct {
        attend_field field;
        int number;
        const char *name;
    } list[] = {ATTEND_FIELDS(COUNTED)};
    const int count = sizeof list / sizeof list[0];

    for (int x = 0; x < count; x++) {
        CHECK(list[x].number == x + 1 && list[x].field == (attend_field)(x + 1), "%s",
              list[x].name);
        CHECK(strcmp(attend_field_name(list[x].field), list[x].name) == 0, "%s",
              list[x].name);
        for (int y = 0; y < x; y++)
            CHECK(strcmp(list[x].name, list[y].name) != 0, "%s twice", list[x].name);
    }
    CHECK(strcmp(attend_field_name(ATTEND_FIELD_NONE), "") == 0, "none");
    CHECK(strcmp(attend_field_name((attend_field)(count + 1)), "") == 0,
          "after the last");
    CHECK(strcmp(attend_field_name((attend_field)-1), "") == 0, "-1");
}

static void expect(const char *what, attend_status status, attend_status want,
                   const attend_error *err, attend_field field, attend_member member)
{
    CHECK(status == want && err->field == field && err->member == member,
          "%s: status %d, field %d \"%s\", member %d: \"%s\"", what, (int)status,
          (int)err->field, attend_field_name(err->field), (int)err->member, err->message);
}

/* A sound call after `change`, and the field and member that it is refused for. */
#define REFUSED_FORWARD(FIELD, MEMBER, change)                                           \
    do {                                                                                 \
        problem wrong = p;                                                               \
        attend_error err = {.field = ATTEND_FIELD_COMM, .member = ATTEND_MEMBER_SIZE};   \
        change;                                                                          \
        expect(#change, attend_forward(ctx, &wrong.rule, &wrong.io, &err),               \
               ATTEND_EINVAL, &err, ATTEND_FIELD_##FIELD, ATTEND_MEMBER_##MEMBER);       \
    } while (0)

TEST(forward_names_the_field)
{
    static const int64_t lengths[] = {1 << 20};
    static const double sinks[] = {NAN, NAN};
    auto_problem p = problem_make((shape){1, 2, 1, 3, 5, 4, 4}, ATTEND_F32, 1);

    REFUSED_FORWARD(Q, DATA, wrong.io.q.data = NULL);
    REFUSED_FORWARD(Q, DATA, wrong.io.q.data = (const char *)wrong.io.q.data + 1);
    REFUSED_FORWARD(K, DTYPE, wrong.io.k.dtype = ATTEND_F64);
    REFUSED_FORWARD(V, SIZE, wrong.io.v.size[2]++);
    REFUSED_FORWARD(OUT, STRIDE, wrong.io.out.stride[2] = 0);
    REFUSED_FORWARD(OUT, NONE, wrong.io.out.data = wrong.io.lse.data);
    REFUSED_FORWARD(IO, STRUCT_SIZE, wrong.io.struct_size = 7);
    REFUSED_FORWARD(CAUSAL, NONE, wrong.rule.causal = (attend_causal)77);
    REFUSED_FORWARD(CAUSAL_OFFSET, NONE, wrong.rule.causal = ATTEND_CAUSAL_OFFSET);
    REFUSED_FORWARD(WINDOW_LEFT, NONE, wrong.rule.window_left = -2);
    REFUSED_FORWARD(SOFTCAP, NONE, wrong.rule.softcap = -1);
    REFUSED_FORWARD(KEY_LENGTHS, NONE, wrong.rule.key_lengths = lengths);
    REFUSED_FORWARD(SINKS, NONE, wrong.rule.sinks = sinks);
    REFUSED_FORWARD(MASK, DTYPE,
                    wrong.rule.mask =
                        attend_view_dense(wrong.io.q.data, ATTEND_F32, 1, 1, 1, 5));
}

/* A list index between field and member, and a name that begins another's. */
TEST(parts_and_statistics_name_the_field)
{
    auto_problem p = problem_make((shape){1, 2, 1, 3, 5, 4, 4}, ATTEND_F32, 1);
    attend_part parts[2] = {{view_of_tensor(&p.io.out), view_of_tensor(&p.io.lse)},
                            {view_of_tensor(&p.io.out), view_of_tensor(&p.io.lse)}};
    static const attend_stat columns[] = {ATTEND_STAT_MAX, ATTEND_STAT_MAX};
    attend_stats stats = attend_stats_default();
    attend_error err = {.field = ATTEND_FIELD_NONE};

    parts[1].lse.dtype = ATTEND_BF16;
    expect("merge", attend_merge(parts, 2, &p.io.out, NULL, &err), ATTEND_EINVAL, &err,
           ATTEND_FIELD_PARTS, ATTEND_MEMBER_DTYPE);
    expect("count", attend_merge(parts, -1, &p.io.out, NULL, &err), ATTEND_EINVAL, &err,
           ATTEND_FIELD_COUNT, ATTEND_MEMBER_NONE);
    stats.columns = columns;
    stats.rows = attend_tensor_dense(p.io.out.data, ATTEND_F32, 1, 2, 3, 2);
    p.io.stats = &stats;
    expect("columns", attend_forward(ctx, &p.rule, &p.io, &err), ATTEND_EINVAL, &err,
           ATTEND_FIELD_STATS_COLUMNS, ATTEND_MEMBER_NONE);
    stats.struct_size = 1;
    expect("stats", attend_forward(ctx, &p.rule, &p.io, &err), ATTEND_EINVAL, &err,
           ATTEND_FIELD_STATS, ATTEND_MEMBER_STRUCT_SIZE);
}

static void *refuse_memory(void *user, size_t size, size_t alignment)
{
    (void)user, (void)size, (void)alignment;
    return NULL;
}
static void free_nothing(void *user, void *memory) { (void)user, (void)memory; }

TEST(other_errors_name_no_field)
{
    attend_options options = attend_options_default();
    attend_error err = {.field = ATTEND_FIELD_Q, .member = ATTEND_MEMBER_SIZE};
    attend_context *none;

    options.alloc = refuse_memory;
    options.free = free_nothing;
    expect("memory", attend_context_create(&none, &options, &err), ATTEND_ENOMEM, &err,
           ATTEND_FIELD_NONE, ATTEND_MEMBER_NONE);
}

TEST(a_long_message_ends_before_the_field)
{
    char isa[400];
    attend_options options = attend_options_default();
    attend_error err;
    attend_context *none;

    memset(isa, 'x', sizeof isa - 1);
    isa[sizeof isa - 1] = '\0';
    options.isa = isa;
    memset(&err, 0x5a, sizeof err);
    expect("isa", attend_context_create(&none, &options, &err), ATTEND_EINVAL, &err,
           ATTEND_FIELD_OPTIONS_ISA, ATTEND_MEMBER_NONE);
    CHECK(memchr(err.message, '\0', sizeof err.message) != NULL, "not terminated");
}

BEFORE_ALL { ctx = open_context(NULL); }
AFTER_ALL { attend_context_destroy(ctx); }

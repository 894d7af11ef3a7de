/* SPDX-License-Identifier: MIT */
/* A head's character: both sides of every threshold, the order of tests, real heads. */
#include <attend/stats.h>

#include "support/tensors.h"
#include "support/test.h"

/* A mixed head of 1024 keys. */
static attend_head plain_head(void)
{
    attend_head head = {.struct_size = sizeof head,
                        .rows = 1024,
                        .keys = 1024,
                        .max = 4,
                        .n_eff = 40,
                        .sink1 = 0.001,
                        .previous = 0.001,
                        .log_distance = 5.5,
                        .raw_sd = 1.5,
                        .entropy_share = 0.7,
                        .margin = 0.2};

    for (int x = 0; x < ATTEND_TOP_MAX; x++)
        head.top_mass[x] = 0.05 * (x + 1);
    return head;
}

/* A head that spreads nearly all its mass evenly over m keys. */
static attend_head even_head(int m, double mass)
{
    attend_head head = plain_head();

    head.n_eff = m;
    head.entropy_share = log(m) / log(head.keys);
    for (int x = 0; x < ATTEND_TOP_MAX; x++)
        head.top_mass[x] = mass * fmin(1, (x + 1.0) / m);
    return head;
}

static const char *character(const attend_head *head)
{
    return attend_character_name(attend_head_character(head, ATTEND_HEAD_NOISE, NULL, 0));
}

#define CHECK_IS(head, name)                                                             \
    CHECK(strcmp(character(&(head)), name) == 0, "%s", character(&(head)))

/* The class is `mixed` below the threshold of `field` and `name` above it. */
#define CHECK_THRESHOLD(field, below, above, name)                                       \
    do {                                                                                 \
        attend_head head = plain_head();                                                 \
        head.field = below;                                                              \
        CHECK_IS(head, "mixed");                                                         \
        head.field = above;                                                              \
        CHECK_IS(head, name);                                                            \
    } while (0)

TEST(thresholds)
{
    CHECK_THRESHOLD(entropy_share, 0.9, 0.9001, "diffuse");
    CHECK_THRESHOLD(previous, 0.5, 0.5001, "previous token");
    CHECK_THRESHOLD(sink1, 0.3, 0.3001, "sink");
    CHECK_THRESHOLD(top_mass[0], 0.9, 0.9001, "copy");
    /* sqrt(2 ln 1024) = 3.7233 */
    CHECK_THRESHOLD(raw_sd, 3.723, 3.724, "frozen");
    /* Typical distance 32 = sqrt(1024). */
    CHECK_THRESHOLD(log_distance, log(33.01), log(32.99), "local");
}

TEST(few_keys_are_not_local_so_soon)
{
    attend_head head = plain_head();

    head.keys = 32; /* sqrt(keys) is 5.7, keys / 8 is 4 */
    head.log_distance = log(1 + 4.1);
    CHECK_IS(head, "mixed");
    head.log_distance = log(1 + 3.9);
    CHECK_IS(head, "local");
}

TEST(averages)
{
    for (int m = 2; m <= ATTEND_TOP_MAX; m++) {
        attend_head head = even_head(m, 0.9);

        head.margin = 5;
        CHECK_IS(head, "mixed");
        head = even_head(m, 0.91);
        head.margin = 5;
        CHECK_IS(head, "average");
        head.n_eff = m + 0.51; /* so has m + 1, with the same mass */
        CHECK_IS(head, m < ATTEND_TOP_MAX ? "average" : "mixed");
    }
    attend_head unknown = even_head(3, 0.95);
    for (int x = 1; x < ATTEND_TOP_MAX; x++)
        unknown.top_mass[x] = NAN;
    CHECK_IS(unknown, "mixed");
}

TEST(pairs)
{
    attend_head head = even_head(2, 0.95);
    char reason[160];

    /* max 4, margin 0.2: the sd is 0.1 sqrt(4^2 + 3.8^2) = 0.5517. */
    CHECK_IS(head, "fragile pair");
    CHECK(attend_head_character(&head, 0.037, NULL, 0) == ATTEND_CHARACTER_FRAGILE_PAIR,
          "0.204 > 0.2");
    CHECK(attend_head_character(&head, 0.036, NULL, 0) == ATTEND_CHARACTER_AVERAGE,
          "0.199 < 0.2");
    CHECK(attend_head_character(&head, 0, NULL, 0) == ATTEND_CHARACTER_AVERAGE, "0");
    attend_head_character(&head, 0.1, reason, sizeof reason);
    CHECK(strstr(reason, "0.95 > 0.9") && strstr(reason, "margin 0.2 < noise 0.552"),
          "%s", reason);
    /* A head without scores is not noisy. */
    head.max = head.margin = 0;
    CHECK_IS(head, "average");
    head = even_head(3, 0.95);
    CHECK_IS(head, "average");
}

/* Each condition in the order of the tests; all later ones hold as well. */
TEST(the_first_that_holds)
{
    attend_head head = even_head(2, 0.95);

    head.top_mass[0] = 0.95;
    head.entropy_share = head.previous = head.sink1 = 0.95;
    head.log_distance = 0.1;
    head.raw_sd = 10;
    CHECK_IS(head, "fragile pair");
    head.margin = 6;
    CHECK_IS(head, "diffuse");
    head.entropy_share = 0.5;
    CHECK_IS(head, "previous token");
    head.previous = 0.1;
    CHECK_IS(head, "sink");
    head.sink1 = 0.1;
    CHECK_IS(head, "local");
    head.log_distance = 6;
    CHECK_IS(head, "copy");
    head.top_mass[0] = 0.5;
    CHECK_IS(head, "average");
    head.top_mass[1] = 0.6;
    CHECK_IS(head, "frozen");
    head.raw_sd = 1;
    CHECK_IS(head, "mixed");
}

TEST(reasons)
{
    attend_head head = plain_head();
    char reason[160], cut[8];

    head.top_mass[0] = 0.97;
    attend_head_character(&head, 0.1, reason, sizeof reason);
    CHECK(strcmp(reason, "top weight 0.97 > 0.9") == 0, "%s", reason);
    attend_head_character(&head, 0.1, cut, sizeof cut);
    CHECK(strcmp(cut, "top wei") == 0, "%s", cut);
    head = even_head(3, 0.96);
    attend_head_character(&head, 0.1, reason, sizeof reason);
    CHECK(strcmp(reason, "3 keys hold 0.96 > 0.9, N_eff 3") == 0, "%s", reason);
}

TEST(names)
{
    for (int x = 0; x < ATTEND_CHARACTER_COUNT; x++) {
        const char *const name = attend_character_name((attend_character)x);

        CHECK(strcmp(name, "unknown") != 0, "%d", x);
        for (int y = 0; y < x; y++)
            CHECK(strcmp(name, attend_character_name((attend_character)y)) != 0, "%s",
                  name);
    }
    CHECK(strcmp(attend_character_name((attend_character)-1), "unknown") == 0, "-1");
    CHECK(strcmp(attend_character_name(ATTEND_CHARACTER_COUNT), "unknown") == 0, "9");
}

/* ---- heads that attend_forward() runs ----------------------------------- */

enum { N = 96, COLUMNS = ATTEND_HEAD_STATS_COUNT };

/* One head of N queries and keys of width N, with the scores of the function `score`. */
struct made {
    double q[N * N], k[N * N], rows[N * COLUMNS], top[N * ATTEND_TOP_MAX];
    attend_stats stats;
};

static attend_status forward(struct made *made, attend_causal causal, attend_error *err)
{
    static const attend_stat columns[] = ATTEND_HEAD_STATS;
    attend_rule rule = attend_rule_default();
    attend_io io = attend_io_default();
    attend_context *ctx;
    double none;

    rule.causal = causal;
    rule.scale_is_set = 1;
    rule.scale = 1;
    io.q = attend_view_dense(made->q, ATTEND_F64, 1, 1, N, N);
    io.k = attend_view_dense(made->k, ATTEND_F64, 1, 1, N, N);
    io.v = attend_view_dense(&none, ATTEND_F64, 1, 1, N, 0);
    io.out = attend_tensor_dense(&none, ATTEND_F64, 1, 1, N, 0);
    made->stats = attend_stats_default();
    made->stats.columns = columns;
    made->stats.rows = attend_tensor_dense(made->rows, ATTEND_F64, 1, 1, N, COLUMNS);
    made->stats.top_weights =
        attend_tensor_dense(made->top, ATTEND_F64, 1, 1, N, ATTEND_TOP_MAX);
    io.stats = &made->stats;
    attend_status status = attend_context_create(&ctx, NULL, err);
    if (status != ATTEND_OK)
        return status;
    status = attend_forward(ctx, &rule, &io, err);
    attend_context_destroy(ctx);
    return status;
}

/* The character of the head whose score of query i and key j is score(i, j). */
static const char *made_character(double (*score)(int i, int j), attend_causal causal,
                                  attend_head *head)
{
    static attend_error err; /* its words are returned */
    auto_free struct made *const made = test_memory(sizeof *made);

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            made->q[i * N + j] = score(i, j);
            made->k[i * N + j] = i == j;
        }
    const char *const name = forward(made, causal, &err) != ATTEND_OK ||
                                     attend_head_read(&made->stats, 0, 0, head, &err)
                                 ? err.message
                                 : character(head);
    return name;
}

static int far(int i) { return (i * 37 + 11) % N; }
static double even(int i, int j) { return 0.01 * ((i + 3 * j) % 5); }
static double previous(int i, int j) { return j == i - 1 ? 15 : 0; }
static double first(int i, int j) { return (void)i, j == 0 ? 8 : 0; }
static double near_by(int i, int j) { return -0.4 * abs(i - j); }
static double one(int i, int j) { return j == far(i) ? 12 : 0; }
static double two(int i, int j) { return j == far(i) || j == far(i + 1) ? 12 : 0; }
static double four(int i, int j)
{
    return j == far(i) || j == far(i + 1) || j == far(i + 2) || j == far(i + 3) ? 12 : 0;
}
static double wild(int i, int j)
{
    return 8 * sin(1.7 * i + 0.3) * cos(2.9 * j * (i + 1) + i);
}

TEST(made_heads)
{
    static const struct {
        double (*score)(int i, int j);
        attend_causal causal;
        const char *want;
    } heads[] = {
        {even, ATTEND_CAUSAL_NONE, "diffuse"},
        {even, ATTEND_CAUSAL_TOP_LEFT, "diffuse"},
        {previous, ATTEND_CAUSAL_NONE, "previous token"},
        {previous, ATTEND_CAUSAL_TOP_LEFT, "previous token"},
        {first, ATTEND_CAUSAL_TOP_LEFT, "sink"},
        {near_by, ATTEND_CAUSAL_NONE, "local"},
        {near_by, ATTEND_CAUSAL_TOP_LEFT, "local"},
        {one, ATTEND_CAUSAL_NONE, "copy"},
        {two, ATTEND_CAUSAL_NONE, "fragile pair"},
        {four, ATTEND_CAUSAL_NONE, "average"},
        {wild, ATTEND_CAUSAL_NONE, "frozen"},
    };

    for (size_t x = 0; x < sizeof heads / sizeof heads[0]; x++) {
        attend_head head = attend_head_default();
        const char *const name = made_character(heads[x].score, heads[x].causal, &head);

        CHECK(strcmp(name, heads[x].want) == 0, "%s instead of %s", name, heads[x].want);
        CHECK(head.rows == N, "%d", (int)head.rows);
    }
}

TEST(means_of_a_known_head)
{
    /* Four keys of score 12, 92 of 0. */
    const double l = 4 + 92 * exp(-12), p = 1 / l, q = exp(-12) / l;
    attend_head head = attend_head_default();

    made_character(four, ATTEND_CAUSAL_NONE, &head);
    CHECK(head.keys == N && head.max == 12 && head.margin == 0, "%g %g %g", head.keys,
          head.max, head.margin);
    CHECK(fabs(head.n_eff * (4 * p * p + 92 * q * q) - 1) < 1e-12, "%g", head.n_eff);
    CHECK(fabs(head.top_mass[0] - p) < 1e-12, "%g", head.top_mass[0]);
    CHECK(fabs(head.top_mass[3] - 4 * p) < 1e-12, "%g", head.top_mass[3]);
    CHECK(fabs(head.top_mass[7] - 4 * p - 4 * q) < 1e-12, "%g", head.top_mass[7]);
    const double entropy = -4 * p * log(p) - 92 * q * log(q);
    CHECK(fabs(head.entropy_share - entropy / log(N)) < 1e-12, "%g", head.entropy_share);
    /* Mean 12 * 4 / 96 = 0.5: variance (4 * 11.5^2 + 92 * 0.25) / 96. */
    CHECK(fabs(head.raw_sd - sqrt((4 * 132.25 + 23) / 96)) < 1e-12, "%g", head.raw_sd);
}

TEST(rows_without_keys_do_not_count)
{
    /* Two more, which no header defines. */
    attend_stat columns[COLUMNS + 2] = ATTEND_HEAD_STATS;
    /* Four rows: no key, one key, two keys, NaN; the columns are those of the header. */
    const double inf = INFINITY;
    double rows[4][COLUMNS + 2] = {
        {0, -inf, 0, 0, 0, 0, 0, 0, 0, 0},
        {1, 2, 1, 0, 1, 0, inf, 1, 0, 0},
        {2, 4, 0.5, log(2), 2, 9, 3, 0.5, 0.5, log(2)},
        {5, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
    };
    attend_stats stats = attend_stats_default();
    attend_head head = attend_head_default();

    columns[COLUMNS] = ATTEND_STAT_COUNT;
    columns[COLUMNS + 1] = (attend_stat)-1;
    stats.columns = columns;
    stats.rows = attend_tensor_dense(rows, ATTEND_F64, 1, 1, 4, COLUMNS + 2);
    CHECK_OK(attend_head_read, &stats, 0, 0, &head);
    CHECK(head.rows == 2 && head.keys == 1.5 && head.max == 3 && head.n_eff == 1.5,
          "%g %g %g", head.keys, head.max, head.n_eff);
    CHECK(head.sink1 == 0.75 && head.previous == 0.25 && head.raw_sd == 1.5, "%g %g %g",
          head.sink1, head.previous, head.raw_sd);
    CHECK(head.entropy_share == 1 && head.margin == 3, "%g %g", head.entropy_share,
          head.margin);
    CHECK(head.top_mass[0] == 0.75 && isnan(head.top_mass[1]), "%g %g", head.top_mass[0],
          head.top_mass[1]);
    stats.rows.size[2] = 1;
    CHECK_OK(attend_head_read, &stats, 0, 0, &head);
    char reason[160];
    CHECK(attend_head_character(&head, 0.1, reason, sizeof reason) ==
              ATTEND_CHARACTER_MIXED,
          "%s", character(&head));
    CHECK(strcmp(reason, "no row has a key") == 0, "%s", reason);
}

TEST(requests_that_cannot_be_read)
{
    const attend_stat columns[] = {ATTEND_STAT_KEYS, ATTEND_STAT_MAX};
    double rows[2] = {0};
    attend_stats stats = attend_stats_default();
    attend_head head = attend_head_default();
    attend_error err;

    CHECK(attend_head_read(NULL, 0, 0, &head, &err) == ATTEND_EINVAL, "NULL");
    CHECK(attend_head_read(&stats, 0, 0, &head, &err) == ATTEND_EINVAL, "no rows");
    stats.columns = columns;
    stats.rows = attend_tensor_dense(rows, ATTEND_F64, 1, 1, 1, 2);
    CHECK_FAILS(ATTEND_EINVAL, "lacks top_weight", attend_head_read, &stats, 0, 0, &head);
    CHECK_FAILS(ATTEND_EINVAL, "b (1)", attend_head_read, &stats, 1, 0, &head);
    CHECK(attend_head_read(&stats, 0, -1, &head, NULL) == ATTEND_EINVAL, "h");
}

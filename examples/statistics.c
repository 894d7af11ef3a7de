/* SPDX-License-Identifier: MIT */
/*
 * Statistics of two heads without a map of their weights: entropy, sink and previous
 * token from the pass that computes O, the weight of each key from an inspection pass.
 * The first head attends to the previous token, the second to the first token.
 */
#include <attend/stats.h>

#include <math.h>
#include <stdio.h>

enum { HEADS = 2, L = 64, STATS = 5, TOP = 2 };
enum { LSE, ENTROPY, N_EFF, SINK1, PREVIOUS };

static const attend_stat columns[STATS] = {
    [LSE] = ATTEND_STAT_LSE,           [ENTROPY] = ATTEND_STAT_ENTROPY,
    [N_EFF] = ATTEND_STAT_N_EFF,       [SINK1] = ATTEND_STAT_SINK1,
    [PREVIOUS] = ATTEND_STAT_PREVIOUS,
};

static float q[HEADS][L][L], k[HEADS][L][L], v[HEADS][L][1], out[HEADS][L][1];
static float rows[HEADS][L][STATS], top[HEADS][L][TOP], mass[HEADS][L];
static int64_t top_keys[HEADS][L][TOP];

/*
 * Keys are unit vectors, so a query is the list of its scores.  One score is 6, the
 * others 0.
 */
static void make_heads(void)
{
    for (int i = 0; i < L; i++) {
        k[0][i][i] = k[1][i][i] = 1;
        q[0][i][i > 0 ? i - 1 : 0] = 6;
        q[1][i][0] = 6;
    }
}

static attend_status statistics(attend_context *ctx, const attend_rule *rule,
                                attend_error *err)
{
    attend_stats stats = attend_stats_default();
    stats.columns = columns;
    stats.rows = attend_tensor_dense(rows, ATTEND_F32, 1, HEADS, L, STATS);
    stats.top_weights = attend_tensor_dense(top, ATTEND_F32, 1, HEADS, L, TOP);
    stats.top_keys = &top_keys[0][0][0];

    attend_io io = attend_io_default();
    io.q = attend_view_dense(q, ATTEND_F32, 1, HEADS, L, L);
    io.k = attend_view_dense(k, ATTEND_F32, 1, HEADS, L, L);
    io.v = attend_view_dense(v, ATTEND_F32, 1, HEADS, L, 1);
    io.out = attend_tensor_dense(out, ATTEND_F32, 1, HEADS, L, 1);
    io.stats = &stats;
    return attend_forward(ctx, rule, &io, err);
}

/* The LSE of every row is a column of the statistics. */
static attend_status inspect(attend_context *ctx, const attend_rule *rule,
                             attend_error *err)
{
    attend_inspection inspection = attend_inspection_default();
    inspection.q = attend_view_dense(q, ATTEND_F32, 1, HEADS, L, L);
    inspection.k = attend_view_dense(k, ATTEND_F32, 1, HEADS, L, L);
    inspection.lse = attend_view_dense(&rows[0][0][LSE], ATTEND_F32, 1, HEADS, L, STATS);
    inspection.lse.size[3] = 1;
    inspection.column_mass = attend_tensor_dense(mass, ATTEND_F32, 1, HEADS, 1, L);
    return attend_inspect(ctx, rule, &inspection, err);
}

static double mean(int h, int stat)
{
    double sum = 0;

    for (int i = 0; i < L; i++)
        sum += (double)rows[h][i][stat];
    return sum / L;
}

static int differs(double x, double expected)
{
    return !(fabs(x - expected) <= 1e-5 * (1 + fabs(expected)));
}

/* Row i sees i + 1 keys: one has weight p, the i others share the rest. */
static int check_row(int h, int i)
{
    const int leader = h == 0 && i > 0 ? i - 1 : 0;
    const double e = exp(6), p = e / (e + i), rest = 1 / (e + i);
    const double entropy = -p * log(p) - i * rest * log(rest);

    return differs((double)rows[h][i][ENTROPY], entropy) ||
           differs((double)rows[h][i][N_EFF], 1 / (p * p + i * rest * rest)) ||
           differs((double)rows[h][i][SINK1], leader == 0 ? p : rest) ||
           top_keys[h][i][0] != leader || differs((double)top[h][i][0], p);
}

/* The weights of a row sum to 1. */
static int check_columns(int h)
{
    double sum = 0;

    for (int j = 0; j < L; j++)
        sum += (double)mass[h][j];
    return differs(sum, L);
}

int main(void)
{
    attend_rule rule = attend_rule_default();
    rule.causal = ATTEND_CAUSAL_TOP_LEFT;
    rule.scale_is_set = 1;
    rule.scale = 1;
    make_heads();

    attend_context *ctx = NULL;
    attend_error err;
    if (attend_context_create(&ctx, NULL, &err) != ATTEND_OK ||
        statistics(ctx, &rule, &err) != ATTEND_OK ||
        inspect(ctx, &rule, &err) != ATTEND_OK) {
        fprintf(stderr, "statistics: %s\n", err.message);
        attend_context_destroy(ctx);
        return 1;
    }
    attend_context_destroy(ctx);

    int wrong = 0;
    puts("head  entropy  n_eff  sink1  previous  weight of key 0");
    for (int h = 0; h < HEADS; h++) {
        printf("%4d  %7.3f  %5.2f  %5.3f  %8.3f  %15.2f\n", h, mean(h, ENTROPY),
               mean(h, N_EFF), mean(h, SINK1), mean(h, PREVIOUS), (double)mass[h][0]);
        for (int i = 0; i < L; i++)
            wrong |= check_row(h, i);
        wrong |= check_columns(h);
    }
    return wrong;
}

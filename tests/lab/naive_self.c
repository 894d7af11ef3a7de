/* SPDX-License-Identifier: MIT */
#include "naive_self.h"

#include "support/test.h"

attend_context *layer_ctx;
static uint64_t state;

double layer_uniform(void)
{
    return ((double)(random_bits(&state) >> 11) + 0.5) * 0x1p-53;
}

double layer_normal(void)
{
    return sqrt(-2.0 * log(layer_uniform())) * cos(6.283185307179586 * layer_uniform());
}

struct array array_make(int64_t count, double size, attend_dtype dtype)
{
    struct array a = {.count = count,
                      .value = check_memory((size_t)count, sizeof(double)),
                      .data = check_memory((size_t)count, sizeof(double))};

    for (int64_t i = 0; i < count; i++) {
        check_store(a.data, dtype, i, size * layer_normal());
        a.value[i] = check_load(a.data, dtype, i);
    }
    return a;
}

void array_store(struct array *a, attend_dtype dtype)
{
    for (int64_t i = 0; i < a->count; i++)
        check_store(a->data, dtype, i, a->value[i]);
}

struct layer layer_make(struct layer_shape s, attend_dtype dtype, uint64_t seed)
{
    const double size = 1.0 / sqrt((double)s.e),
                 size_o = 1.0 / sqrt((double)(s.hq * s.d));
    const int64_t q = s.hq * s.d, kv = s.hkv * s.d;
    struct layer l = {.s = s, .dtype = dtype};

    state = seed;
    l.scale = s.unscaled ? 1.0 : 1.0 / sqrt((double)s.d);
    l.width = s.no_wo ? q : s.e;
    l.in[X] = array_make(s.nb * s.t * s.e, 1.0, dtype);
    l.in[WQ] = array_make(s.e * q, size, dtype);
    l.in[WK] = array_make(s.e * kv, size, dtype);
    l.in[WV] = array_make(s.e * kv, size, dtype);
    l.in[WO] = array_make(q * s.e, size_o, dtype);
    l.in[BQ] = array_make(q, s.biases ? 0.5 : 0.0, dtype);
    l.in[BK] = array_make(kv, s.biases ? 0.5 : 0.0, dtype);
    l.in[BV] = array_make(kv, s.biases ? 0.5 : 0.0, dtype);
    l.in[BO] = array_make(s.e, s.biases && !s.no_wo ? 0.5 : 0.0, dtype);
    l.out = check_memory((size_t)(s.nb * s.t * l.width), sizeof(double));
    l.bound = check_memory((size_t)(s.nb * s.t * l.width), sizeof(double));
    l.lse = check_memory((size_t)(s.nb * s.hq * s.t), sizeof(double));
    l.weights = check_memory((size_t)(s.nb * s.hq * s.t * s.t), sizeof(double));
    return l;
}

void layer_free(struct layer *l)
{
    for (int a = 0; a < ARRAYS; a++) {
        free(l->in[a].value);
        free(l->in[a].data);
    }
    free(l->out);
    free(l->bound);
    free(l->lse);
    free(l->weights);
}

/* ---- the definition ------------------------------------------------------ */

/* value = row of x times a column of w, plus bias; and its rounding error bound. */
static double project(const struct layer *l, const double *x, int64_t inner,
                      const struct array *w, const struct array *bias, int64_t columns,
                      int64_t column, double *error)
{
    double sum = bias->value[column], size = fabs(sum);

    for (int64_t c = 0; c < inner; c++) {
        sum += x[c] * w->value[c * columns + column];
        size += fabs(x[c] * w->value[c * columns + column]);
    }
    *error = (double)(inner + 1) * unit_of(l->dtype) * size;
    return sum;
}

/* The d columns of one head of one token, rotated, with the errors of each. */
static void head_of(const struct layer *l, int64_t b, int64_t i, int64_t h, int part,
                    double *y, double *dy)
{
    const int64_t d = l->s.d, columns = (part == WQ ? l->s.hq : l->s.hkv) * d;
    const double *x = l->in[X].value + (b * l->s.t + i) * l->s.e;

    for (int64_t c = 0; c < d; c++)
        y[c] = project(l, x, l->s.e, &l->in[part], &l->in[part - WQ + BQ], columns,
                       h * d + c, &dy[c]);
    if (part == WV || l->s.rotary == ATTEND_LAYER_ROTARY_NONE)
        return;
    for (int64_t pair = 0; pair < d / 2; pair++) {
        const int halves = l->s.rotary == ATTEND_LAYER_ROTARY_HALVES;
        const int64_t p = halves ? pair : 2 * pair, r = halves ? pair + d / 2 : p + 1;
        const double angle = (double)i / pow(10000.0, (double)(2 * pair) / (double)d);
        const double re = y[p] * cos(angle) - y[r] * sin(angle);
        const double im = y[p] * sin(angle) + y[r] * cos(angle);
        const double extra = 4.0 * unit_of(l->dtype) * (fabs(y[p]) + fabs(y[r]));
        y[p] = re;
        y[r] = im;
        dy[p] = dy[r] = dy[p] + dy[r] + extra;
    }
}

static int sees(const struct layer_shape *s, int64_t i, int64_t j)
{
    return (s->causal == ATTEND_CAUSAL_NONE || j <= i) &&
           (s->left < 0 || j >= i - s->left) && (s->right < 0 || j <= i + s->right);
}

/* One head of one row: weights, lse, h and the error bound of each element of h. */
static void row_of(struct layer *l, int64_t b, int64_t h, int64_t i, double *o,
                   double *eo)
{
    const struct layer_shape *s = &l->s;
    const int64_t d = s->d, hk = h / (s->hq / s->hkv);
    double q[16], dq[16], k[16], dk[16], v[16], dv[16];
    double *const p = l->weights + ((b * s->hq + h) * s->t + i) * s->t;
    double row_max = -INFINITY, sum = 0.0, slack = 0.0, largest = 0.0, value_error = 0.0;

    head_of(l, b, i, h, WQ, q, dq);
    for (int64_t j = 0; j < s->t; j++) {
        double score = 0.0, error = 0.0;
        p[j] = -INFINITY;
        if (!sees(s, i, j))
            continue;
        head_of(l, b, j, hk, WK, k, dk);
        for (int64_t c = 0; c < d; c++) {
            score += q[c] * k[c];
            error += fabs(q[c]) * dk[c] + fabs(k[c]) * dq[c];
        }
        p[j] = l->scale * score;
        slack = fmax(slack, l->scale * error);
        row_max = fmax(row_max, p[j]);
    }
    for (int64_t j = 0; j < s->t; j++)
        sum += p[j] = exp(p[j] - row_max);
    l->lse[(b * s->hq + h) * s->t + i] = row_max + log(sum);
    for (int64_t c = 0; c < d; c++)
        o[c] = 0.0;
    for (int64_t j = 0; j < s->t; j++) {
        p[j] /= sum;
        head_of(l, b, j, hk, WV, v, dv);
        for (int64_t c = 0; c < d; c++) {
            o[c] += p[j] * v[c];
            largest = fmax(largest, fabs(v[c]));
            value_error = fmax(value_error, dv[c]);
        }
    }
    /* Scores off by `slack` move every weight by a factor within exp(+-2 slack). */
    const double engine = l->dtype == ATTEND_F64 ? 1e-12 : 2e-6;
    for (int64_t c = 0; c < d; c++)
        eo[c] = (2.1 * slack + engine) * largest + value_error;
}

void layer_define(struct layer *l)
{
    const struct layer_shape *s = &l->s;
    const int64_t q = s->hq * s->d;

    for (int64_t r = 0; r < s->nb * s->t; r++) {
        double h[64] = {0}, eh[64] = {0};
        for (int64_t x = 0; x < s->hq; x++)
            row_of(l, r / s->t, x, r % s->t, h + x * s->d, eh + x * s->d);
        for (int64_t c = 0; c < l->width; c++) {
            double *const out = &l->out[r * l->width + c];
            double *const bound = &l->bound[r * l->width + c];
            if (s->no_wo) {
                *out = h[c];
                *bound = eh[c];
                continue;
            }
            *out = project(l, h, q, &l->in[WO], &l->in[BO], s->e, c, bound);
            for (int64_t x = 0; x < q; x++)
                *bound += eh[x] * fabs(l->in[WO].value[x * s->e + c]);
        }
    }
}

/* ---- the function -------------------------------------------------------- */

attend_rule layer_rule(const struct layer *l)
{
    attend_rule rule = attend_rule_default();

    rule.causal = l->s.causal;
    rule.window_left = l->s.left;
    rule.window_right = l->s.right;
    rule.scale_is_set = l->s.unscaled;
    rule.scale = 1.0;
    return rule;
}

attend_layer_self layer_self(const struct layer *l, void *out)
{
    attend_layer_self self = attend_layer_self_default();

    self.dtype = l->dtype;
    self.nb = l->s.nb;
    self.t = l->s.t;
    self.e = l->s.e;
    self.hq = l->s.hq;
    self.hkv = l->s.hkv;
    self.d = l->s.d;
    self.x = l->in[X].data;
    self.wq = l->in[WQ].data;
    self.wk = l->in[WK].data;
    self.wv = l->in[WV].data;
    self.wo = l->s.no_wo ? NULL : l->in[WO].data;
    self.bq = l->s.biases ? l->in[BQ].data : NULL;
    self.bk = l->s.biases ? l->in[BK].data : NULL;
    self.bv = l->s.biases ? l->in[BV].data : NULL;
    self.bo = l->s.biases && !l->s.no_wo ? l->in[BO].data : NULL;
    self.rotary = l->s.rotary;
    self.out = out;
    return self;
}

double *layer_attend(const attend_rule *rule, const attend_layer_self *self)
{
    const int64_t width = self->wo != NULL ? self->e : self->hq * self->d;
    const int64_t count = self->nb * self->t * width;
    double *const out = check_memory((size_t)count, sizeof *out);
    auto_free void *const data = check_memory((size_t)count, sizeof *out);
    attend_layer_self call = *self;
    attend_error err;

    call.out = data;
    if (attend_layer_self_attention(layer_ctx, rule, &call, &err) != ATTEND_OK) {
        printf("  %s\n", err.message);
        abort();
    }
    for (int64_t i = 0; i < count; i++)
        out[i] = check_load(data, self->dtype, i);
    return out;
}

double largest_difference(const double *a, const double *b, int64_t count)
{
    double most = 0.0;

    for (int64_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= most))
            most = fabs(a[i] - b[i]);
    return most;
}

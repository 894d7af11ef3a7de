/* SPDX-License-Identifier: MIT */
/*
 * The workspace holds the projections of a row side by side, Q K V; attention reads heads
 * as strided views, so nothing is transposed or copied.  H follows, unless it is the
 * output.
 */
#include "attend/layer.h"

#include <math.h>
#include <stdlib.h>

#include "layer/projection.h"
#include "base/error.h"

/* Sizes that a call derives from its struct. */
struct plan {
    int64_t rows;              /* nb t */
    int64_t q_width, kv_width; /* hq d, hkv d */
    int64_t width;             /* of a row of Q K V */
    size_t element, qkv_bytes, bytes;
};

static attend_status check_sizes(const attend_layer_self *self, struct plan *plan,
                                 attend_error *err)
{
    const struct {
        const char *name;
        int64_t value, min;
    } count[] = {{"nb", self->nb, 0}, {"t", self->t, 0},     {"e", self->e, 1},
                 {"hq", self->hq, 1}, {"hkv", self->hkv, 1}, {"d", self->d, 1}};

    TRY(attendi_layer_check_dtype(self->dtype, err));
    for (size_t x = 0; x < sizeof count / sizeof count[0]; x++)
        TRY(attendi_layer_check_count(count[x].name, count[x].value, count[x].min, err));
    if (self->hq % self->hkv != 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "hq (%lld) is not a multiple of hkv (%lld)",
                            (long long)self->hq, (long long)self->hkv);
    /* Every factor fits an int, so products of two fit 64 bits. */
    plan->rows = self->nb * self->t;
    plan->q_width = self->hq * self->d;
    plan->kv_width = self->hkv * self->d;
    plan->width = plan->q_width + 2 * plan->kv_width;
    plan->element = attend_dtype_size(self->dtype);
    size_t h_bytes = 0;
    TRY(attendi_layer_check_count("nb t", plan->rows, 0, err));
    TRY(attendi_layer_check_count("(hq + 2 hkv) d", plan->width, 1, err));
    TRY(attendi_layer_check_bytes("Q, K and V", plan->rows, plan->width, plan->element,
                                  &plan->qkv_bytes, err));
    if (self->wo != NULL)
        TRY(attendi_layer_check_bytes("H", plan->rows, plan->q_width, plan->element,
                                      &h_bytes, err));
    plan->bytes = plan->qkv_bytes + h_bytes;
    return ATTEND_OK;
}

static attend_status check_rotary(const attend_layer_self *self, attend_error *err)
{
    /* An empty tensor: attend_layer_rotate() checks the arguments and does nothing. */
    const attend_tensor empty = {NULL, self->dtype, {0, 0, 0, self->d}, {0, 0, 0, 0}};

    return attend_layer_rotate(self->rotary, self->rotary_base, self->positions, &empty,
                               err);
}

static attend_status check(const attend_layer_self *self, struct plan *plan,
                           attend_error *err)
{
    TRY(check_sizes(self, plan, err));
    TRY(check_rotary(self, err));
    const struct {
        const char *name;
        const void *data;
    } needed[] = {{"x", self->x},
                  {"wq", self->wq},
                  {"wk", self->wk},
                  {"wv", self->wv},
                  {"out", self->out}};
    for (size_t n = 0; n < sizeof needed / sizeof needed[0]; n++)
        if (needed[n].data == NULL && plan->rows > 0)
            return attendi_fail(err, ATTEND_EINVAL, "%s is NULL", needed[n].name);
    if (self->bo != NULL && self->wo == NULL)
        return attendi_fail(err, ATTEND_EINVAL, "bo is given, but wo is NULL");
    return ATTEND_OK;
}

attend_status attend_layer_self_workspace(const attend_layer_self *given, size_t *size,
                                          attend_error *err)
{
    attend_layer_self self = attend_layer_self_default();
    struct plan plan;

    TRY(attendi_layer_read("self", given, &self, sizeof self, err));
    TRY(check_sizes(&self, &plan, err));
    if (!size)
        return attendi_fail(err, ATTEND_EINVAL, "size is NULL");
    *size = plan.bytes;
    return ATTEND_OK;
}

/* `heads` heads of d columns from element `column` of every row of `width` elements. */
static attend_tensor heads_at(const attend_layer_self *self, void *rows, int64_t width,
                              int64_t column, int64_t heads)
{
    return (attend_tensor){
        .data = (char *)rows + (size_t)column * attend_dtype_size(self->dtype),
        .dtype = self->dtype,
        .size = {self->nb, heads, self->t, self->d},
        .stride = {self->t * width, self->d, width, 1},
    };
}

static void project(const attend_layer_self *self, const struct plan *plan, void *qkv)
{
    const struct {
        const void *w, *bias;
        int64_t width;
    } part[] = {{self->wq, self->bq, plan->q_width},
                {self->wk, self->bk, plan->kv_width},
                {self->wv, self->bv, plan->kv_width}};
    char *column = qkv;

    for (size_t p = 0; p < sizeof part / sizeof part[0]; p++) {
        attendi_layer_project(self->dtype, plan->rows, self->e, part[p].width, self->x,
                              part[p].w, part[p].bias, column, plan->width);
        column += (size_t)part[p].width * plan->element;
    }
}

attend_status attend_layer_self_attention(attend_context *ctx, const attend_rule *rule,
                                          const attend_layer_self *given,
                                          attend_error *err)
{
    attend_layer_self own = attend_layer_self_default();
    const attend_layer_self *const self = &own;
    struct plan plan;
    void *memory, *owned;

    TRY(attendi_layer_read("self", given, &own, sizeof own, err));
    TRY(check(self, &plan, err));
    TRY(attendi_layer_workspace(self->workspace, self->workspace_size, plan.bytes,
                                &memory, &owned, err));
    void *const h = self->wo != NULL ? (char *)memory + plan.qkv_bytes : self->out;
    const attend_tensor q = heads_at(self, memory, plan.width, 0, self->hq);
    const attend_tensor k = heads_at(self, memory, plan.width, plan.q_width, self->hkv);
    const attend_tensor v =
        heads_at(self, memory, plan.width, plan.q_width + plan.kv_width, self->hkv);

    project(self, &plan, memory);
    attend_status status =
        attend_layer_rotate(self->rotary, self->rotary_base, self->positions, &q, err);
    if (status == ATTEND_OK)
        status = attend_layer_rotate(self->rotary, self->rotary_base, self->positions, &k,
                                     err);
    if (status == ATTEND_OK) {
        attend_io io = attend_io_default();
        io.q = attend_view_of(&q);
        io.k = attend_view_of(&k);
        io.v = attend_view_of(&v);
        io.out = heads_at(self, h, plan.q_width, 0, self->hq);
        io.lse =
            attend_tensor_dense(self->lse, self->dtype, self->nb, self->hq, self->t, 1);
        io.weights = attend_tensor_dense(self->weights, self->dtype, self->nb, self->hq,
                                         self->t, self->t);
        io.force_weights = self->force_weights;
        status = attend_forward(ctx, rule, &io, err);
    }
    if (status == ATTEND_OK && self->wo != NULL)
        attendi_layer_project(self->dtype, plan.rows, plan.q_width, self->e, h, self->wo,
                              self->bo, self->out, self->e);
    free(owned);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* The exercise's layer Z: a ReLU feed-forward over rows, after self-attention. */
#include "attend/layer.h"

#include <stdlib.h>

#include "layer/projection.h"
#include "base/error.h"

static attend_status check(const attend_layer_feed *feed, size_t *bytes,
                           attend_error *err)
{
    const struct {
        const char *name;
        int64_t value, min;
    } count[] = {{"rows", feed->rows, 0}, {"e", feed->e, 1}, {"f", feed->f, 1}};
    const struct {
        const char *name;
        const void *data;
    } needed[] = {{"x", feed->x}, {"w1", feed->w1}, {"w2", feed->w2}, {"out", feed->out}};

    TRY(attendi_layer_check_dtype(feed->dtype, err));
    for (size_t n = 0; n < sizeof count / sizeof count[0]; n++)
        TRY(attendi_layer_check_count(count[n].name, count[n].value, count[n].min, err));
    for (size_t n = 0; n < sizeof needed / sizeof needed[0]; n++)
        if (needed[n].data == NULL && feed->rows > 0)
            return attendi_fail(err, ATTEND_EINVAL, "%s is NULL", needed[n].name);
    return attendi_layer_check_bytes("rows f", feed->rows, feed->f,
                                     attend_dtype_size(feed->dtype), bytes, err);
}

/* Written so that NaN stays NaN. */
static void relu(attend_dtype dtype, int64_t count, void *data)
{
    double *const x = data;
    float *const x32 = data;

    if (dtype == ATTEND_F64)
        for (int64_t i = 0; i < count; i++)
            x[i] = x[i] < 0.0 ? 0.0 : x[i];
    else
        for (int64_t i = 0; i < count; i++)
            x32[i] = x32[i] < 0.0F ? 0.0F : x32[i];
}

static void feed_rows(const attend_layer_feed *feed, void *hidden)
{
    attendi_layer_project(feed->dtype, feed->rows, feed->e, feed->f, feed->x, feed->w1,
                          feed->b1, hidden, feed->f);
    relu(feed->dtype, feed->rows * feed->f, hidden);
    attendi_layer_project(feed->dtype, feed->rows, feed->f, feed->e, hidden, feed->w2,
                          feed->b2, feed->out, feed->e);
}

attend_status attend_layer_feed_forward(const attend_layer_feed *given, attend_error *err)
{
    attend_layer_feed own = attend_layer_feed_default();
    const attend_layer_feed *const feed = &own;
    size_t bytes = 0;
    void *hidden, *owned;

    TRY(attendi_layer_read("feed", given, &own, sizeof own, err));
    TRY(check(feed, &bytes, err));
    TRY(attendi_layer_workspace(feed->workspace, feed->workspace_size, bytes, &hidden,
                                &owned, err));
    feed_rows(feed, hidden);
    free(owned);
    return ATTEND_OK;
}

attend_status attend_layer_forward(attend_context *ctx, const attend_rule *rule,
                                   const attend_layer_self *given_self,
                                   const attend_layer_feed *given_feed, attend_error *err)
{
    attend_layer_self own_self = attend_layer_self_default();
    attend_layer_feed own_feed = attend_layer_feed_default();
    const attend_layer_self *const self = &own_self;
    const attend_layer_feed *const feed = &own_feed;
    size_t bytes, feed_bytes = 0;
    void *hidden, *owned;

    TRY(attendi_layer_read("feed", given_feed, &own_feed, sizeof own_feed, err));
    TRY(attendi_layer_read("self", given_self, &own_self, sizeof own_self, err));
    TRY(check(feed, &feed_bytes, err));
    TRY(attend_layer_self_workspace(self, &bytes, err));
    const int64_t width = self->wo != NULL ? self->e : self->hq * self->d;
    if (feed->x != self->out)
        return attendi_fail(err, ATTEND_EINVAL, "feed.x is not self.out");
    if (feed->dtype != self->dtype)
        return attendi_fail(
            err, ATTEND_EINVAL, "feed.dtype (%s) differs from self's (%s)",
            attend_dtype_name(feed->dtype), attend_dtype_name(self->dtype));
    if (feed->rows != self->nb * self->t || feed->e != width)
        return attendi_fail(
            err, ATTEND_EINVAL,
            "feed (%lld rows of %lld) differs from self.out (%lld of %lld)",
            (long long)feed->rows, (long long)feed->e, (long long)(self->nb * self->t),
            (long long)width);
    TRY(attendi_layer_workspace(feed->workspace, feed->workspace_size, feed_bytes,
                                &hidden, &owned, err));
    const attend_status status = attend_layer_self_attention(ctx, rule, self, err);
    if (status == ATTEND_OK)
        feed_rows(feed, hidden);
    free(owned);
    return status;
}

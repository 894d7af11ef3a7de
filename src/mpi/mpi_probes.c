/* SPDX-License-Identifier: MIT */
#include "mpi/mpi_probes.h"

#include "base/base.h"
#include "mpi/comm/wait.h"

/* Weights in one allreduce. */
enum { MESSAGE_WEIGHTS = 1 << 20 };

static attend_status check(const struct mpi_call *call, int64_t x, attend_error *err)
{
    const attend_probe *const probe = &call->inspection.probes[x];
    const struct {
        const char *name;
        int64_t value, end;
    } field[] = {{"b", probe->b, call->nb},
                 {"h", probe->h, call->hq},
                 {"i", probe->i, call->queries.all},
                 {"j", probe->j, call->keys.all}};

    for (size_t f = 0; f < ARRAY_LEN(field); f++)
        if (field[f].value < 0 || field[f].value >= field[f].end)
            return attendi_fail(err, ATTEND_EINVAL,
                                "probes[%lld].%s (%lld) is outside 0..%lld", LL(x),
                                field[f].name, LL(field[f].value), LL(field[f].end - 1));
    return ATTEND_OK;
}

static bool is_local(const struct probes *p, const attend_probe *probe)
{
    return probe->j >= p->first && probe->j < p->first + p->keys;
}

attend_status attendi_probes_select(struct probes *p, struct mpi_call *call,
                                    int64_t first, int64_t keys, attend_error *err)
{
    const attend_inspection *const s = &call->inspection;

    *p = (struct probes){.first = first, .keys = keys};
    for (int64_t x = 0; x < s->probe_count; x++) {
        TRY(check(call, x, err));
        p->count += is_local(p, &s->probes[x]);
    }
    p->list = attendi_mpi_alloc(&call->comm, p->count, sizeof *p->list, err);
    p->weights = attendi_mpi_alloc(&call->comm, p->count, sizeof *p->weights, err);
    if (!p->list || !p->weights)
        return ATTEND_ENOMEM;
    for (int64_t x = 0, at = 0; x < s->probe_count; x++)
        if (is_local(p, &s->probes[x])) {
            p->list[at] = s->probes[x];
            p->list[at++].j -= first;
        }
    return ATTEND_OK;
}

attend_status attendi_probes_allreduce(const struct probes *p, struct mpi_call *call,
                                       attend_error *err)
{
    const attend_inspection *const s = &call->inspection;
    double *const all = s->probe_weights;

    /* One rank has each weight; all others add 0. */
    for (int64_t x = 0, at = 0; x < s->probe_count; x++)
        all[x] = is_local(p, &s->probes[x]) ? p->weights[at++] : 0;
    for (int64_t x = 0; x < s->probe_count; x += MESSAGE_WEIGHTS)
        TRY_MPI(attendi_allreduce_sum(
            all + x, (int)min_i64(MESSAGE_WEIGHTS, s->probe_count - x), call->comm.mpi));
    return ATTEND_OK;
}

void attendi_probes_free(struct probes *p, struct mpi_call *call)
{
    attendi_mpi_free(&call->comm, p->list);
    attendi_mpi_free(&call->comm, p->weights);
}

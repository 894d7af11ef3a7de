/* SPDX-License-Identifier: MIT */
#include "mpi/comm/equal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm/polite.h"

static void add(struct arguments *a, const char *name, char kind, int64_t value)
{
    a->list[a->count++] = (struct argument){name, kind, value};
}

void attendi_argument(struct arguments *a, const char *name, int64_t value)
{
    add(a, name, 'n', value);
}

void attendi_argument_real(struct arguments *a, const char *name, double value)
{
    int64_t bits;

    memcpy(&bits, &value, sizeof bits);
    add(a, name, 'g', bits);
}

/* The first bytes of a short text: what can be shown again. */
void attendi_argument_text(struct arguments *a, const char *name, const char *text)
{
    const size_t length = strlen(text);
    int64_t bits = 0;

    memcpy(&bits, text, length < sizeof bits ? length : sizeof bits);
    add(a, name, 's', bits);
}

/* FNV-1a. */
void attendi_argument_bytes(struct arguments *a, const char *name, const void *data,
                            int64_t count, size_t size)
{
    const unsigned char *const bytes = data;
    uint64_t sum = 0xcbf29ce484222325u;

    for (size_t x = 0; bytes && x < (size_t)count * size; x++)
        sum = (sum ^ bytes[x]) * 0x100000001b3u;
    add(a, name, '#', bytes ? (int64_t)(sum >> 1) : -1);
}

static void show(const struct argument *a, int64_t value, char text[32])
{
    double real;

    memcpy(&real, &value, sizeof real);
    if (a->kind == 'g')
        snprintf(text, 32, "%.17g", real);
    else if (a->kind == 's')
        snprintf(text, 32, "%.8s", (const char *)&value);
    else if (a->kind == '#')
        snprintf(text, 32, "%s", value == -1 ? "NULL" : "other numbers");
    else
        snprintf(text, 32, "%lld", LL(value));
}

static attend_status name_difference(const struct argument *a, int rank, int64_t value,
                                     int64_t first, attend_error *err)
{
    char here[32], there[32];

    show(a, value, here);
    show(a, first, there);
    return attendi_mpi_fail(err, ATTEND_EINVAL,
                            "rank %d: %s (%s) differs from rank 0's (%s)", rank, a->name,
                            here, there);
}

attend_status attendi_arguments_compare(struct team *team, const struct arguments *a,
                                        attend_error *err)
{
    const size_t count = (size_t)a->count;
    int64_t own[ARGUMENTS_MAX];
    int64_t *const all = malloc((size_t)team->size * count * sizeof *all);
    attend_status status = ATTEND_OK;

    for (size_t x = 0; x < count; x++)
        own[x] = a->list[x].value;
    if (!all)
        attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory for %d ranks", team->size);
    status = attendi_team_agree(team, all ? ATTEND_OK : ATTEND_ENOMEM, err);
    if (status == ATTEND_OK)
        status = attendi_mpi_result(
            attendi_allgather(own, (int)count, MPI_INT64_T, all, team->comm), err);
    for (int rank = 1; rank < team->size && status == ATTEND_OK; rank++)
        for (size_t x = 0; x < count && status == ATTEND_OK; x++)
            if (all[(size_t)rank * count + x] != all[x])
                status = name_difference(&a->list[x], rank, all[(size_t)rank * count + x],
                                         all[x], err);
    free(all);
    return status;
}

/* SPDX-License-Identifier: MIT */
#include "mpi/comm/compare_arguments.h"

#include <stdio.h>
#include <string.h>

#include "mpi/comm/wait.h"

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

/* The first 16 bytes, so that an error message can show both values. */
void attendi_argument_text(struct arguments *a, const char *name, const char *text)
{
    const size_t length = strlen(text);
    int64_t bits[2] = {0, 0};

    memcpy(bits, text, length < sizeof bits ? length : sizeof bits);
    add(a, name, 's', bits[0]);
    add(a, name, 'S', bits[1]);
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

/* `value` points to both halves of a text. */
static void format_value(const struct argument *a, const int64_t *value, char text[32])
{
    double real;

    memcpy(&real, value, sizeof real);
    if (a->kind == 'g')
        snprintf(text, 32, "%.17g", real);
    else if (a->kind == 's')
        snprintf(text, 32, "%.16s", (const char *)value);
    else if (a->kind == '#')
        snprintf(text, 32, "%s", *value == -1 ? "NULL" : "other numbers");
    else
        snprintf(text, 32, "%lld", LL(*value));
}

static attend_status name_difference(const struct argument *a, int rank,
                                     const int64_t *value, const int64_t *first,
                                     attend_error *err)
{
    char here[32], there[32];

    format_value(a, value, here);
    format_value(a, first, there);
    attendi_fail(err, ATTEND_EINVAL, "rank %d: %s (%s) differs from rank 0's (%s)", rank,
                 a->name, here, there);
    if (err)
        attendi_set_field(err, a->name);
    return ATTEND_EINVAL;
}

attend_status attendi_arguments_compare(struct communicator *comm,
                                        const struct arguments *a, attend_error *err)
{
    const int64_t *const all = comm->allgather_buffer;
    int64_t own[ARGUMENTS_MAX];

    for (int x = 0; x < a->count; x++)
        own[x] = a->list[x].value;
    TRY_MPI(
        attendi_allgather(own, a->count, MPI_INT64_T, comm->allgather_buffer, comm->mpi));
    for (int rank = 1; rank < comm->size; rank++)
        for (int x = 0; x < a->count; x++)
            if (all[rank * a->count + x] != all[x]) {
                const int at = a->list[x].kind == 'S' ? x - 1 : x;

                return name_difference(&a->list[at], rank, &all[rank * a->count + at],
                                       &all[at], err);
            }
    return ATTEND_OK;
}

/* SPDX-License-Identifier: MIT */
/* Probes of an inspection, on a rank that has some of the keys. */
#ifndef ATTEND_MPI_PROBES_H
#define ATTEND_MPI_PROBES_H

#include "mpi/mpi_call.h"

struct probes {
    int64_t first, keys; /* this rank's range of keys */
    int64_t count;       /* number of its probes */
    attend_probe *list;  /* keys relative to `first` */
    double *weights;
};

/* Checks the caller's probes and selects those whose key is in this rank's range. */
attend_status attendi_probes_select(struct probes *p, struct mpi_call *call,
                                    int64_t first, int64_t keys, attend_error *err);
/* Writes the weights of all ranks to the caller's array on every rank.  Collective. */
attend_status attendi_probes_allreduce(const struct probes *p, struct mpi_call *call,
                                       attend_error *err);
void attendi_probes_free(struct probes *p, struct mpi_call *call);

#endif

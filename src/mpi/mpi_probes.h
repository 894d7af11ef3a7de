/* SPDX-License-Identifier: MIT */
/* Probes of an inspection, for a rank that has some of the keys. */
#ifndef ATTEND_MPI_PROBES_H
#define ATTEND_MPI_PROBES_H

#include "mpi/job.h"

struct probes {
    int64_t first, keys; /* of this rank */
    int64_t count;       /* of its probes */
    attend_probe *list;  /* their keys counted from `first` */
    double *weights;
};

/* Those of the caller's probes, which are checked, that have a key of this rank. */
attend_status attendi_probes_take(struct probes *p, struct job *job, int64_t first,
                                  int64_t keys, attend_error *err);
/* Every rank's weights to the callers of all.  Collective. */
attend_status attendi_probes_share(const struct probes *p, struct job *job,
                                   attend_error *err);
void attendi_probes_free(struct probes *p, struct job *job);

#endif

/* SPDX-License-Identifier: MIT */
#include "base/parallel.h"

#ifdef ATTEND_HAVE_OPENMP
#include <omp.h>
#endif

int attendi_default_threads(void)
{
#ifdef ATTEND_HAVE_OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

void attendi_parallel_for(void *user, int n, void (*body)(void *arg, int w), void *arg)
{
    (void)user;
#ifdef ATTEND_HAVE_OPENMP
    /* Every w runs even if the runtime grants fewer threads than asked for. */
#pragma omp parallel for num_threads(n) schedule(static, 1)
#endif
    for (int w = 0; w < n; w++)
        body(arg, w);
}

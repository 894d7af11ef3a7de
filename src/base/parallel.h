/* SPDX-License-Identifier: MIT */
/* The pool used when the host lends none: OpenMP's, or the calling thread alone. */
#ifndef ATTEND_BASE_PARALLEL_H
#define ATTEND_BASE_PARALLEL_H

#include "attend/attend.h"

/* OMP_NUM_THREADS, else every core this process may use; 1 without OpenMP. */
int attendi_default_threads(void);

/* An attend_parallel_for. */
void attendi_parallel_for(void *user, int n, void (*body)(void *arg, int w), void *arg);

#endif

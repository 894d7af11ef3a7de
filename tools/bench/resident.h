/* SPDX-License-Identifier: MIT */
/* Memory of this process that is in use, in bytes, as Linux counts it; NaN elsewhere. */
#ifndef BENCH_RESIDENT_H
#define BENCH_RESIDENT_H

/* Now.  The peak counts from here on. */
double bench_resident_begin(void);
/* At most since then. */
double bench_resident_peak(void);

#endif

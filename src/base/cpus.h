/* SPDX-License-Identifier: MIT */
/* Default number of threads of this process. */
#ifndef ATTEND_BASE_CPUS_H
#define ATTEND_BASE_CPUS_H

/*
 * The CPUs of the calling thread's affinity mask, no more than the quota of the process's
 * control group, rounded up; at least 1.
 */
int attendi_cpus(void);

/* The first number of OMP_NUM_THREADS; attendi_cpus() if it is not a positive integer. */
int attendi_default_threads(void);

/*
 * CPU quota of the process's control groups, version 1 or 2, rounded up; INT_MAX: no
 * quota.  `root` is prepended to /proc/self/cgroup and /sys/fs/cgroup: "" for this
 * process.
 */
int attendi_cpu_quota(const char *root);

#endif

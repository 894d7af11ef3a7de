/* SPDX-License-Identifier: MIT */
/* How many threads this process may well run. */
#ifndef ATTEND_BASE_CPUS_H
#define ATTEND_BASE_CPUS_H

/*
 * The CPUs of the calling thread's affinity mask, no more than the quota of the process's
 * control group, rounded up; at least 1.
 */
int attendi_cpus(void);

/* OMP_NUM_THREADS, of a list the first; where that is no positive integer, the CPUs. */
int attendi_default_threads(void);

/*
 * The CPUs, rounded up, that control groups of version 1 or 2 allow a process by quota;
 * INT_MAX where they set none.  `root` stands before /proc/self/cgroup and
 * /sys/fs/cgroup: "" for this process.
 */
int attendi_cpu_quota(const char *root);

#endif

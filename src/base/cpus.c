/* SPDX-License-Identifier: MIT */
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "base/cpus.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <fcntl.h>
#include <sched.h>
#endif

#include "base/base.h"

enum { PATH_SIZE = 4096, TEXT_SIZE = 8192 };

#ifdef __linux__

/* Reads the start of a file into a string, without allocation; false on failure. */
static bool read_text(const char *path, char *text, size_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got = 1;

    if (file < 0)
        return false;
    while (length < size - 1 && (got = read(file, text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    close(file);
    text[length] = '\0';
    return got >= 0;
}

/* Reads up to two numbers from a file in a folder; returns how many were found. */
static int read_numbers(const char *folder, const char *name, long long *a, long long *b)
{
    char path[PATH_SIZE + 32], text[64];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_text(path, text, sizeof text) ? sscanf(text, "%lld %lld", a, b) : 0;
}

/* CPUs allowed by one group; "max" (version 2) and -1 (version 1) mean no limit. */
static int quota_of(const char *folder, bool version_2)
{
    long long quota = 0, period = 0, none;
    const bool has =
        version_2 ? read_numbers(folder, "cpu.max", &quota, &period) == 2
                  : read_numbers(folder, "cpu.cfs_quota_us", &quota, &none) >= 1 &&
                        read_numbers(folder, "cpu.cfs_period_us", &period, &none) >= 1;

    return has && quota > 0 && period > 0
               ? (int)min_i64(ceil_div_i64(quota, period), INT_MAX)
               : INT_MAX;
}

/*
 * The minimum over `group` and its ancestors.  In a container the group's name may be
 * that of the host and its folder missing; the top folder exists.
 */
static int quota_up_from(const char *top, const char *group, bool version_2)
{
    char folder[PATH_SIZE];
    const size_t top_length = strlen(top);
    int least = INT_MAX;

    const int length = snprintf(folder, sizeof folder, "%s%s", top, group);
    if (length < 0 || (size_t)length >= sizeof folder)
        return INT_MAX;
    for (;;) {
        least = (int)min_i64(least, quota_of(folder, version_2));
        char *const slash = strrchr(folder + top_length, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Whether a list such as "cpu,cpuacct" contains the name. */
static bool lists(const char *list, const char *name)
{
    const size_t length = strlen(name);

    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && !strncmp(list, name, length))
            return true;
    return false;
}

/* Quota of one line of /proc/self/cgroup, "number:controllers:group". */
static int quota_of_line(const char *root, char *line)
{
    char top[PATH_SIZE], joint[PATH_SIZE];
    char *const controllers = strchr(line, ':');
    char *const group = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group || strstr(group, "/.."))
        return INT_MAX;
    *group = '\0';
    if (controllers[1] == '\0') {
        snprintf(top, sizeof top, "%s/sys/fs/cgroup", root);
        return quota_up_from(top, group + 1, true);
    }
    if (!lists(controllers + 1, "cpu"))
        return INT_MAX;
    /* Version 1 has a tree for each set of controllers, by one name or by all. */
    snprintf(top, sizeof top, "%s/sys/fs/cgroup/cpu", root);
    snprintf(joint, sizeof joint, "%s/sys/fs/cgroup/%s", root, controllers + 1);
    return (int)min_i64(quota_up_from(top, group + 1, false),
                        quota_up_from(joint, group + 1, false));
}

int attendi_cpu_quota(const char *root)
{
    char path[PATH_SIZE], text[TEXT_SIZE];
    int least = INT_MAX;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!read_text(path, text, sizeof text))
        return INT_MAX;
    for (char *line = text; *line;) {
        char *const end = line + strcspn(line, "\n");
        char *const next = *end ? end + 1 : end;
        *end = '\0';
        least = (int)min_i64(least, quota_of_line(root, line));
        line = next;
    }
    return least;
}

/* CPUs of the affinity mask; 0 if unknown. */
static int cpus_of_mask(void)
{
    /* Room for 131072 CPUs; a mask smaller than the kernel's is refused. */
    unsigned long mask[16384 / sizeof(unsigned long)] = {0};
    int count = 0;

    if (sched_getaffinity(0, sizeof mask, (cpu_set_t *)(void *)mask) != 0)
        return 0;
    for (size_t x = 0; x < ARRAY_LEN(mask); x++)
        count += __builtin_popcountl(mask[x]);
    return count;
}

#else

int attendi_cpu_quota(const char *root)
{
    (void)root;
    return INT_MAX;
}

static int cpus_of_mask(void) { return 0; }

#endif

/* CPUs online; 0 if unknown. */
static int cpus_online(void)
{
#ifdef _SC_NPROCESSORS_ONLN
    const long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online > 0 && online < INT_MAX ? (int)online : 0;
#else
    return 0;
#endif
}

int attendi_cpus(void)
{
    const int mask = cpus_of_mask(), cpus = mask > 0 ? mask : cpus_online();

    return (int)max_i64(1, min_i64(cpus, attendi_cpu_quota("")));
}

/* OMP_NUM_THREADS; 0 if unset or not a positive integer. */
static int threads_of_environment(void)
{
    const char *const text = getenv("OMP_NUM_THREADS");
    char *end = NULL;
    const long threads = text ? strtol(text, &end, 10) : 0;

    if (threads <= 0)
        return 0;
    end += strspn(end, " \t");
    return *end == '\0' || *end == ',' ? (int)min_i64(threads, INT_MAX) : 0;
}

int attendi_default_threads(void)
{
    const int threads = threads_of_environment();

    return threads > 0 ? threads : attendi_cpus();
}

/* SPDX-License-Identifier: MIT */
#include "bench/resident.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A line of /proc/self/status, in KiB there. */
static double read_status(const char *name)
{
    FILE *const file = fopen("/proc/self/status", "r");
    char line[256];
    double kib = NAN;

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            sscanf(line + strlen(name), ": %lf", &kib);
    if (file)
        fclose(file);
    return 1024 * kib;
}

double bench_resident_begin(void)
{
    FILE *const file = fopen("/proc/self/clear_refs", "w");

    if (file) {
        fputs("5", file); /* sets VmHWM to VmRSS */
        fclose(file);
    }
    return read_status("VmRSS");
}

double bench_resident_peak(void) { return read_status("VmHWM"); }

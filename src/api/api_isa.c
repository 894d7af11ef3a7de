/* SPDX-License-Identifier: MIT */
/* The kernel sets of this build, and the choice of one. */
#include "api/api_isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/published.h"
#include "cpu/dispatch/cpu_features.h"
#include "cpu/dispatch/kernel_sets.h"
#include "ref/ref.h"

static int cpu_count(void)
{
    int n = 0;

    while (attendi_kernel_sets[n])
        n++;
    return n;
}

/* The order of attend_isa_get(): the CPU's sets, then the reference. */
static const struct kernel_set *kernels_at(int index)
{
    return index < cpu_count() ? attendi_kernel_sets[index] : &attendi_ref;
}

static int runs_here(const struct kernel_set *k)
{
    return (k->needs & ~attendi_cpu_features()) == 0;
}

int attend_isa_count(void) { return cpu_count() + 1; }

attend_status attend_isa_get(int index, attend_isa *isa)
{
    if (index < 0 || index >= attend_isa_count() || !isa)
        return ATTEND_EINVAL;
    const struct kernel_set *k = kernels_at(index);
    const attend_isa found = {.name = k->isa,
                              .needs = attendi_cpu_feature_names(k->needs),
                              .runs = runs_here(k)};

    return attendi_isa_store(&found, isa);
}

size_t attend_cpu_features(char *text, size_t size)
{
    const char *names = attendi_cpu_feature_names(attendi_cpu_features());

    if (text && size > 0)
        snprintf(text, size, "%s", names);
    return strlen(names);
}

/* ATTEND_ISA; NULL if unset or empty. */
static const char *isa_of_environment(void)
{
    const char *isa = getenv("ATTEND_ISA");

    return isa && *isa ? isa : NULL;
}

/* The names of all sets, separated by spaces. */
static void list_sets(char *text, size_t size)
{
    size_t length = 0;

    for (int x = 0; x < attend_isa_count() && length < size; x++)
        length += (size_t)snprintf(text + length, size - length, x == 0 ? "%s" : " %s",
                                   kernels_at(x)->isa);
}

attend_status attendi_select_kernels(const struct kernel_set **out, const char *given,
                                     attend_error *err)
{
    const char *const isa = given ? given : isa_of_environment();
    const char *const origin = given ? "options.isa" : "ATTEND_ISA";
    char sets[128];

    for (int x = 0; x < attend_isa_count(); x++) {
        const struct kernel_set *k = kernels_at(x);

        if (isa ? strcmp(isa, k->isa) != 0 : !runs_here(k))
            continue;
        if (!runs_here(k))
            return attendi_fail(err, ATTEND_EUNSUPPORTED,
                                "%s (\"%.40s\") needs %s, which this machine does not "
                                "have",
                                origin, isa, attendi_cpu_feature_names(k->needs));
        *out = k;
        return ATTEND_OK;
    }
    list_sets(sets, sizeof sets);
    return attendi_fail(err, ATTEND_EINVAL,
                        "%s (\"%.40s\") is not a kernel set of this build: %s", origin,
                        isa, sets);
}

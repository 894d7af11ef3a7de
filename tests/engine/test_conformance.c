/* SPDX-License-Identifier: MIT */
/*
 * Bugs that other implementations of attention shipped, one row each: conformance.inc.
 * Every row runs on every kernel set of this machine and every dtype.
 */
#include "conformance_rows.h"

typedef struct row {
    int number;
    const char *thread, *symptom;
    conformance_row *test;
    const char *instead;
} row;

#define INSTEAD(number, name, thread, symptom, instead)                                  \
    {number, thread, symptom, row_##number##_##name, instead},
#define ROW(number, name, thread, symptom) INSTEAD(number, name, thread, symptom, NULL)
static const row rows[] = {
#include "conformance.inc"
};

enum { ROWS = sizeof rows / sizeof rows[0], SETS_MAX = 16 };
_Static_assert(ROWS == 44, "one row for each thread of the list");

static attend_context *sets[SETS_MAX];
static int set_count;
static const row *current;

/* Reports every set and dtype that fails, not only the first. */
static void run_current(void)
{
    int failed = 0;

    for (int set = 0; set < set_count; set++)
        for (int at = 0; at < FLOAT_DTYPES; at++) {
            test_state.failed_now = 0;
            current->test(sets[set], float_dtypes[at]);
            if (test_state.failed_now)
                printf("  ^ kernel set %s, %s (%s: %s)\n", attend_context_isa(sets[set]),
                       attend_dtype_name(float_dtypes[at]), current->thread,
                       current->symptom);
            failed |= test_state.failed_now;
        }
    test_state.failed_now = failed;
    if (current->instead != NULL)
        printf("  %s: %s\n", current->thread, current->instead);
}

TEST(table_is_in_order)
{
    for (int at = 0; at < ROWS; at++)
        CHECK(rows[at].number == at + 1, "row %d is number %d", at, rows[at].number);
    CHECK(set_count >= 1, "no kernel set runs here");
}

int main(void)
{
    const char *set;

    for (int index = 0; set_count < SETS_MAX && (set = next_set(&index)) != NULL;) {
        sets[set_count++] = open_set(set, 1);
        if (sets[set_count - 1] == NULL)
            return 1;
    }
    test_run_all();
    for (int at = 0; at < ROWS; at++) {
        char name[96];
        current = &rows[at];
        snprintf(name, sizeof name, "row %d: %s", current->number, current->symptom);
        test_run(name, run_current);
    }
    for (int at = 0; at < set_count; at++)
        attend_context_destroy(sets[at]);
    return split_finish();
}

/* SPDX-License-Identifier: MIT */
/* The findings on a terminal. */
#include "lab/report/findings.h"

#include <inttypes.h>
#include <math.h>

static void write_result(const struct lab_result *result, FILE *out)
{
    struct lab_tally tally = {0};
    char exact[32], bounds[32];
    lab_tally_result(&tally, result);
    snprintf(exact, sizeof exact, "%d/%d", tally.rows.within, tally.rows.exact);
    snprintf(bounds, sizeof bounds, "%d/%d", tally.rows.held, tally.rows.bounds);
    fprintf(out, "%-15s %7s %6s %5d  ", result->experiment->name, exact, bounds,
            tally.rows.shown);
    const struct lab_row *const row = lab_result_headline(result);
    if (*result->error)
        fprintf(out, "failed: %s", result->error);
    else if (row && row->se > 0)
        fprintf(out, "%-14s %-9.4g %.4g \302\261 %.1g", row->quantity, row->theory,
                row->measured, row->se);
    else if (row)
        fprintf(out, "%-14s %-9.4g %.4g", row->quantity, row->theory, row->measured);
    fputc('\n', out);
}

int lab_summary_write(const struct lab_findings *findings, FILE *out)
{
    const struct lab_tally tally = lab_tally_all(findings);
    const struct lab_count *const rows = &tally.rows;
    fprintf(out, "%-15s %7s %6s %5s  %-14s %-9s %s\n", "experiment", "exact", "bounds",
            "shown", "for example", "theory", "measured");
    for (int e = 0; e < findings->count; e++)
        write_result(&findings->result[e], out);
    fprintf(out,
            "\nexact: %d of %d within 4 se; bounds: %d of %d held;\n"
            "limits and first-order forms: %d shown\n",
            rows->within, rows->exact, rows->held, rows->bounds, rows->shown);
    if (!findings->judged)
        return ferror(out) ? -1 : 0;
    fprintf(out, "%d statements of the sheets:", findings->judged);
    for (int verdict = LAB_HOLDS; verdict <= LAB_SLIP; verdict++)
        fprintf(out, "%s %d %s", verdict ? "," : "", tally.verdicts[verdict],
                lab_verdict_name((enum lab_verdict)verdict));
    fprintf(out, "\nthe sheets contradict each other on %d points: attend sheets\n",
            LAB_DISPUTES);
    return ferror(out) ? -1 : 0;
}

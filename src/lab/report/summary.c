/* SPDX-License-Identifier: MIT */
/* The findings on a terminal. */
#include "lab/report/findings.h"

#include <inttypes.h>
#include <math.h>

static void write_result(const struct lab_result *result, FILE *out)
{
    struct lab_tally tally = {0};
    char agreeing[32];
    lab_tally_result(&tally, result);
    snprintf(agreeing, sizeof agreeing, "%d/%d", tally.agreeing, tally.compared);
    fprintf(out, "%-15s %9s  ", result->experiment->name, agreeing);
    const struct lab_row *const row = lab_result_headline(result);
    if (*result->error)
        fprintf(out, "failed: %s", result->error);
    else if (row && row->se > 0)
        fprintf(out, "%-16s %-10.5g %.5g \302\261 %.1g", row->quantity, row->theory,
                row->measured, row->se);
    else if (row)
        fprintf(out, "%-16s %-10.5g %.5g", row->quantity, row->theory, row->measured);
    fputc('\n', out);
}

int lab_summary_write(const struct lab_findings *findings, FILE *out)
{
    const struct lab_tally tally = lab_tally_all(findings);
    fprintf(out, "%-15s %9s  %-16s %-10s %s\n", "experiment", "agreeing", "for example",
            "theory", "measured");
    for (int e = 0; e < findings->count; e++)
        write_result(&findings->result[e], out);
    fprintf(out,
            "\n%d of %d rows agree with theory (|z| <= 4, or the error that theory "
            "states)\n",
            tally.agreeing, tally.compared);
    fprintf(out, "%d statements of the sheets:", findings->judged);
    for (int verdict = LAB_HOLDS; verdict <= LAB_SLIP; verdict++)
        fprintf(out, "%s %d %s", verdict ? "," : "", tally.verdicts[verdict],
                lab_verdict_name((enum lab_verdict)verdict));
    fprintf(out, "\nthe sheets contradict each other on %d points: attend sheets\n",
            LAB_DISPUTES);
    return ferror(out) ? -1 : 0;
}

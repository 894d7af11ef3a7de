/* SPDX-License-Identifier: MIT */
/* Rows of an experiment as a table, as JSON lines or as comma-separated values. */
#include "lab_tool.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/door/objects.h"
#include "shared/json_line.h"

static void print_json(struct lab_printer *printer, const struct lab_row *row)
{
    struct lab_json json;

    lab_json_open(&json, LAB_JSON_EXACT);
    lab_json_begin(&json, '{');
    lab_json_row(&json, printer->run, row);
    printer->failed = tool_put_json(printer->command, &json);
}

static void print_csv_number(double value)
{
    if (isfinite(value))
        printf(",%.17g", value);
    else
        putchar(',');
}

static void print_csv_text(const char *text)
{
    fputs(",\"", stdout);
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            putchar('"');
        putchar(*c);
    }
    putchar('"');
}

static void print_csv(struct lab_printer *printer, const struct lab_row *row)
{
    const struct lab_experiment *const experiment = printer->run->experiment;

    if (printer->rows == 0) {
        fputs("experiment", stdout);
        for (int f = 0; f < experiment->flag_count; f++)
            printf(",%s", experiment->flags[f].name);
        puts(",quantity,theory,measured,se,z,kind,holds,rare,low,high,distance");
    }
    fputs(experiment->name, stdout);
    for (int p = 0; p < row->param_count; p++)
        if (row->params[p].text)
            print_csv_text(row->params[p].text);
        else
            print_csv_number(row->params[p].number);
    printf(",%s", row->quantity);
    print_csv_number(row->theory);
    print_csv_number(row->measured);
    print_csv_number(row->se);
    print_csv_number(lab_row_z(row));
    printf(",%s,%s,%d", lab_kind_name(row->kind),
           lab_row_holds(row) < 0 ? ""
           : lab_row_holds(row)   ? "true"
                                  : "false",
           row->rare);
    print_csv_number(row->rare ? row->low : NAN);
    print_csv_number(row->rare ? row->high : NAN);
    print_csv_number(lab_row_distance(row));
    putchar('\n');
}

/* The parameters in which a row differs from the run, "C=2 n=10"; "" for none. */
static void describe_differences(const struct lab_row *row, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (int p = 0; p < row->param_count && used < size; p++) {
        const struct lab_param *const param = &row->params[p];
        const char *const blank = used ? " " : "";
        if (param->differs && param->text)
            used += (size_t)snprintf(out + used, size - used, "%s%s=%s", blank,
                                     param->name, param->text);
        else if (param->differs)
            used += (size_t)snprintf(out + used, size - used, "%s%s=%.6g", blank,
                                     param->name, param->number);
    }
}

static void print_run_parameters(const struct lab_run *run)
{
    const struct lab_experiment *const experiment = run->experiment;

    printf("%s.", experiment->title);
    for (int f = 0; f < experiment->flag_count; f++)
        if (run->texts[f])
            printf("  %s=%s", experiment->flags[f].name, run->texts[f]);
        else if (!isnan(run->numbers[f]))
            printf("  %s=%.6g", experiment->flags[f].name, run->numbers[f]);
    if (experiment->trials > 0)
        printf("  trials=%lld  seed=%llu", (long long)run->trials,
               (unsigned long long)run->session.seed);
    printf("\n\n%-32s %12s %12s %12s %7s\n", "quantity", "theory", "measured", "se", "z");
}

static void print_table(struct lab_printer *printer, const struct lab_row *row)
{
    char where[sizeof printer->where];
    const double z = lab_row_z(row);

    if (printer->rows == 0)
        print_run_parameters(printer->run);
    describe_differences(row, where, sizeof where);
    if (strcmp(where, printer->where))
        putchar('\n');
    memcpy(printer->where, where, sizeof where);
    printf("%-32s", row->quantity);
    tool_print_cell(row->theory);
    tool_print_cell(row->measured);
    tool_print_cell(row->se);
    if (isfinite(z))
        printf(" %7.2f", z);
    else
        printf(" %7s", "-");
    printf("%s%s", *where ? "  " : "", where);
    if (row->kind != LAB_EXACT)
        printf("  %s", lab_kind_name(row->kind));
    if (isfinite(lab_row_distance(row)))
        printf(", %.2g%% away", 100 * lab_row_distance(row));
    if (row->rare && isnan(row->low))
        printf("  rare: too few events to judge by");
    else if (row->rare)
        printf("  rare: %.3g .. %.3g", row->low, row->high);
    putchar('\n');
}

void lab_print_row(struct lab_printer *printer, const struct lab_row *row)
{
    if (printer->failed)
        return;
    switch (printer->format) {
    case LAB_JSON:
        print_json(printer, row);
        break;
    case LAB_CSV:
        print_csv(printer, row);
        break;
    case LAB_TABLE:
        print_table(printer, row);
        break;
    }
    printer->rows++;
    lab_count_row(&printer->count, row);
    if (!printer->failed)
        printer->failed = tool_finish_output(printer->command, TOOL_OK);
}

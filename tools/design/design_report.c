/* SPDX-License-Identifier: MIT */
/* The report of `attend design`. */
#include "design_tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "shared/json_line.h"

/* Fewer dimensions than this, and the queries are printed. */
enum { PRINTED_MAX = 16 };

/* ---- JSON ----------------------------------------------------------------- */

static json_t *json_rows(const struct lab_design *design)
{
    json_t *const rows = json_array();

    for (int x = 0; x < design->rows; x++) {
        const struct lab_design_row *const row = &design->row[x];
        json_array_append_new(
            rows, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:o}",
                            "quantity", row->quantity, "item",
                            row->item < 0 ? json_null() : json_integer(row->item),
                            "predicted", tool_json_real(row->predicted), "measured",
                            tool_json_real(row->measured), "se", tool_json_real(row->se),
                            "z", tool_json_real(lab_design_z(row)), "kind",
                            row->is_approximate ? "approximate" : "exact", "rare",
                            row->rare, "low", tool_json_real(row->rare ? row->low : NAN),
                            "high", tool_json_real(row->rare ? row->high : NAN)));
    }
    return rows;
}

static json_t *json_choices(const struct lab_design *design)
{
    json_t *const choices = json_array();

    for (int x = 0; x < design->choices; x++)
        json_array_append_new(
            choices, json_pack("{s:i, s:o, s:o}", "heads", design->choice[x].heads,
                               "scale", tool_json_real(design->choice[x].scale), "mse",
                               tool_json_real(design->choice[x].mse)));
    return choices;
}

static json_t *json_vector(const double *values, int64_t count)
{
    json_t *const array = json_array();

    for (int64_t c = 0; c < count; c++)
        json_array_append_new(array, tool_json_real(values[c]));
    return array;
}

static int report_json(const struct design_args *args, const struct lab_design *design)
{
    const struct lab_design_request *const request = &args->request;
    json_t *const items = json_array(), *const queries = json_array();
    char advice[256];

    for (int x = 0; x < args->m; x++)
        json_array_append_new(items, json_integer(args->items[x]));
    for (int h = 0; h < design->heads; h++)
        json_array_append_new(queries,
                              json_vector(design->queries + h * request->d, request->d));
    lab_design_advice(design, advice, sizeof advice);
    json_t *const object = json_pack(
        "{s:s, s:o, s:I, s:I, s:o, s:o, s:f, s:f, s:f, s:f, s:s, s:i, s:f, s:f, s:o, "
        "s:o, "
        "s:i, s:s, s:o}",
        "task", args->task, "keys", tool_json_string(args->keys), "n",
        (json_int_t)request->n, "d", (json_int_t)request->d, "items", items, "weights",
        request->weights ? json_vector(request->weights, args->m) : json_null(), "eps",
        request->eps, "tau", request->tau, "sigma2", request->sigma2, "alpha",
        request->alpha, "prescribed", design->method, "heads", design->heads, "scale",
        design->scale, "norm", design->norm, "rows", json_rows(design), "by_heads",
        json_choices(design), "best_heads", design->choice[design->best].heads, "advice",
        advice, "queries", queries);
    const int status = tool_put_json("design", object, JSON_LINE_EXACT);

    return tool_finish_output("design", status);
}

/* ---- text ----------------------------------------------------------------- */

static void print_rows(const struct lab_design *design)
{
    printf("\n%-12s %6s %12s %12s %12s %6s\n", "quantity", "item", "predicted",
           "measured", "se", "z");
    for (int x = 0; x < design->rows; x++) {
        const struct lab_design_row *const row = &design->row[x];
        char item[24] = "";
        if (row->item >= 0)
            snprintf(item, sizeof item, "%" PRId64, row->item);
        printf("%-12s %6s", row->quantity, item);
        tool_print_cell(row->predicted);
        tool_print_cell(row->measured);
        tool_print_cell(row->se > 0 ? row->se : NAN);
        if (isfinite(lab_design_z(row)))
            printf(" %6.2f", lab_design_z(row));
        if (row->rare)
            printf("  rare: %.3g .. %.3g", row->low, row->high);
        puts(row->is_approximate ? "  approximate: heads share noise" : "");
    }
}

static void print_queries(const struct design_args *args, const struct lab_design *design)
{
    const int64_t d = args->request.d;

    for (int h = 0; h < design->heads && d <= PRINTED_MAX; h++) {
        printf("q%d      ", h + 1);
        for (int64_t c = 0; c < d; c++)
            printf(" %.5g", design->queries[h * d + c]);
        putchar('\n');
    }
}

int design_report(const struct design_args *args, const struct lab_design *design)
{
    static const char *const noisy[] = {[LAB_DESIGN_ALL] = "every key",
                                        [LAB_DESIGN_ITEMS] = "the items",
                                        [LAB_DESIGN_A] = "the first item"};
    const struct lab_design_request *const request = &args->request;
    char advice[256];

    if (args->wants_json)
        return report_json(args, design);
    printf("keys     %" PRId64 " in %" PRId64 " dimensions, %s; items", request->n,
           request->d, args->keys);
    for (int x = 0; x < args->m; x++)
        printf("%s %" PRId64, x ? "," : "", args->items[x]);
    printf("\nscores   %.6g <q, k>; leak at most %g asked for\n", request->tau,
           request->eps);
    if (design->is_noisy)
        printf("noise    sigma2 %g of %s, alpha %g of every key\n", request->sigma2,
               noisy[request->noisy], request->alpha);
    printf("heads    %d, scale %.6g, |q| at most %.6g; prescribed: the score of %s\n",
           design->heads, design->scale, design->norm,
           strcmp(design->method, "every key") ? "the items" : "every key");
    print_queries(args, design);
    if (args->out)
        printf("written  %s\n", args->out);
    print_rows(design);
    if (design->choices > 1) {
        printf("\nheads        scale   predicted mse\n");
        for (int x = 0; x < design->choices; x++)
            printf("%5d %12.6g %15.6g%s\n", design->choice[x].heads,
                   design->choice[x].scale, design->choice[x].mse,
                   design->is_noisy && x == design->best ? "  least" : "");
    }
    lab_design_advice(design, advice, sizeof advice);
    printf("\n%s\n", advice);
    return tool_finish_output("design", TOOL_OK);
}

/* SPDX-License-Identifier: MIT */
/* The report of `attend design`. */
#include "design_tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/door/objects.h"
#include "shared/json_line.h"

/* Fewer dimensions than this, and the queries are printed. */
enum { PRINTED_MAX = 16 };

/* ---- JSON ----------------------------------------------------------------- */

static int report_json(const struct design_args *args, const struct lab_design *design)
{
    const struct lab_design_request *const request = &args->request;
    struct lab_json json;

    lab_json_open(&json, LAB_JSON_EXACT);
    lab_json_put(&json, "{ task:s keys:s n:l d:l items:[", args->task, args->keys,
                 request->n, request->d);
    for (int x = 0; x < args->m; x++)
        lab_json_whole(&json, args->items[x]);
    lab_json_end(&json, ']');
    if (request->weights)
        lab_json_reals(&json, "weights", request->weights, args->m);
    else
        lab_json_put(&json, "weights:s", NULL);
    lab_json_put(&json, "eps:r tau:r sigma2:r alpha:r", request->eps, request->tau,
                 request->sigma2, request->alpha);
    lab_json_design(&json, design);
    lab_json_put(&json, "queries:[");
    for (int h = 0; h < design->heads; h++) {
        lab_json_begin(&json, '[');
        for (int64_t c = 0; c < request->d; c++)
            lab_json_real(&json, design->queries[h * request->d + c]);
        lab_json_end(&json, ']');
    }
    lab_json_end(&json, ']');
    return tool_finish_output("design", tool_put_json("design", &json));
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

    if (d > PRINTED_MAX && !args->out)
        printf("queries  %" PRId64
               " numbers each: --json prints them, --out F writes them\n",
               d);
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
    printf("\nscores   %.6g times <q, k>; leak at most %g asked for\n", request->tau,
           request->eps);
    if (design->is_noisy)
        printf("noise    sigma2 %g of %s, alpha %g of every key\n", request->sigma2,
               noisy[request->noisy], request->alpha);
    printf("heads    %d, scale %.6g, |q| %s%.6g; the scores of %s are set\n",
           design->heads, design->scale, design->heads > 1 ? "at most " : "",
           design->norm, strcmp(design->method, "every key") ? "the items" : "all keys");
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

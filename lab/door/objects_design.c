/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "lab/design/design.h"
#include "lab/door/objects.h"

static void put_design_row(struct lab_json *json, const struct lab_design_row *row)
{
    lab_json_put(json, "{ quantity:s", row->quantity);
    lab_json_key(json, "item");
    if (row->item < 0)
        lab_json_text(json, NULL);
    else
        lab_json_whole(json, row->item);
    lab_json_put(json, "predicted:r measured:r se:r z:r kind:s rare:b low:r high:r }",
                 row->predicted, row->measured, row->se, lab_design_z(row),
                 row->is_approximate ? "approximate" : "exact", row->rare,
                 row->rare ? row->low : NAN, row->rare ? row->high : NAN);
}

void lab_json_design(struct lab_json *json, const struct lab_design *design)
{
    char advice[256];

    lab_json_put(json, "prescribed:s heads:i scale:r norm:r rows:[", design->method,
                 design->heads, design->scale, design->norm);
    for (int x = 0; x < design->rows; x++)
        put_design_row(json, &design->row[x]);
    lab_json_put(json, "] by_heads:[");
    for (int x = 0; x < design->choices; x++)
        lab_json_put(json, "{ heads:i scale:r mse:r }", design->choice[x].heads,
                     design->choice[x].scale, design->choice[x].mse);
    lab_design_advice(design, advice, sizeof advice);
    lab_json_put(json, "] best_heads:i advice:s", design->choice[design->best].heads,
                 advice);
}

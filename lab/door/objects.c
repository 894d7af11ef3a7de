/* SPDX-License-Identifier: MIT */
#include "lab/door/objects.h"

#include <math.h>

#include "lab/experiments/experiment.h"
#include "lab/sheets/sheets.h"

static void put_flag(struct lab_json *json, const struct lab_flag *flag)
{
    static const char *const types[] = {[LAB_REAL] = "real",
                                        [LAB_INTEGER] = "integer",
                                        [LAB_CHOICE] = "choice",
                                        [LAB_TEXT] = "text"};

    lab_json_put(json, "{ name:s type:s preset:r min:r max:r text:s choices:s help:p }",
                 flag->name, types[flag->type], flag->preset, flag->min, flag->max,
                 flag->text, flag->choices, flag->help);
}

void lab_json_experiment(struct lab_json *json, const struct lab_experiment *experiment)
{
    lab_json_put(json, "name:s title:s shows:p answers:s headline:s trials:l flags:[",
                 experiment->name, experiment->title, experiment->shows,
                 experiment->answers, experiment->headline, (int64_t)experiment->trials);
    for (int f = 0; f < experiment->flag_count; f++)
        put_flag(json, &experiment->flags[f]);
    lab_json_put(json, "] quantities:{");
    for (const struct lab_quantity *known = lab_quantities(experiment->name); known->name;
         known++) {
        lab_json_key(json, known->name);
        lab_json_put(json, "p", known->meaning);
    }
    lab_json_end(json, '}');
}

static void put_params(struct lab_json *json, const struct lab_run *run,
                       const struct lab_row *row)
{
    for (int p = 0; p < row->param_count; p++) {
        const struct lab_param *const param = &row->params[p];

        lab_json_key(json, param->name);
        if (param->text)
            lab_json_text(json, param->text);
        else if (run->experiment->flags[p].type == LAB_INTEGER && isfinite(param->number))
            lab_json_whole(json, (long long)param->number);
        else
            lab_json_real(json, param->number);
    }
}

void lab_json_row(struct lab_json *json, const struct lab_run *run,
                  const struct lab_row *row)
{
    lab_json_put(json, "experiment:s params:{", run->experiment->name);
    put_params(json, run, row);
    lab_json_put(json,
                 "} quantity:s theory:r measured:r se:r z:r kind:s holds:b rare:b low:r "
                 "high:r distance:r",
                 row->quantity, row->theory, row->measured, row->se, lab_row_z(row),
                 lab_kind_name(row->kind), lab_row_holds(row), row->rare,
                 row->rare ? row->low : NAN, row->rare ? row->high : NAN,
                 lab_row_distance(row));
}

void lab_json_judgement(struct lab_json *json, const struct lab_judgement *judgement,
                        const char *quote)
{
    lab_json_put(json,
                 "id:s sheet:s line:i says:p quote:p quoted_line:i verdict:s reading:s "
                 "readings_agree:b invariant:b holds_when:p measured:r expected:r "
                 "evidence:p",
                 judgement->id, judgement->sheet, judgement->line, judgement->says, quote,
                 judgement->quoted, lab_verdict_name(judgement->verdict),
                 lab_reading_name(judgement->reading), judgement->readings_agree,
                 judgement->invariant, judgement->holds_when, judgement->measured,
                 judgement->expected, judgement->evidence);
}

void lab_json_dispute(struct lab_json *json, const struct lab_dispute *dispute)
{
    lab_json_put(json, "question:p sides:p right:p", dispute->question, dispute->sides,
                 dispute->right);
}

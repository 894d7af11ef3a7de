/* SPDX-License-Identifier: MIT */
/* What the page shows before anything is computed: words, formulas, flags, colours. */
#include "page.h"

#include <stdlib.h>

#include "attend/attend.h"
#include "lab/experiments/experiment.h"
#include "lab/figures/figure.h"
#include "lab/figures/text.h"
#include "lab/report/report_parts.h"
#include "lab/report/teaching.h"
#include "lab/sheets/sheets.h"
#include "page_answers.h"
#include "page_json.h"

/* ---- experiments --------------------------------------------------------------- */

static void put_flag(const struct lab_flag *flag)
{
    static const char *const types[] = {[LAB_REAL] = "real",
                                        [LAB_INTEGER] = "integer",
                                        [LAB_CHOICE] = "choice",
                                        [LAB_TEXT] = "text"};

    page_json_begin('{');
    page_json_text_of("name", flag->name);
    page_json_text_of("type", types[flag->type]);
    page_json_number_of("preset", flag->preset);
    page_json_number_of("min", flag->min);
    page_json_number_of("max", flag->max);
    page_json_text_of("text", flag->text);
    page_json_text_of("choices", flag->choices);
    page_json_markup_of("help", lab_text_prose, flag->help);
    page_json_end('}');
}

static void put_experiment(const struct lab_experiment *experiment)
{
    page_json_begin('{');
    page_json_text_of("name", experiment->name);
    page_json_text_of("title", experiment->title);
    page_json_markup_of("shows", lab_text_prose, experiment->shows);
    page_json_text_of("answers", experiment->answers);
    page_json_whole_of("trials", experiment->trials);
    page_json_key("flags");
    page_json_begin('[');
    for (int f = 0; f < experiment->flag_count; f++)
        put_flag(&experiment->flags[f]);
    page_json_end(']');
    page_json_key("quantities");
    page_json_begin('{');
    for (const struct lab_quantity *known = lab_quantities(experiment->name); known->name;
         known++)
        page_json_markup_of(known->name, lab_text_prose, known->meaning);
    page_json_end('}');
    page_json_end('}');
}

/* ---- questions ----------------------------------------------------------------- */

static void put_shown(const char *key, const struct lab_shown *shown, int most)
{
    page_json_key(key);
    page_json_begin('[');
    for (int x = 0; x < most && shown[x].name; x++) {
        page_json_begin('{');
        page_json_text_of("experiment", shown[x].experiment);
        page_json_text_of("name", shown[x].name);
        page_json_end('}');
    }
    page_json_end(']');
}

static void put_question(const struct lab_question *question)
{
    page_json_begin('{');
    page_json_text_of("id", question->id);
    page_json_markup_of("title", lab_text_markdown, question->title);
    page_json_markup_of("asks", lab_text_markdown, question->asks);
    page_json_markup_of("answer", lab_text_markdown, question->answer);
    page_json_key("formulas");
    page_json_begin('[');
    for (int x = 0; x < LAB_FORMULAS_MAX && question->formula[x]; x++)
        page_json_markup(lab_text_formula, question->formula[x]);
    page_json_end(']');
    put_shown("figures", question->figure, LAB_SHOWN_MAX);
    put_shown("numbers", question->number, LAB_NUMBERS_MAX);
    page_json_text_of("results", question->results);
    page_json_text_of("statements", question->statements);
    page_json_end('}');
}

static void put_primer(void)
{
    page_json_key("exercise");
    page_json_begin('[');
    page_json_markup(lab_text_markdown, lab_exercise_text[0]);
    for (int x = 0; lab_exercise_formula[x]; x++)
        page_json_markup(lab_text_formula, lab_exercise_formula[x]);
    for (int x = 1; lab_exercise_text[x]; x++)
        page_json_markup(lab_text_markdown, lab_exercise_text[x]);
    page_json_end(']');
    page_json_key("things");
    page_json_begin('[');
    for (int x = 0; x < LAB_THINGS; x++) {
        page_json_begin('{');
        page_json_markup_of("what", lab_text_markdown, lab_things[x].what);
        page_json_markup_of("why", lab_text_markdown, lab_things[x].why);
        page_json_end('}');
    }
    page_json_end(']');
    page_json_key("glossary");
    page_json_begin('[');
    for (const struct lab_term *term = lab_glossary; term->term; term++) {
        page_json_begin('{');
        page_json_markup_of("term", lab_text_markdown, term->term);
        page_json_markup_of("meaning", lab_text_markdown, term->meaning);
        page_json_end('}');
    }
    page_json_end(']');
}

/* ---- all ----------------------------------------------------------------------- */

static void write_style(FILE *out, const char *unused)
{
    (void)unused;
    fprintf(out, "%s\n%s", lab_shared_style, lab_figure_style);
}

static void put_verdicts(void)
{
    page_json_key("verdicts");
    page_json_begin('{');
    for (int verdict = LAB_HOLDS; verdict <= LAB_SLIP; verdict++)
        page_json_markup_of(lab_verdict_name((enum lab_verdict)verdict), lab_text_prose,
                            lab_verdict_meaning((enum lab_verdict)verdict));
    page_json_end('}');
}

const char *page_catalogue(void)
{
    page_json_open();
    page_json_begin('{');
    page_json_text_of("version", attend_version());
    page_json_key("experiments");
    page_json_begin('[');
    for (int x = 0; lab_experiments[x]; x++)
        put_experiment(lab_experiments[x]);
    page_json_end(']');
    page_json_key("questions");
    page_json_begin('[');
    for (const struct lab_question *question = lab_questions; question->id; question++)
        put_question(question);
    page_json_end(']');
    put_primer();
    page_parts_put();
    put_verdicts();
    page_json_whole_of("statements", LAB_STATEMENTS);
    page_json_whole_of("disputes", LAB_DISPUTES);
    page_json_markup_of("style", write_style, NULL);
    page_json_end('}');
    return page_json_close();
}

const char *page_isa(void)
{
    const attend_options options = attend_options_default();
    static char name[32];
    attend_context *ctx;
    attend_error err;

    if (attend_context_create(&ctx, &options, &err) != ATTEND_OK)
        return "";
    snprintf(name, sizeof name, "%s", attend_context_isa(ctx));
    attend_context_destroy(ctx);
    return name;
}

/* SPDX-License-Identifier: MIT */
/* The static contents of the page: words, formulas, flags, colours. */
#include "page.h"

#include <stdlib.h>

#include "attend/attend.h"
#include "lab/door/objects.h"
#include "lab/experiments/experiment.h"
#include "lab/figures/figure.h"
#include "lab/figures/text.h"
#include "lab/report/report_parts.h"
#include "lab/report/teaching.h"
#include "lab/sheets/sheets.h"
#include "page_answers.h"
#include "page_report.h"

/* ---- questions ----------------------------------------------------------------- */

static void put_shown(struct lab_json *json, const struct lab_shown *shown, int most)
{
    for (int x = 0; x < most && shown[x].name; x++)
        lab_json_put(json, "{ experiment:s name:s }", shown[x].experiment, shown[x].name);
}

static void put_question(struct lab_json *json, const struct lab_question *question)
{
    lab_json_put(json, "{ id:s title:w asks:w answer:w formulas:[", question->id,
                 lab_text_markdown, question->title, lab_text_markdown, question->asks,
                 lab_text_markdown, question->answer);
    for (int x = 0; x < LAB_FORMULAS_MAX && question->formula[x]; x++)
        lab_json_put(json, "w", lab_text_formula, question->formula[x]);
    lab_json_put(json, "] figures:[");
    put_shown(json, question->figure, LAB_SHOWN_MAX);
    lab_json_put(json, "] numbers:[");
    put_shown(json, question->number, LAB_NUMBERS_MAX);
    lab_json_put(json, "] results:s statements:s }", question->results,
                 question->statements);
}

static void put_primer(struct lab_json *json)
{
    lab_json_put(json, "exercise:[ w", lab_text_markdown, lab_exercise_text[0]);
    for (int x = 0; lab_exercise_formula[x]; x++)
        lab_json_put(json, "w", lab_text_formula, lab_exercise_formula[x]);
    for (int x = 1; lab_exercise_text[x]; x++)
        lab_json_put(json, "w", lab_text_markdown, lab_exercise_text[x]);
    lab_json_put(json, "] things:[");
    for (int x = 0; x < LAB_THINGS; x++)
        lab_json_put(json, "{ what:w why:w }", lab_text_markdown, lab_things[x].what,
                     lab_text_markdown, lab_things[x].why);
    lab_json_put(json, "] glossary:[");
    for (const struct lab_term *term = lab_glossary; term->term; term++)
        lab_json_put(json, "{ term:w meaning:w }", lab_text_markdown, term->term,
                     lab_text_markdown, term->meaning);
    lab_json_end(json, ']');
}

/* ---- all ----------------------------------------------------------------------- */

static void write_style(FILE *out, const char *figures)
{
    fprintf(out, "%s\n%s\n%s", lab_shared_style, lab_marks_style, figures);
}

const char *page_catalogue(void)
{
    struct lab_json *const json = page_begin();

    lab_json_put(json, "version:s experiments:[", attend_version());
    for (int x = 0; lab_experiments[x]; x++) {
        lab_json_begin(json, '{');
        lab_json_experiment(json, lab_experiments[x]);
        lab_json_end(json, '}');
    }
    lab_json_put(json, "] questions:[");
    for (const struct lab_question *question = lab_questions; question->id; question++)
        put_question(json, question);
    lab_json_end(json, ']');
    put_primer(json);
    page_parts_put(json);
    lab_json_put(json, "verdicts:{");
    for (int verdict = LAB_HOLDS; verdict <= LAB_SLIP; verdict++) {
        lab_json_key(json, lab_verdict_name((enum lab_verdict)verdict));
        lab_json_put(json, "p", lab_verdict_meaning((enum lab_verdict)verdict));
    }
    lab_json_put(json, "} verdict_words:{");
    for (int verdict = LAB_HOLDS; verdict <= LAB_SLIP; verdict++) {
        lab_json_key(json, lab_verdict_name((enum lab_verdict)verdict));
        lab_json_put(json, "s", lab_verdict_word((enum lab_verdict)verdict));
    }
    lab_json_put(json, "} statements:i disputes:i style:w", LAB_STATEMENTS, LAB_DISPUTES,
                 write_style, lab_figure_style);
    return page_end();
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

/* SPDX-License-Identifier: MIT */
/* The statements of the sheets, one by one. */
#include "page.h"

#include "lab/figures/text.h"
#include "lab/report/teaching.h"
#include "lab/sheets/sheets.h"
#include "page_json.h"
#include "page_report.h"

/* By charity; those that were not judged have no id. */
static struct lab_judgement judged[LAB_STATEMENTS];

static void put_point(const struct lab_judgement *judgement)
{
    page_json_key("at");
    if (!judgement->has_point) {
        page_json_text(NULL);
        return;
    }
    page_json_begin('{');
    page_json_whole_of("n", judgement->n);
    page_json_number_of("scale", judgement->scale);
    page_json_number_of("alpha", judgement->alpha);
    page_json_end('}');
}

const char *page_judge(int index, int reading)
{
    struct lab_judgement own, *const to = reading == LAB_CHARITY ? &judged[index] : &own;
    char quote[400];

    if (lab_sheets_judge(index, (enum lab_reading)reading, to))
        return page_refuse("the statement could not be judged");
    const struct lab_question *const question = lab_question_of(to->id);
    lab_sheets_plain(to->quote ? to->quote : "", quote, sizeof quote);
    page_json_open();
    page_json_begin('{');
    page_json_text_of("id", to->id);
    page_json_text_of("sheet", to->sheet);
    page_json_whole_of("line", to->line);
    page_json_text_of("question", question ? question->id : NULL);
    page_json_markup_of("says", lab_text_prose, to->says);
    page_json_markup_of("quote", lab_text_prose, quote);
    page_json_whole_of("quoted", to->quoted);
    page_json_text_of("verdict", lab_verdict_name(to->verdict));
    page_json_text_of("reading", lab_reading_name(to->reading));
    page_json_truth_of("readings_agree", to->readings_agree);
    page_json_truth_of("invariant", to->invariant);
    page_json_markup_of("holds_when", lab_text_prose, to->holds_when);
    page_json_markup_of("evidence", lab_text_prose, to->evidence);
    page_json_number_of("measured", to->measured);
    page_json_number_of("expected", to->expected);
    put_point(to);
    page_json_end('}');
    return page_json_close();
}

const char *page_dispute(int index)
{
    struct lab_dispute dispute;

    for (int x = 0; x < LAB_STATEMENTS; x++)
        if (!*judged[x].id && lab_sheets_judge(x, LAB_CHARITY, &judged[x]))
            return page_refuse("a statement could not be judged");
    if (lab_sheets_dispute(index, judged, &dispute))
        return page_refuse("the dispute could not be judged");
    page_json_open();
    page_json_begin('{');
    page_json_markup_of("question", lab_text_prose, dispute.question);
    page_json_markup_of("sides", lab_text_prose, dispute.sides);
    page_json_markup_of("right", lab_text_prose, dispute.right);
    page_json_end('}');
    return page_json_close();
}

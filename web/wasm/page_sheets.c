/* SPDX-License-Identifier: MIT */
/* The statements of the sheets, one by one. */
#include "page.h"

#include "lab/door/objects.h"
#include "lab/figures/text.h"
#include "lab/report/teaching.h"
#include "lab/sheets/sheets.h"
#include "page_report.h"

/* By charity; those that were not judged have no id. */
static struct lab_judgement judged[LAB_STATEMENTS];

const char *page_judge(int index, int reading)
{
    struct lab_judgement own, *const to = reading == LAB_CHARITY ? &judged[index] : &own;
    char quote[400];

    if (lab_sheets_judge(index, (enum lab_strictness)reading, to))
        return page_refuse("the statement could not be judged");
    const struct lab_question *const question = lab_question_of(to->id);
    lab_text_plain(to->quote ? to->quote : "", quote, sizeof quote);
    struct lab_json *const json = page_begin();
    lab_json_judgement(json, to, quote);
    lab_json_put(json, "question:s", question ? question->id : NULL);
    if (to->has_point)
        lab_json_put(json, "at:{ n:l scale:r alpha:r }", to->n, to->scale, to->alpha);
    else
        lab_json_put(json, "at:s", NULL);
    return page_end();
}

const char *page_dispute(int index)
{
    struct lab_dispute dispute;

    for (int x = 0; x < LAB_STATEMENTS; x++)
        if (!*judged[x].id && lab_sheets_judge(x, LAB_CHARITY, &judged[x]))
            return page_refuse("a statement could not be judged");
    if (lab_sheets_dispute(index, judged, &dispute))
        return page_refuse("the dispute could not be judged");
    lab_json_dispute(page_begin(), &dispute);
    return page_end();
}

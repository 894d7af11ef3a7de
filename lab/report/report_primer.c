/* SPDX-License-Identifier: MIT */
/* The opening of the report: the exercise, five things to remember, the glossary. */
#include "lab/report/report_parts.h"

#include "lab/figures/text.h"

static void write_paragraph(const char *text, FILE *out)
{
    fputs("<p>", out);
    lab_text_markdown(out, text);
    fputs("</p>\n", out);
}

static void write_exercise(FILE *out)
{
    fputs("<section id=\"exercise\">\n<h2>The exercise in one screen</h2>\n", out);
    write_paragraph(lab_exercise_text[0], out);
    for (int i = 0; lab_exercise_formula[i]; i++) {
        fputs("<div class=\"formula\">", out);
        lab_text_formula(out, lab_exercise_formula[i]);
        fputs("</div>\n", out);
    }
    for (int i = 1; lab_exercise_text[i]; i++)
        write_paragraph(lab_exercise_text[i], out);
    fputs("<ul class=\"asked\">\n", out);
    for (const struct lab_question *q = lab_questions; q->id; q++) {
        fprintf(out, "<li><a href=\"#q-%s\">", q->id);
        if (q->id[0] >= '0' && q->id[0] <= '9')
            fprintf(out, "<b>%s</b> ", q->id);
        lab_text_markdown(out, q->title);
        fputs("</a></li>\n", out);
    }
    fputs("</ul>\n</section>\n", out);
}

static void write_things(FILE *out)
{
    fputs("<section id=\"remember\">\n<h2>Five things to remember</h2>\n"
          "<ol class=\"things\">\n",
          out);
    for (int i = 0; i < LAB_THINGS; i++) {
        fputs("<li><b>", out);
        lab_text_markdown(out, lab_things[i].what);
        fputs("</b> <span>", out);
        lab_text_markdown(out, lab_things[i].why);
        fputs("</span></li>\n", out);
    }
    fputs("</ol>\n</section>\n", out);
}

static void write_glossary(FILE *out)
{
    fputs("<section id=\"glossary\">\n<h2>Glossary</h2>\n<dl class=\"glossary\">\n", out);
    for (const struct lab_term *term = lab_glossary; term->term; term++) {
        fputs("<div><dt>", out);
        lab_text_markdown(out, term->term);
        fputs("</dt><dd>", out);
        lab_text_markdown(out, term->meaning);
        fputs("</dd></div>\n", out);
    }
    fputs("</dl>\n</section>\n", out);
}

void lab_report_primer(FILE *out)
{
    write_exercise(out);
    write_things(out);
    write_glossary(out);
}

/* SPDX-License-Identifier: MIT */
/* What stands above a marked sheet. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lab/figures/text.h"
#include "lab/marks/marks_parts.h"

/* In the order of interest. */
static const enum lab_read_verdict verdicts[] = {
    LAB_READ_TRUE,  LAB_READ_LIMIT,    LAB_READ_SLIP,
    LAB_READ_FALSE, LAB_READ_NOT_READ, LAB_READ_NOT_JUDGED,
};
enum { VERDICTS = sizeof verdicts / sizeof verdicts[0] };

static void write_tiles(const struct lab_reading *reading, FILE *out)
{
    lab_html(out, "<ul class=\"tiles\">\n");
    if (reading->questions > 0)
        lab_html(out, "<li><b>{n4}\u202f/\u202f{n4}</b><span>points</span></li>\n",
                 reading->points, reading->of);
    lab_html(out,
             "<li><b>{d}\u202f/\u202f{d}</b><span>formulas read</span></li>\n"
             "<li><b>{d}\u202f/\u202f{d}</b><span>sentences read</span></li>\n"
             "<li><b>{d}</b><span>claims judged</span></li>\n"
             "<li><b>{d}</b><span>contradictions</span></li>\n</ul>\n",
             reading->formulas_read, reading->formulas, reading->sentences_read,
             reading->sentences, reading->judged, reading->conflicts);
}

/* The verdicts as a bar and in numbers. */
static void write_tally(const struct lab_reading *reading, FILE *out)
{
    int count[VERDICTS] = {0};
    for (int c = 0; c < reading->claims; c++)
        count[reading->claim[c].verdict]++;
    lab_html(out, "<div class=\"tally\"><div class=\"split\" aria-hidden=\"true\">");
    for (int v = 0; v < VERDICTS; v++)
        if (count[verdicts[v]])
            lab_html(out, "<i class=\"{s}\" style=\"flex:{d}\"></i>",
                     lab_read_verdict_name(verdicts[v]), count[verdicts[v]]);
    lab_html(out, "</div><ul>");
    for (int v = 0; v < VERDICTS; v++)
        if (count[verdicts[v]])
            lab_html(out, "<li><b>{d}</b> <span class=\"word {s}\">{s}</span></li>",
                     count[verdicts[v]], lab_read_verdict_name(verdicts[v]),
                     lab_read_verdict_words(verdicts[v]));
    lab_html(out, "</ul></div>\n");
}

static void write_points(const struct lab_reading *reading, FILE *out)
{
    if (reading->questions == 0)
        return;
    lab_html(out, "<h3>Points</h3>\n<ul class=\"scores\">");
    for (int q = 0; q < reading->questions; q++) {
        const struct lab_read_points *const one = &reading->question[q];
        lab_html(out, "<li{s}>{h} <b>{n3}</b>\u202f/\u202f{n3}</li>\n",
                 one->points > 0 ? "" : " class=\"none\"", one->question, one->points,
                 one->of);
    }
    lab_html(out, "</ul>\n<details class=\"why\"><summary>Why</summary>\n<div "
                  "class=\"box\"><table class=\"points\"><thead><tr><th>question</th><th "
                  "class=\"n\">points</th><th>found</th></tr></thead><tbody>\n");
    for (int q = 0; q < reading->questions; q++) {
        const struct lab_read_points *const one = &reading->question[q];
        lab_html(out,
                 "<tr><td>{h}</td><td class=\"n\">{n4}\u202f/\u202f{n4}</td><td>{p}</td>"
                 "</tr>\n",
                 one->question, one->points, one->of, one->words);
    }
    lab_html(out, "</tbody></table></div></details>\n");
}

/* Words in which every "line 12" is a link to the line. */
static void write_linked(const char *words, int number, FILE *out)
{
    const char *from = words;
    for (const char *at = words; (at = strstr(at, "ine ")) != NULL;) {
        const int line = atoi(at + 4);
        if (at == words || (at[-1] != 'l' && at[-1] != 'L') || line <= 0 ||
            (at - 1 > words && isalpha((unsigned char)at[-2]))) {
            at += 4;
            continue;
        }
        lab_text_math(out, from, (size_t)(at - 1 - from), LAB_HTML);
        lab_html(out, "<a href=\"#s{d}-L{d}\">", number, line);
        from = at + 4 + strspn(at + 4, "0123456789");
        lab_text_escape(out, at - 1, (size_t)(from - at) + 1);
        lab_html(out, "</a>");
        at = from;
    }
    lab_text_prose(out, from);
}

static void write_conflicts(const struct lab_reading *reading, int number, FILE *out)
{
    if (reading->conflicts == 0)
        return;
    lab_html(out, "<h3>Contradictions</h3>\n<ul class=\"conflicts\">\n");
    for (int i = 0; i < reading->conflicts; i++) {
        lab_html(out, "<li>");
        write_linked(reading->conflict[i].words, number, out);
        lab_html(out, "</li>\n");
    }
    lab_html(out, "</ul>\n");
}

static void write_letters(const struct lab_reading *reading, int number, FILE *out)
{
    if (reading->letters == 0)
        return;
    lab_html(out,
             "<details class=\"letters\"><summary>Letters and their meanings</summary>"
             "\n<ul>\n");
    for (int i = 0; i < reading->letters; i++) {
        const struct lab_read_letter *const letter = &reading->letter[i];
        lab_html(out, "<li><b>{p}</b> {p}, <a href=\"#s{d}-L{d}\">line {d}</a></li>\n",
                 letter->letter, letter->meaning, number, letter->line, letter->line);
    }
    lab_html(out, "</ul></details>\n");
}

void marks_write_summary(const struct lab_marked *marked, int number, FILE *out)
{
    write_tiles(&marked->reading, out);
    write_tally(&marked->reading, out);
    write_conflicts(&marked->reading, number, out);
    write_points(&marked->reading, out);
    write_letters(&marked->reading, number, out);
}

/* SPDX-License-Identifier: MIT */
/* A marked solution on a terminal. */
#define _DEFAULT_SOURCE

#include "judge/judge_tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lab/door/json.h"
#include "lab/figures/text.h"

enum { NUMBER = 5, MARGIN = 21, INDENT = NUMBER + MARGIN, LEAST = 60, MOST = 120 };
enum { VERDICTS = LAB_READ_NOT_JUDGED + 1 };

void judge_look_of_output(struct judge_look *look)
{
    const char *const refused = getenv("NO_COLOR");
    struct winsize window;
    const int on_terminal = isatty(STDOUT_FILENO);

    look->colour = on_terminal && !(refused && *refused);
    look->width = 88;
    if (on_terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) && window.ws_col > 0)
        look->width = window.ws_col < LEAST  ? LEAST
                      : window.ws_col > MOST ? MOST
                                             : window.ws_col;
}

/* ---- pieces ---------------------------------------------------------------- */

/* A word in the colour of a verdict, in `columns`. */
static void put_word(const struct judge_look *look, enum lab_read_verdict verdict,
                     const char *word, int columns)
{
    static const char *const codes[VERDICTS] = {
        [LAB_READ_TRUE] = "32",    [LAB_READ_LIMIT] = "33",
        [LAB_READ_SLIP] = "35",    [LAB_READ_FALSE] = "1;31",
        [LAB_READ_NOT_READ] = "2", [LAB_READ_NOT_JUDGED] = "2"};
    const int length = (int)strlen(word);

    if (look->colour)
        printf("\033[%sm%s\033[0m", codes[verdict], word);
    else
        fputs(word, stdout);
    printf("%*s", columns > length ? columns - length : 0, "");
}

/* Bytes of the character at `text`, and its columns; a control character is a blank. */
static size_t character(const char *text, int *columns)
{
    const size_t size = lab_json_character(text);

    *columns = 1;
    return size > 0 ? size : 1;
}

static void put_characters(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];

        putchar(c < 0x20 || c == 0x7f ? ' ' : c);
    }
}

/* The bytes of `text` that fit into `room` columns, broken at a blank if there is one. */
static size_t fitting(const char *text, size_t length, int room)
{
    size_t at = 0, blank = 0;
    int used = 0, columns;

    while (at < length && used < room) {
        if (text[at] == ' ')
            blank = at + 1;
        at += character(text + at, &columns);
        used += columns;
    }
    if (at >= length)
        return length;
    return blank > 0 ? blank : at;
}

/*
 * A paragraph whose first line begins in column `column`, where the caller stands; others
 * begin in column `indent` with `bar`.
 */
static void put_paragraph(const struct judge_look *look, const char *text, int column,
                          int indent, const char *bar)
{
    size_t length = strlen(text);

    for (int start = column; length > 0; start = indent + (int)strlen(bar)) {
        const size_t fits = fitting(text, length, look->width - start);

        put_characters(text, fits);
        putchar('\n');
        text += fits;
        length -= fits;
        if (length > 0)
            printf("%*s%s", indent, "", bar);
    }
}

/* A line of a note. */
static void put_part(const struct judge_look *look, int deep, const char *name,
                     const char *text)
{
    if (!*text)
        return;
    const int used = printf("%*s| %*s%s", INDENT, "", deep, "", name);
    put_paragraph(look, text, used, INDENT, deep ? "|     " : "|   ");
}

/* ---- claims ---------------------------------------------------------------- */

static int is_explained(const struct judge_look *look, enum lab_read_verdict verdict)
{
    return verdict == LAB_READ_TRUE || verdict == LAB_READ_LIMIT ? look->explain
           : verdict == LAB_READ_NOT_JUDGED                      ? look->all
                                                                 : 1;
}

/* `quoted`: the line has other claims. */
static void put_claim(const struct judge_look *look, const struct lab_reading *reading,
                      const struct lab_read_claim *claim, int quoted)
{
    char quote[sizeof claim->quote], numbers[100] = "";
    const char *const words = lab_read_verdict_words(claim->verdict);
    const int deep = quoted ? 2 : 0;

    if (quoted) {
        printf("%*s| ", INDENT, "");
        put_word(look, claim->verdict, words, 0);
        fputs(": ", stdout);
        if (*claim->claim && lab_marks_is_part(reading, claim))
            snprintf(quote, sizeof quote, "%s", claim->claim);
        else
            lab_text_plain(claim->quote, quote, sizeof quote);
        put_paragraph(look, quote, INDENT + 4 + (int)strlen(words), INDENT, "|     ");
    }
    put_part(look, deep, "", claim->evidence);
    if (!isnan(claim->computed) && !strstr(claim->evidence, "computed")) {
        const int used =
            snprintf(numbers, sizeof numbers, "computed %.6g", claim->computed);
        if (!isnan(claim->expected))
            snprintf(numbers + used, sizeof numbers - (size_t)used, ", claimed %.6g",
                     claim->expected);
    }
    put_part(look, deep, "", numbers);
    put_part(look, deep, "slip: ", claim->repair);
    put_part(look, deep, "right is: ", claim->exact);
    if (!look->explain)
        return;
    put_part(look, deep, "read as: ", claim->claim);
    put_part(look, deep, "with: ", claim->query);
    put_part(look, deep, "letters: ", claim->letters);
}

/* The next mark of a line: a verdict with its count.  0: there is none. */
static int next_mark(const int *count, int *verdict, char *word, size_t size)
{
    /* In the order of interest. */
    static const enum lab_read_verdict order[] = {LAB_READ_FALSE, LAB_READ_SLIP,
                                                  LAB_READ_LIMIT, LAB_READ_NOT_READ,
                                                  LAB_READ_TRUE,  LAB_READ_NOT_JUDGED};

    for (++*verdict; *verdict < VERDICTS; ++*verdict) {
        const enum lab_read_verdict which = order[*verdict];

        if (!count[which])
            continue;
        const char *const words = lab_read_verdict_words(which);
        if (count[which] > 1)
            snprintf(word, size, "%s x%d", words, count[which]);
        else
            snprintf(word, size, "%s", words);
        return 1 + (int)which;
    }
    return 0;
}

/* A line of the sheet in as many rows as it and its marks need. */
static void put_line(const struct judge_look *look, int line, const char *text,
                     size_t length, const int *count)
{
    char word[40];
    int verdict = -1, row = 0, mark;

    do {
        const size_t fits = fitting(text, length, look->width - INDENT);

        mark = next_mark(count, &verdict, word, sizeof word);
        if (row++ && !mark && !length)
            break;
        if (row == 1)
            printf("%*d%s", NUMBER - 1, line, mark || length ? " " : "");
        else
            printf("%*s", NUMBER, "");
        if (mark)
            put_word(look, (enum lab_read_verdict)(mark - 1), word, length ? MARGIN : 0);
        else if (length)
            printf("%*s", MARGIN, "");
        put_characters(text, fits);
        putchar('\n');
        text += fits;
        length -= fits;
    } while (length > 0 || mark);
}

static void put_sheet(const struct lab_marked *marked, const struct judge_look *look)
{
    const struct lab_reading *const reading = &marked->reading;
    int line = 1, next = 0, open = 0;

    for (size_t at = 0; at < marked->size; line++) {
        const char *const text = marked->source + at;
        const char *const end = memchr(text, '\n', marked->size - at);
        size_t length = end ? (size_t)(end - text) : marked->size - at;
        int count[VERDICTS] = {0}, marks = 0, ends = 0;

        at += length + 1;
        while (length > 0 && strchr(" \t\r", text[length - 1]))
            length--;
        for (; next < reading->claims && reading->claim[next].line <= line; next++)
            if (look->all || reading->claim[next].verdict != LAB_READ_NOT_JUDGED) {
                count[reading->claim[next].verdict]++;
                marks++;
            }
        put_line(look, line, text, length, count);
        /* Claims are explained below their last line; those before `open` were. */
        while (open < next && lab_marks_last_line(marked, &reading->claim[open]) < line)
            open++;
        for (int c = open; c < next; c++)
            ends += lab_marks_last_line(marked, &reading->claim[c]) == line;
        for (int c = open; c < next; c++)
            if (is_explained(look, reading->claim[c].verdict) &&
                lab_marks_last_line(marked, &reading->claim[c]) == line)
                put_claim(look, reading, &reading->claim[c], marks > 1 || ends > 1);
    }
}

/* ---- below the sheet ------------------------------------------------------- */

static void put_letters(const struct lab_reading *reading, const struct judge_look *look)
{
    if (reading->letters > 0)
        puts("\nletters:");
    for (int i = 0; i < reading->letters; i++) {
        const struct lab_read_letter *const letter = &reading->letter[i];
        char text[200];
        const int used = printf("  %-10s", letter->letter);

        snprintf(text, sizeof text, "%s, line %d", letter->meaning, letter->line);
        put_paragraph(look, text, used, used, "");
    }
}

static void put_conflicts(const struct lab_reading *reading,
                          const struct judge_look *look)
{
    if (reading->conflicts > 0)
        puts("\ncontradictions:");
    for (int i = 0; i < reading->conflicts; i++) {
        fputs("  ", stdout);
        put_paragraph(look, reading->conflict[i].words, 2, 4, "");
    }
}

static void put_points(const struct lab_reading *reading, const struct judge_look *look)
{
    if (reading->questions == 0)
        return;
    printf("\npoints: %.4g of %.4g\n", reading->points, reading->of);
    for (int i = 0; i < reading->questions; i++) {
        const struct lab_read_points *const one = &reading->question[i];
        char points[40];

        snprintf(points, sizeof points, "%.4g of %.4g", one->points, one->of);
        const int used = printf("  %-8s%-12s", one->question, points);
        if (*one->words)
            put_paragraph(look, one->words, used, used, "");
        else
            putchar('\n');
    }
}

void judge_print_coverage(const struct lab_reading *reading)
{
    printf("%d of %d formulas and %d of %d sentences read, %d claims judged\n",
           reading->formulas_read, reading->formulas, reading->sentences_read,
           reading->sentences, reading->judged);
}

void judge_print(const struct lab_marked *marked, const struct judge_look *look)
{
    printf("%s\n\n", marked->name);
    put_sheet(marked, look);
    put_letters(&marked->reading, look);
    put_conflicts(&marked->reading, look);
    put_points(&marked->reading, look);
    putchar('\n');
    judge_print_coverage(&marked->reading);
}

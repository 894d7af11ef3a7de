/* SPDX-License-Identifier: MIT */
#include "lab/setups/queries.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest coefficient: the theory is not exact for larger scores. */
static const double coefficient_max = 1000;

struct reader {
    const char *text, *at;
    char *why;
    unsigned long size;
};

static int fail(const struct reader *reader, const char *what)
{
    snprintf(reader->why, reader->size, "%s at '%.20s'", what,
             *reader->at ? reader->at : "the end");
    return -1;
}

static void skip_blanks(struct reader *reader)
{
    while (*reader->at == ' ')
        reader->at++;
}

/* Digits and at most one point; 1 where there is no number. */
static int read_factor(struct reader *reader, double *factor)
{
    const size_t digits = strspn(reader->at, "0123456789.");
    char number[32];
    char *end;

    *factor = 1;
    if (digits == 0)
        return 0;
    if (digits >= sizeof number)
        return fail(reader, "a number is too long");
    memcpy(number, reader->at, digits);
    number[digits] = '\0';
    *factor = strtod(number, &end);
    if (*end || end == number)
        return fail(reader, "no number");
    if (*factor > coefficient_max)
        return fail(reader, "a number above 1000");
    reader->at += digits;
    return 0;
}

/* One term; `first` may do without a sign. */
static int read_term(struct reader *reader, int first, double fixed[2], double scaled[2])
{
    double sign = 1, factor;

    skip_blanks(reader);
    if (*reader->at == '+' || *reader->at == '-')
        sign = *reader->at++ == '-' ? -1 : 1;
    else if (!first)
        return fail(reader, "no + or -");
    skip_blanks(reader);
    if (read_factor(reader, &factor))
        return -1;
    skip_blanks(reader);
    double *coefficients = fixed;
    if (*reader->at == 'C') {
        coefficients = scaled;
        reader->at++;
        skip_blanks(reader);
    }
    if (*reader->at != 'a' && *reader->at != 'b')
        return fail(reader, "no a or b");
    coefficients[*reader->at++ == 'b'] += sign * factor;
    skip_blanks(reader);
    return 0;
}

static int read_queries(struct reader *reader, struct lab_queries *queries)
{
    for (int h = 0; h < LAB_QUERIES; h++) {
        int first = 1;
        do {
            if (read_term(reader, first, queries->head[h].fixed, queries->head[h].scaled))
                return -1;
            first = 0;
        } while (*reader->at && *reader->at != ',');
        if (h + 1 < LAB_QUERIES && *reader->at++ != ',') {
            reader->at--;
            return fail(reader, "no second query after a comma");
        }
    }
    return *reader->at ? fail(reader, "more than two queries") : 0;
}

int lab_queries_parse(const char *text, struct lab_queries *queries, char *why,
                      unsigned long size)
{
    static const struct {
        const char *name, *meaning;
    } presets[] = {
        {"means", "Ca,Cb"}, {"plus-minus", "Ca+Cb,Ca-Cb"}, {"unscaled", "a,b"}};
    struct reader reader = {.text = text, .at = text, .why = why, .size = size};

    memset(queries, 0, sizeof *queries);
    for (unsigned p = 0; p < sizeof presets / sizeof presets[0]; p++)
        if (!strcmp(text, presets[p].name))
            reader.text = reader.at = presets[p].meaning;
    if (read_queries(&reader, queries))
        return -1;
    for (int h = 0; h < LAB_QUERIES; h++)
        for (int i = 0; i < 2; i++)
            queries->depends_on_scale |= queries->head[h].scaled[i] != 0;
    return 0;
}

attend_theory_query lab_query_at(const struct lab_queries *queries, int head, double C)
{
    const double *const fixed = queries->head[head].fixed;
    const double *const scaled = queries->head[head].scaled;

    return (attend_theory_query){.a = fixed[0] + C * scaled[0],
                                 .b = fixed[1] + C * scaled[1]};
}

int lab_weights_parse(const char *text, int most, double *w)
{
    double sum = 0;
    int count = 0;

    for (char *end; *text; text = *end ? end + 1 : end) {
        const double weight = strtod(text, &end);
        if (end == text || (*end && *end != ',') || !(weight > 0) || !isfinite(weight) ||
            count == most)
            return -1;
        w[count++] = weight;
        sum += weight;
    }
    for (int i = 0; i < count; i++)
        w[i] /= sum;
    return count;
}

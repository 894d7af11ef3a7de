/* SPDX-License-Identifier: MIT */
/* What stands ahead decides how a sign is read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/formula_parts.h"

void lab_survey_brackets(const struct lab_parser *parser, struct lab_survey *survey)
{
    struct lab_lexer copy = parser->lexer;
    struct lab_sign sign = parser->sign;
    int depth = 0;

    *survey = (struct lab_survey){0};
    copy.log = NULL;
    do {
        switch (sign.kind) {
        case LAB_SIGN_OPEN:
        case LAB_SIGN_BRACE:
        case LAB_SIGN_BEGIN:
            depth++;
            survey->environment |= sign.kind == LAB_SIGN_BEGIN;
            break;
        case LAB_SIGN_CLOSE:
        case LAB_SIGN_BRACE_END:
        case LAB_SIGN_FINISH:
            depth--;
            break;
        case LAB_SIGN_LETTER:
            survey->input |= !strcmp(sign.text, "X");
            survey->weights |= !strcmp(sign.text, "W");
            break;
        case LAB_SIGN_RELATION:
        case LAB_SIGN_ARROW:
        case LAB_SIGN_LINK:
        case LAB_SIGN_TEXT:
            survey->relation |= depth == 1;
            break;
        case LAB_SIGN_COMMA:
            survey->comma |= depth == 1;
            break;
        case LAB_SIGN_BAR:
            survey->bar |= depth == 1;
            break;
        default:
            break;
        }
        lab_sign_next(&copy, &sign);
    } while (depth > 0 && sign.kind != LAB_SIGN_END);
}

/* Whether a relation follows before the next separator. */
int lab_relation_follows(const struct lab_parser *parser)
{
    struct lab_lexer copy = parser->lexer;
    struct lab_sign sign;
    int depth = 0;

    copy.log = NULL;
    for (;;) {
        lab_sign_next(&copy, &sign);
        switch (sign.kind) {
        case LAB_SIGN_OPEN:
        case LAB_SIGN_BRACE:
        case LAB_SIGN_BEGIN:
            depth++;
            break;
        case LAB_SIGN_CLOSE:
        case LAB_SIGN_BRACE_END:
        case LAB_SIGN_FINISH:
            if (--depth < 0)
                return 0;
            break;
        case LAB_SIGN_RELATION:
            if (!depth)
                return 1;
            break;
        case LAB_SIGN_COMMA: /* "alpha_a, alpha_b = 1/2" has one */
        case LAB_SIGN_END:
        case LAB_SIGN_STOP:
        case LAB_SIGN_GAP:
        case LAB_SIGN_ROW:
        case LAB_SIGN_LINK:
            if (!depth || sign.kind == LAB_SIGN_END)
                return 0;
            break;
        default:
            break;
        }
    }
}

/* "x -> weight of j": a remark. */
int lab_text_follows(const struct lab_parser *parser)
{
    struct lab_sign next;
    lab_parser_peek(parser, &next);
    return next.kind == LAB_SIGN_TEXT;
}

/* Rows that are chains, as a system of equations has them. */
int lab_starts_system(const struct lab_parser *parser)
{
    struct lab_lexer copy = parser->lexer;
    struct lab_sign sign = parser->sign;
    int depth = 0;

    copy.log = NULL;
    if (sign.kind == LAB_SIGN_OPEN && strchr("{.", sign.text[0]))
        lab_sign_next(&copy, &sign);
    if (sign.kind != LAB_SIGN_BEGIN)
        return 0;
    for (;;) {
        lab_sign_next(&copy, &sign);
        switch (sign.kind) {
        case LAB_SIGN_OPEN:
        case LAB_SIGN_BRACE:
        case LAB_SIGN_BEGIN:
            depth++;
            break;
        case LAB_SIGN_CLOSE:
        case LAB_SIGN_BRACE_END:
            depth--;
            break;
        case LAB_SIGN_FINISH:
            if (depth-- <= 0)
                return 0;
            break;
        case LAB_SIGN_RELATION:
            if (depth <= 0)
                return 1;
            break;
        case LAB_SIGN_ROW:
        case LAB_SIGN_LINK:
            if (depth <= 0)
                return 0;
            break;
        case LAB_SIGN_CELL: { /* a &= b */
            struct lab_lexer further = copy;
            lab_sign_next(&further, &sign);
            if (depth <= 0 && sign.kind != LAB_SIGN_RELATION)
                return 0;
            break;
        }
        case LAB_SIGN_END:
            return 0;
        default:
            break;
        }
    }
}

/* "<a, b>" in ASCII: a comma, then the closing sign, and no other relation. */
int lab_starts_inner_product(const struct lab_parser *parser)
{
    struct lab_lexer copy = parser->lexer;
    struct lab_sign sign;
    int comma = 0;

    if (parser->sign.kind != LAB_SIGN_RELATION || parser->sign.code != LAB_REL_LESS)
        return 0;
    copy.log = NULL;
    for (int signs = 0; signs < 40; signs++) {
        lab_sign_next(&copy, &sign);
        if (sign.kind == LAB_SIGN_RELATION)
            return comma && sign.code == LAB_REL_MORE;
        comma |= sign.kind == LAB_SIGN_COMMA;
        if (sign.kind == LAB_SIGN_END || sign.kind == LAB_SIGN_STOP)
            return 0;
    }
    return 0;
}

int lab_holds_condition(const struct lab_parser *parser)
{
    struct lab_survey survey;
    if (parser->sign.kind != LAB_SIGN_OPEN || !strchr("([", parser->sign.text[0]))
        return 0;
    lab_survey_brackets(parser, &survey);
    return survey.relation;
}

int lab_subscript_has_relation(const struct lab_parser *parser)
{
    struct lab_lexer copy = parser->lexer;
    struct lab_sign sign;
    int depth = 1;

    copy.log = NULL;
    do {
        lab_sign_next(&copy, &sign);
        if (sign.kind == LAB_SIGN_RELATION && depth == 1)
            return 1;
        depth += sign.kind == LAB_SIGN_BRACE || sign.kind == LAB_SIGN_OPEN;
        depth -= sign.kind == LAB_SIGN_BRACE_END || sign.kind == LAB_SIGN_CLOSE;
    } while (depth && sign.kind != LAB_SIGN_END);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "lab/sheets/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int lab_scope_open(struct lab_scope *scope, const struct lab_claim *claim,
                   const struct lab_point *point)
{
    memset(scope, 0, sizeof *scope);
    scope->claim = claim;
    scope->point = point;
    if (claim->topic == LAB_TOPIC_BASIS)
        return lab_scope_open_basis(scope);
    if (claim->topic == LAB_TOPIC_TOKENS)
        return lab_scope_open_tokens(scope);
    return lab_scope_open_keys(scope);
}

void lab_scope_close(struct lab_scope *scope)
{
    free(scope->draws.draw);
    free(scope->room);
}

int lab_scope_bind(struct lab_scope *scope, size_t room, const struct lab_place *place,
                   int count)
{
    scope->room = calloc(1, room);
    if (!scope->room)
        return -1;
    for (int i = 0; i < count; i++) {
        const void *const x = (const char *)scope->room + place[i].offset;
        scope->letter[i] = (struct lab_letter){.name = place[i].name,
                                               .rows = place[i].rows,
                                               .columns = place[i].columns,
                                               .x = x};
        scope->needs[i] = place[i].needs;
    }
    scope->count = count;
    return 0;
}

unsigned lab_scope_needs(const struct lab_scope *scope,
                         const struct lab_expression *formula)
{
    unsigned needs = 0;
    for (int i = 0; i < scope->count; i++)
        if (lab_expression_uses(formula, scope->letter[i].name))
            needs |= scope->needs[i];
    return needs;
}

int lab_scope_fill(struct lab_scope *scope, unsigned needs, char *why, size_t size)
{
    if (scope->claim->topic == LAB_TOPIC_TOKENS)
        return lab_scope_fill_tokens(scope, needs, why, size);
    if (scope->claim->topic == LAB_TOPIC_KEYS)
        return lab_scope_fill_keys(scope, needs, why, size);
    return 0;
}

int lab_scope_value(const struct lab_scope *scope, const char *text,
                    struct lab_value *value, char *why, size_t size)
{
    struct lab_expression_error error;
    struct lab_expression formula;
    if (!lab_expression_parse(text, &formula, &error) &&
        !lab_expression_evaluate(&formula, scope->letter, scope->count, value, &error))
        return 0;
    snprintf(why, size, "%s: %s", text, error.text);
    return LAB_ILL_FORMED;
}

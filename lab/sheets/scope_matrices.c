/* SPDX-License-Identifier: MIT */
/* Letters of extraction and of permutation. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lab/sheets/scope.h"

/* ---- extraction ------------------------------------------------------------- */

enum { D = LAB_WORLD_D, M = LAB_WORLD_M, P = LAB_WORLD_P };

struct basis_room {
    struct lab_world_basis basis;
    double first[D][P];  /* the first columns of A */
    double select[M][P]; /* A times it: those columns */
    double weigh[P][P];  /* the coordinates of v_b on a diagonal */
    double long_c[D];    /* c, were it in R^d */
    double identity[D][D], small[M][M];
};

#define BASIS(name, rows, columns, field)                                                \
    LAB_LETTER(basis_room, name, LAB_NEEDS_WORLD, rows, columns, field)

static const struct lab_place basis_letters[] = {
    BASIS("A", D, M, basis.a),    BASIS("B", D, P, basis.b),
    BASIS("c", M, 1, basis.c),    BASIS("e", P, 1, basis.e),
    BASIS("v_a", D, 1, basis.va), BASIS("v_b", D, 1, basis.vb),
    BASIS("A_2", D, P, first),    BASIS("E", M, P, select),
    BASIS("diag_e", P, P, weigh), BASIS("c_d", D, 1, long_c),
    BASIS("I", D, D, identity),   BASIS("I_m", M, M, small),
};

int lab_scope_open_basis(struct lab_scope *scope)
{
    if (lab_scope_bind(scope, sizeof(struct basis_room), basis_letters,
                       sizeof basis_letters / sizeof basis_letters[0]))
        return -1;
    struct basis_room *const room = scope->room;
    lab_world_basis(scope->point->exercise, &room->basis);
    memcpy(room->long_c, room->basis.c, sizeof room->basis.c);
    for (int i = 0; i < D; i++) {
        room->identity[i][i] = 1;
        for (int j = 0; j < P; j++)
            room->first[i][j] = room->basis.a[i][j];
    }
    for (int i = 0; i < M; i++)
        room->small[i][i] = 1;
    for (int j = 0; j < P; j++) {
        room->select[j][j] = 1;
        room->weigh[j][j] = room->basis.e[j];
    }
    return 0;
}

/* ---- permutation -------------------------------------------------------------- */

enum { T = LAB_WORLD_TOKENS, F = LAB_WORLD_FEATURES };

struct token_room {
    struct lab_world_tokens sequence;
    double moved[T * F]; /* the tokens of X in another order */
    struct lab_world_self self, of_input;
};

#define TOKENS(name, needs, rows, columns, field)                                        \
    LAB_LETTER(token_room, name, needs, rows, columns, field)

/* Where rows are tokens. */
static const struct lab_place token_letters[] = {
    TOKENS("X", LAB_NEEDS_WORLD, T, F, sequence.x),
    TOKENS("X_moved", LAB_NEEDS_WORLD, T, F, moved),
    TOKENS("Att", LAB_NEEDS_SELF, T, F, self.out),
    TOKENS("Att_moved", LAB_NEEDS_SELF, T, F, of_input.out),
    TOKENS("Pi", LAB_NEEDS_WORLD, T, T, sequence.permutation),
    TOKENS("W", LAB_NEEDS_WORLD, F, F, sequence.w),
    TOKENS("S", LAB_NEEDS_SELF, T, T, self.scores),
    TOKENS("S_moved", LAB_NEEDS_SELF, T, T, of_input.scores),
    TOKENS("P", LAB_NEEDS_SELF, T, T, self.weights),
    TOKENS("P_moved", LAB_NEEDS_SELF, T, T, of_input.weights),
};

int lab_scope_open_tokens(struct lab_scope *scope)
{
    const int columns = scope->point->exercise->columns;
    if (lab_scope_bind(scope, sizeof(struct token_room), token_letters,
                       sizeof token_letters / sizeof token_letters[0]))
        return -1;
    for (int i = 0; columns && i < scope->count; i++)
        if (scope->letter[i].rows == T && scope->letter[i].columns == F) {
            scope->letter[i].rows = F;
            scope->letter[i].columns = T;
        }
    struct token_room *const room = scope->room;
    lab_world_tokens(scope->point->exercise, &room->sequence);
    const double *const permutation = room->sequence.permutation;
    const double *const x = room->sequence.x;
    for (int to = 0; to < T; to++)
        for (int from = 0; from < T; from++)
            for (int f = 0; f < F && permutation[to * T + from] > 0; f++)
                if (columns)
                    room->moved[f * T + from] = x[f * T + to];
                else
                    room->moved[to * F + f] = x[from * F + f];
    return 0;
}

int lab_scope_fill_tokens(struct lab_scope *scope, unsigned needs)
{
    const struct lab_exercise *const exercise = scope->point->exercise;
    const struct lab_given *const given = &scope->parsed->input;
    struct token_room *const room = scope->room;
    const struct lab_letter *const x = &scope->letter[0];
    struct lab_value input;

    if (!given->text)
        return 0;
    if (lab_scope_value(scope, given->text, &given->formula, &input))
        return LAB_ILL_FORMED;
    if (input.rows != x->rows || input.columns != x->columns) {
        snprintf(scope->why, LAB_WHY, "%s is %d x %d, X is %d x %d", given->text,
                 input.rows, input.columns, x->rows, x->columns);
        return LAB_ILL_FORMED;
    }
    if (!(needs & LAB_NEEDS_SELF))
        return 0;
    return lab_world_self(exercise, &room->sequence, room->sequence.x, &room->self) ||
                   lab_world_self(exercise, &room->sequence, input.x, &room->of_input)
               ? -1
               : 0;
}

/* SPDX-License-Identifier: MIT */
/* Letters of a side, by their meaning and the question. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/side.h"

/* 'a', 'b', 'i' for another key, or 0. */
char lab_write_key(const struct lab_writer *w, const char *index)
{
    for (int i = w->bound - 1; i >= 0; i--)
        if (!strcmp(w->bind[i].index, index))
            return w->bind[i].value;
    for (int i = 0; i < 2; i++)
        if (*w->t->bound[i].index && !strcmp(w->t->bound[i].index, index))
            return w->t->bound[i].value;
    if (!strcmp(index, "a") || !strcmp(index, "b"))
        return index[0];
    if (w->t->settled->subject == LAB_SUBJECT_COPY && !strcmp(index, w->t->settled->lead))
        return 'a';
    return islower((unsigned char)index[0]) && !index[1] ? 'i' : 0;
}

int lab_is_head(const char *index) { return !strcmp(index, "1") || !strcmp(index, "2"); }

/* Head 1 or 2 of a letter with a key's index; 0: it is not clear. */
int lab_write_head(const struct lab_writer *w, const struct lab_name *name, char key)
{
    const struct lab_settled *const settled = w->t->settled;
    if (!lab_takes_heads(settled))
        return 1;
    for (int i = 0; i < name->indices; i++)
        if (lab_is_head(name->index[i]))
            return name->index[i][0] - '0';
    if (settled->head)
        return settled->head;
    /* The head whose query has this key alone. */
    for (int h = 1; h <= 2; h++) {
        const int a =
            strstr(settled->query[h], "mu_a") || strstr(settled->query[h], "k_a");
        const int b =
            strstr(settled->query[h], "mu_b") || strstr(settled->query[h], "k_b");
        if (a != b && ((key == 'a' && a) || (key == 'b' && b)))
            return h;
    }
    return 0;
}

/* The index that names a key, and not a head. */
const char *lab_key_index(const struct lab_writer *w, const struct lab_name *name)
{
    const int heads = lab_takes_heads(w->t->settled);
    for (int i = name->indices - 1; i >= 0; i--)
        if (!(heads && lab_is_head(name->index[i])))
            return name->index[i];
    return NULL;
}

int lab_write_use_head(struct lab_writer *w, int head)
{
    if (!head)
        return lab_write_fail(w, "which head it belongs to is not said");
    w->said->uses |= head == 2 ? LAB_USES_SECOND : LAB_USES_FIRST;
    return 0;
}

static int write_query(struct lab_writer *w, int head, enum lab_level level)
{
    const char *const query = w->t->settled->query[head];
    if (!*query)
        return lab_write_fail(w, "no query is given");
    w->said->uses |= LAB_USES_SCALE;
    return lab_write(w, level > LAB_IN_SUM ? "(%s)" : "%s", query);
}

static int formula_has(const struct lab_writer *w, const char *const *names, size_t count)
{
    for (int i = 0; i < w->t->formula->nodes; i++) {
        const struct lab_node *const n = lab_side_node(w->t, i);
        struct lab_name name;
        if (n->kind != LAB_NODE_LETTER && n->kind != LAB_NODE_CALL)
            continue;
        lab_name_split(n->name, &name);
        for (size_t k = 0; k < count; k++)
            if (!strcmp(name.base, names[k]))
                return 1;
    }
    return 0;
}

static int write_weight(struct lab_writer *w, const struct lab_name *name, char key,
                        enum lab_level level)
{
    if (lab_write_use_head(w, lab_write_head(w, name, key)))
        return -1;
    if (key != 'i')
        return lab_write(w, "alpha_%c", key);
    static const char *const factors[] = {"e", "exp"};
    const enum lab_subject subject = w->t->settled->subject;
    if (subject == LAB_SUBJECT_AVERAGE ||
        lab_subject_shares(subject, LAB_SUBJECT_NOISE) ||
        (subject == LAB_SUBJECT_COPY && formula_has(w, factors, 2)))
        return lab_write(w, "alpha_o");
    w->said->uses |= LAB_USES_REST;
    if (w->t->settled->subject == LAB_SUBJECT_COPY)
        return lab_write(w, level > LAB_IN_TERM ? "(alpha_b + rest)" : "alpha_b + rest");
    if (lab_takes_heads(w->t->settled)) /* all but the head's own key */
        return lab_write(w, level > LAB_IN_TERM ? "(1 - alpha_%c)" : "1 - alpha_%c",
                         w->said->uses & LAB_USES_SECOND ? 'b' : 'a');
    return lab_write(w, "rest");
}

static int write_scale(struct lab_writer *w, const char *base)
{
    w->said->uses |= LAB_USES_SCALE;
    return lab_write(w, "%s", strcmp(base, "beta") ? "C" : "beta");
}

static int write_output(struct lab_writer *w, const struct lab_name *name)
{
    if (!name->indices) {
        w->said->uses |= LAB_USES_OUTPUT;
        return lab_write(w, "c");
    }
    if (!lab_is_head(name->index[0]) || !lab_takes_heads(w->t->settled))
        return lab_write_fail(w, "%s_%s is no output here", name->base, name->index[0]);
    w->said->uses |= LAB_USES_HEADS;
    return lab_write(w, "c_%s", name->index[0]);
}

static int write_length(struct lab_writer *w, const struct lab_name *name)
{
    const char *const index = lab_key_index(w, name);
    const char key = index ? lab_write_key(w, index) : 'a';
    w->said->uses |= LAB_USES_LENGTH;
    if (key != 'a' && key != 'b')
        return lab_write_fail(w, "the length of another key");
    return lab_write(w, key == 'a' ? "gamma" : "eps_b");
}

static int write_keyed(struct lab_writer *w, enum lab_role role,
                       const struct lab_name *name, enum lab_level level)
{
    const char *const index = lab_key_index(w, name);
    const char key = index ? lab_write_key(w, index) : 0;
    if (!key)
        return lab_write_fail(w, "%s has no index of a key", name->base);
    switch (role) {
    case LAB_ROLE_KEY:
        w->said->uses |= LAB_USES_KEYS;
        return lab_write(w, "k_%c", key);
    case LAB_ROLE_VALUE:
        return lab_write(w, "v_%c", key);
    case LAB_ROLE_MEAN:
        return lab_write(w, "mu_%c", key);
    case LAB_ROLE_COVARIANCE:
        return lab_write(w, "Sigma_%c", key);
    case LAB_ROLE_SCORE:
        if (lab_write_use_head(w, lab_write_head(w, name, key)))
            return -1;
        return lab_write(w, "s_%c", key);
    default:
        return write_weight(w, name, key, level);
    }
}

/* Letters of the extraction. */
static int write_basis(struct lab_writer *w, const struct lab_node *node,
                       const struct lab_name *name, enum lab_level level)
{
    const char *const base = name->base;
    const char *const index = name->indices ? name->index[0] : "";
    const int of_b = node->mark == '\'' || !strcmp(base, "d") || !strcmp(base, "e");
    for (int b = 0; b < 2 && !*index; b++)
        if (*w->t->settled->coordinates[b] &&
            !strcmp(base, w->t->settled->coordinates[b]))
            return lab_write(w, b ? "e" : "c");
    if (!strcmp(base, "I") && *index)
        return lab_write(w, "I");
    if (!strcmp(base, "v") || !strcmp(base, "V") || !strcmp(base, "nu")) {
        if (!strcmp(index, "a") || !strcmp(index, "b"))
            return lab_write(w, "v_%s", index);
        return lab_write_fail(w, "%s is no vector of the question", node->name);
    }
    /* "A_c": a scan's A c. */
    if ((!strcmp(base, "A") && !strcmp(index, "c")) ||
        (!strcmp(base, "B") && !strcmp(index, "d")) ||
        (!strcmp(base, "B") && !strcmp(index, "c")))
        return lab_write(w, level > LAB_IN_TERM ? "(%s)" : "%s",
                         *base == 'A' ? "A c" : "B e");
    if (!strcmp(base, "M") && (!*index || !strcmp(index, "s"))) {
        if (!*w->t->settled->matrix)
            return lab_write_fail(w, "M is not given");
        const int open = strchr(w->t->settled->matrix, ' ') && level > LAB_IN_TERM;
        return lab_write(w, open ? "(%s)" : "%s", w->t->settled->matrix) ||
                       (*index && lab_write(w, " (v_a + v_b)"))
                   ? -1
                   : 0;
    }
    if ((!strcmp(base, "a") || !strcmp(base, "b")) && index[0] && !index[1]) {
        /* Any column; j is another one than i. */
        const int column = isdigit((unsigned char)*index) ? *index - '0'
                           : *index == 'j'                ? 2
                                                          : 1;
        if (column < 1 || column > (*base == 'a' ? 3 : 2))
            return lab_write_fail(w, "%s is no column", node->name);
        return lab_write(w, "%c_%d", *base, column);
    }
    if (*index)
        return lab_write_fail(w, "%s alone is not judged", node->name);
    if (!strcmp(base, "A") || !strcmp(base, "B") || !strcmp(base, "I"))
        return lab_write(w, "%s", base);
    if (!strcmp(base, "c") || of_b)
        return lab_write(w, "%s", of_b ? "e" : "c");
    if (!strcmp(base, "s") || !strcmp(base, "S"))
        return lab_write(w, level > LAB_IN_TERM ? "(v_a + v_b)" : "v_a + v_b");
    return lab_write_fail(w, "%s is unknown", node->name);
}

/* ---- letters of the permutation ---- */

/* X', X_perm, T where T = P X. */
static int is_moved(const struct lab_writer *w, const struct lab_node *node,
                    const struct lab_name *name)
{
    static const char *const indices[] = {"perm", "P", "new", "Pi", "pi", "p"};
    if (node->mark || !strcmp(name->base, w->t->settled->moved))
        return 1;
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++)
        if (name->indices == 1 && !strcmp(name->index[0], indices[i]))
            return 1;
    return 0;
}

/* The scores of X, or of the permuted input, divided where the formula has a root. */
static int write_scores(struct lab_writer *w, int moved, enum lab_level level)
{
    static const char *const roots[] = {"sqrt"};
    const char *const x = moved ? "X_moved" : "X";
    const int open =
        level > LAB_IN_PRODUCT || (level > LAB_IN_SUM && formula_has(w, roots, 1));
    return lab_write(w, "%s%s W_Q (%s W_K)^T%s%s", open ? "(" : "", x, x,
                     formula_has(w, roots, 1) ? "/sqrt(d)" : "", open ? ")" : "");
}

/*
 * Outputs and weights are the engine's, but beside their own factors: "Z' = A' V'" has
 * the scores as the formula writes them.
 */
static int write_output_of(struct lab_writer *w, int moved, int weights,
                           enum lab_level level)
{
    static const char *const factors[] = {"V", "K", "Q", "S", "W", "softmax", "A"};
    const int open = level > LAB_IN_PRODUCT;
    if (!weights && !formula_has(w, factors, 7)) {
        w->said->uses |= moved ? LAB_USES_INPUT : 0;
        return lab_write(w, moved ? "Att_moved" : "Att");
    }
    if (lab_write(w, "%ssoftmax(", open && !weights ? "(" : "") ||
        write_scores(w, moved, LAB_IN_SUM) || lab_write(w, ")"))
        return -1;
    return weights ? 0
                   : lab_write(w, " %s W_V%s", moved ? "X_moved" : "X", open ? ")" : "");
}

static int write_token(struct lab_writer *w, const struct lab_node *node,
                       const struct lab_name *name, enum lab_level level)
{
    const enum lab_role role = lab_role_of(w->t->letters, name->base, name->indices > 0);
    const char *const base = name->base, *const index = name->indices ? *name->index : "";
    const int moved = is_moved(w, node, name), open = level > LAB_IN_PRODUCT;
    if ((role == LAB_ROLE_PERMUTATION || !strcmp(base, "P")) && !moved && !name->indices)
        return lab_write(w, "Pi");
    if (!strcmp(base, "W") && !moved)
        return lab_write(
            w, strlen(index) == 1 && strchr("QKV", *index) ? "W_%s" : "W%.0s", index);
    if (!strcmp(base, "Phi") && !name->indices && !moved)
        return lab_write(w, "Pos");
    if (!strcmp(base, "d") && !moved) /* d_k as well */
        return lab_write(w, "d");
    if (name->indices && !moved)
        return lab_write_fail(w, "%s is unknown", node->name);
    if (role == LAB_ROLE_INPUT || !strcmp(base, "X") ||
        !strcmp(base, w->t->settled->moved))
        return lab_write(w, moved ? "X_moved" : "X");
    if (!strcmp(base, "I") && !moved)
        return lab_write(w, "I");
    if (strlen(base) == 1 && strchr("QKV", *base))
        return lab_write(w, "%s%s W_%s%s", open ? "(" : "", moved ? "X_moved" : "X", base,
                         open ? ")" : "");
    if (!strcmp(base, "S"))
        return write_scores(w, moved, level);
    if (!strcmp(base, "A"))
        return write_output_of(w, moved, 1, level);
    if (strlen(base) == 1 && strchr("ZYOH", *base))
        return write_output_of(w, moved, 0, level);
    return lab_write_fail(w, "%s is unknown", node->name);
}

int lab_write_letter(struct lab_writer *w, const struct lab_node *node,
                     enum lab_level level)
{
    struct lab_name name;
    lab_name_split(node->name, &name);
    lab_write_note(w, node->name);
    if (w->t->settled->subject == LAB_SUBJECT_EXTRACT)
        return write_basis(w, node, &name, level);
    if (lab_on_tokens(w->t->settled))
        return write_token(w, node, &name, level);
    if (!strcmp(name.base, "I") && !name.indices)
        return lab_write(w, "I");
    if (!strcmp(name.base, "pi") || (!strcmp(name.base, "e") && !name.indices))
        return lab_write(w, "%s", name.base);
    if (!strcmp(name.base, "infty") || !strcmp(name.base, "inf"))
        return lab_write(w, "inf");
    const enum lab_role role = lab_role_of(w->t->letters, name.base, name.indices > 0);
    switch (role) {
    case LAB_ROLE_KEY:
    case LAB_ROLE_VALUE:
    case LAB_ROLE_MEAN:
    case LAB_ROLE_COVARIANCE:
    case LAB_ROLE_SCORE:
    case LAB_ROLE_WEIGHT:
        return write_keyed(w, role, &name, level);
    case LAB_ROLE_QUERY:
        if (name.indices && !lab_is_head(name.index[0]))
            return lab_write_fail(w, "%s is no query of the question", node->name);
        return write_query(w, name.indices ? name.index[0][0] - '0' : 0, level);
    case LAB_ROLE_OUTPUT:
        if (w->output || (w->t->settled->subject == LAB_SUBJECT_COPY && !name.indices))
            return write_output(w, &name);
        return write_scale(w, name.base);
    case LAB_ROLE_SCALE:
        return write_scale(w, name.base);
    case LAB_ROLE_VARIANCE:
        return lab_write(w, "alpha");
    case LAB_ROLE_LENGTH:
        return write_length(w, &name);
    case LAB_ROLE_KEYS:
        return lab_write(w, "n");
    case LAB_ROLE_BASIS:
        return lab_write(w, "m");
    case LAB_ROLE_FEATURES:
        return lab_write(w, "d");
    default:
        return lab_write_fail(w, "%s is unknown", node->name);
    }
}

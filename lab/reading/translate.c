/* SPDX-License-Identifier: MIT */
/* A side of a formula, from its tree into the language of lab/language. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lab/reading/understanding.h"

/* Where a piece stands: what stands there without parentheses. */
enum level { IN_SUM, IN_TERM, IN_PRODUCT, AT_BASE };

enum { BOUND = 4, FACTORS = 32, DEPTH = 40 };

struct writer {
    const struct lab_translation *t;
    struct lab_said *said;
    size_t used;
    int output; /* letters that may be scale or output are outputs */
    int depth;
    int bound; /* indices of sums, and their values in the term that is written */
    struct {
        char index[16], value;
    } bind[BOUND];
};

static int write_node(struct writer *w, int node, enum level level);

static const struct lab_node *node_of(const struct lab_translation *t, int node)
{
    return &t->formula->node[node];
}

__attribute__((format(printf, 2, 3))) static int add(struct writer *w, const char *format,
                                                     ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(w->said->text + w->used, LAB_SIDE - w->used, format, arguments);
    va_end(arguments);
    if (length < 0 || w->used + (size_t)length >= LAB_SIDE) {
        snprintf(w->said->why, sizeof w->said->why, "too long");
        return -1;
    }
    w->used += (size_t)length;
    return 0;
}

__attribute__((format(printf, 2, 3))) static int fail(struct writer *w,
                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!*w->said->why)
        vsnprintf(w->said->why, sizeof w->said->why, format, arguments);
    va_end(arguments);
    return -1;
}

static void note_letter(struct writer *w, const char *name)
{
    for (int i = 0; i < w->said->letter_count; i++)
        if (!strcmp(w->said->letters[i], name))
            return;
    if (w->said->letter_count < 8)
        snprintf(w->said->letters[w->said->letter_count++], 24, "%.23s", name);
}

/* ---- letters -------------------------------------------------------------------- */

/* 'a', 'b', 'i' for another key, or 0. */
static char key_of(const struct writer *w, const char *index)
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

static int is_head(const char *index)
{
    return !strcmp(index, "1") || !strcmp(index, "2");
}

static int takes_heads(const struct lab_settled *settled)
{
    return settled->subject == LAB_SUBJECT_HEADS || settled->subject == LAB_SUBJECT_BOTH;
}

/* Head 1 or 2 of a letter with a key's index; 0: it is not clear. */
static int head_of(const struct writer *w, const struct lab_name *name, char key)
{
    const struct lab_settled *const settled = w->t->settled;
    if (!takes_heads(settled))
        return 1;
    for (int i = 0; i < name->indices; i++)
        if (is_head(name->index[i]))
            return name->index[i][0] - '0';
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
static const char *key_index(const struct writer *w, const struct lab_name *name)
{
    const int heads = takes_heads(w->t->settled);
    for (int i = name->indices - 1; i >= 0; i--)
        if (!(heads && is_head(name->index[i])))
            return name->index[i];
    return NULL;
}

static int use_head(struct writer *w, int head)
{
    if (!head)
        return fail(w, "which head it belongs to is not said");
    w->said->uses |= head == 2 ? LAB_USES_SECOND : LAB_USES_FIRST;
    return 0;
}

static int write_query(struct writer *w, int head, enum level level)
{
    const char *const query = w->t->settled->query[head];
    if (!*query)
        return fail(w, "no query is given");
    w->said->uses |= LAB_USES_SCALE;
    return add(w, level > IN_SUM ? "(%s)" : "%s", query);
}

static int write_weight(struct writer *w, const struct lab_name *name, char key,
                        enum level level)
{
    if (use_head(w, head_of(w, name, key)))
        return -1;
    if (key != 'i' && w->t->settled->gamma)
        return add(w, "v_%c^T %s", key, w->t->settled->gamma < 0 ? "c_short" : "c_long");
    if (key != 'i')
        return add(w, "alpha_%c", key);
    w->said->uses |= LAB_USES_REST;
    if (w->t->settled->subject == LAB_SUBJECT_COPY)
        return add(w, level > IN_TERM ? "(alpha_b + rest)" : "alpha_b + rest");
    if (takes_heads(w->t->settled)) /* all but the head's own key */
        return add(w, level > IN_TERM ? "(1 - alpha_%c)" : "1 - alpha_%c",
                   w->said->uses & LAB_USES_SECOND ? 'b' : 'a');
    return add(w, "rest");
}

static int write_scale(struct writer *w, const char *base)
{
    w->said->uses |= LAB_USES_SCALE;
    return add(w, "%s", strcmp(base, "beta") ? "C" : "beta");
}

static int write_output(struct writer *w, const struct lab_name *name)
{
    if (!name->indices) {
        w->said->uses |= LAB_USES_OUTPUT;
        if (w->t->settled->gamma)
            return add(w, w->t->settled->gamma < 0 ? "c_short" : "c_long");
        return add(w, "c");
    }
    if (!is_head(name->index[0]) || !takes_heads(w->t->settled))
        return fail(w, "%s_%s is no output here", name->base, name->index[0]);
    w->said->uses |= LAB_USES_HEADS;
    return add(w, "c_%s", name->index[0]);
}

static int write_length(struct writer *w, const struct lab_name *name)
{
    const char *const index = key_index(w, name);
    const char key = index ? key_of(w, index) : 'a';
    w->said->uses |= LAB_USES_LENGTH;
    if (key != 'a' && key != 'b')
        return fail(w, "the length of another key");
    return add(w, key == 'a' ? "gamma" : "eps_b");
}

static int write_keyed(struct writer *w, enum lab_role role, const struct lab_name *name,
                       enum level level)
{
    const char *const index = key_index(w, name);
    const char key = index ? key_of(w, index) : 0;
    if (!key)
        return fail(w, "%s has no index of a key", name->base);
    switch (role) {
    case LAB_ROLE_KEY:
        w->said->uses |= LAB_USES_KEYS;
        return add(w, "k_%c", key);
    case LAB_ROLE_VALUE:
        return add(w, "v_%c", key);
    case LAB_ROLE_MEAN:
        return add(w, "mu_%c", key);
    case LAB_ROLE_COVARIANCE:
        return add(w, "Sigma_%c", key);
    case LAB_ROLE_SCORE:
        if (use_head(w, head_of(w, name, key)))
            return -1;
        return add(w, "s_%c", key);
    default:
        return write_weight(w, name, key, level);
    }
}

/* Letters of the extraction. */
static int write_basis(struct writer *w, const struct lab_node *node,
                       const struct lab_name *name, enum level level)
{
    const char *const base = name->base;
    const char *const index = name->indices ? name->index[0] : "";
    const int of_b = node->mark == '\'' || !strcmp(base, "d") || !strcmp(base, "e");
    if (!strcmp(base, "v") || !strcmp(base, "V")) {
        if (!strcmp(index, "a") || !strcmp(index, "b"))
            return add(w, "v_%s", index);
        return fail(w, "%s is no vector of the question", node->name);
    }
    /* "A_c": a scan's A c. */
    if ((!strcmp(base, "A") && !strcmp(index, "c")) ||
        (!strcmp(base, "B") && !strcmp(index, "d")) ||
        (!strcmp(base, "B") && !strcmp(index, "c")))
        return add(w, level > IN_TERM ? "(%s)" : "%s", *base == 'A' ? "A c" : "B e");
    if (!strcmp(base, "M") && (!*index || !strcmp(index, "s"))) {
        if (!*w->t->settled->matrix)
            return fail(w, "M is not given");
        const int open = strchr(w->t->settled->matrix, ' ') && level > IN_TERM;
        return add(w, open ? "(%s)" : "%s", w->t->settled->matrix) ||
                       (*index && add(w, " (v_a + v_b)"))
                   ? -1
                   : 0;
    }
    if (*index)
        return fail(w, "%s alone is not judged", node->name);
    if (!strcmp(base, "A") || !strcmp(base, "B") || !strcmp(base, "I"))
        return add(w, "%s", base);
    if (!strcmp(base, "c") || of_b)
        return add(w, "%s", of_b ? "e" : "c");
    if (!strcmp(base, "s") || !strcmp(base, "S"))
        return add(w, level > IN_TERM ? "(v_a + v_b)" : "v_a + v_b");
    return fail(w, "%s is unknown", node->name);
}

/* Letters of the permutation. */
static int write_token(struct writer *w, const struct lab_node *node,
                       const struct lab_name *name)
{
    const enum lab_role role = lab_role_of(w->t->letters, name->base, name->indices > 0);
    if ((role == LAB_ROLE_PERMUTATION || !strcmp(name->base, "P")) && !name->indices)
        return add(w, "Pi");
    if (role == LAB_ROLE_INPUT && !name->indices)
        return add(w, "X");
    if (!strcmp(name->base, "W"))
        return add(w, "W");
    return fail(w, "%s is unknown", node->name);
}

static int write_letter(struct writer *w, const struct lab_node *node, enum level level)
{
    struct lab_name name;
    lab_name_split(node->name, &name);
    note_letter(w, node->name);
    if (w->t->settled->subject == LAB_SUBJECT_EXTRACT)
        return write_basis(w, node, &name, level);
    if (w->t->settled->subject == LAB_SUBJECT_PERMUTE)
        return write_token(w, node, &name);
    if (!strcmp(name.base, "I") && !name.indices)
        return add(w, "I");
    if (!strcmp(name.base, "pi") || (!strcmp(name.base, "e") && !name.indices))
        return add(w, "%s", name.base);
    if (!strcmp(name.base, "infty") || !strcmp(name.base, "inf"))
        return add(w, "inf");
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
        if (name.indices && !is_head(name.index[0]))
            return fail(w, "%s is no query of the question", node->name);
        return write_query(w, name.indices ? name.index[0][0] - '0' : 0, level);
    case LAB_ROLE_OUTPUT:
        if (w->output || (w->t->settled->subject == LAB_SUBJECT_COPY && !name.indices))
            return write_output(w, &name);
        return write_scale(w, name.base);
    case LAB_ROLE_SCALE:
        return write_scale(w, name.base);
    case LAB_ROLE_VARIANCE:
        return add(w, "alpha");
    case LAB_ROLE_LENGTH:
        return write_length(w, &name);
    case LAB_ROLE_KEYS:
        return add(w, "n");
    case LAB_ROLE_BASIS:
        return add(w, "m");
    case LAB_ROLE_FEATURES:
        return add(w, "d");
    default:
        return fail(w, "%s is unknown", node->name);
    }
}

/* ---- products ------------------------------------------------------------------- */

static int collect(const struct lab_translation *t, int node, int *factor, int count)
{
    const struct lab_node *const n = node_of(t, node);
    if (n->kind != LAB_NODE_PRODUCT) {
        if (count < FACTORS)
            factor[count] = node;
        return count + 1;
    }
    for (int c = n->child; c >= 0 && count <= FACTORS; c = node_of(t, c)->next)
        count = collect(t, c, factor, count);
    return count;
}

/* The letter of a factor, transposed or not; 0: it has another role. */
static int has_role(const struct writer *w, int node, enum lab_role role,
                    struct lab_name *name)
{
    const struct lab_node *n = node_of(w->t, node);
    if (n->kind == LAB_NODE_TRANSPOSE)
        n = node_of(w->t, n->child);
    if (n->kind != LAB_NODE_LETTER)
        return 0;
    lab_name_split(n->name, name);
    return lab_role_of(w->t->letters, name->base, name->indices > 0) == role;
}

/* k_a^T q: 1 if it was written, 0 if it is none, or -1. */
static int write_score(struct writer *w, int left, int right)
{
    struct lab_name key, query;
    const int first = has_role(w, left, LAB_ROLE_KEY, &key) &&
                      has_role(w, right, LAB_ROLE_QUERY, &query);
    if (!first && !(has_role(w, left, LAB_ROLE_QUERY, &query) &&
                    has_role(w, right, LAB_ROLE_KEY, &key)))
        return 0;
    const char *const index = key_index(w, &key);
    const char which = index ? key_of(w, index) : 0;
    const int head = query.indices && is_head(query.index[0]) ? query.index[0][0] - '0'
                                                              : head_of(w, &key, which);
    if (!which)
        return fail(w, "a key without an index");
    note_letter(w, key.base);
    if (use_head(w, head))
        return -1;
    return add(w, "s_%c", which) ? -1 : 1;
}

static int starts_with_number(const char *text)
{
    return isdigit((unsigned char)*text) || *text == '.' || *text == '-';
}

static int write_product(struct writer *w, int node, enum level level)
{
    int factor[FACTORS];
    const int count = collect(w->t, node, factor, 0);
    if (count > FACTORS)
        return fail(w, "too many factors");
    if (level == AT_BASE && add(w, "("))
        return -1;
    for (int i = 0; i < count; i++) {
        const size_t before = w->used + (i > 0);
        if (i && add(w, " "))
            return -1;
        const int score = i + 1 < count ? write_score(w, factor[i], factor[i + 1]) : 0;
        if (score < 0 || (!score && write_node(w, factor[i], IN_PRODUCT)))
            return -1;
        i += score;
        if (before > 0 && before < LAB_SIDE && i - score > 0 &&
            starts_with_number(w->said->text + before))
            w->said->text[before - 1] = '*';
    }
    return level == AT_BASE ? add(w, ")") : 0;
}

/* ---- sums over keys --------------------------------------------------------------- */

enum over { OVER_ALL, OVER_OTHERS, OVER_NOT_LEAD, OVER_BASIS, OVER_UNKNOWN };

/* The index and the set of a sum, from its bounds. */
static enum over sum_over(const struct writer *w, int series, char index[16])
{
    const struct lab_translation *const t = w->t;
    const int body = node_of(t, series)->child;
    enum over over = OVER_ALL;
    int excluded = 0, mentions_a = 0, mentions_b = 0, lead = 0;
    snprintf(index, 16, "i");
    if (body < 0)
        return OVER_UNKNOWN;
    for (int b = node_of(t, body)->next; b >= 0; b = node_of(t, b)->next) {
        const struct lab_node *const bound = node_of(t, b);
        int first = 1;
        int stack[64], depth = 0;
        if (bound->kind == LAB_NODE_LETTER && !strcmp(bound->name, "m") &&
            lab_role_of(t->letters, "m", 0) == LAB_ROLE_BASIS)
            over = OVER_BASIS;
        stack[depth++] = b;
        /* All letters below, in order. */
        while (depth) {
            const struct lab_node *const n = node_of(t, stack[--depth]);
            if (n->kind == LAB_NODE_LETTER && bound->kind != LAB_NODE_LETTER) {
                if (first)
                    snprintf(index, 16, "%.15s", n->name);
                else if (!strcmp(n->name, "a"))
                    mentions_a = 1;
                else if (!strcmp(n->name, "b"))
                    mentions_b = 1;
                else if (strcmp(n->name, index) && islower((unsigned char)n->name[0]) &&
                         !n->name[1] && strcmp(n->name, "n") && strcmp(n->name, "m"))
                    lead = 1;
                if (!first && !strcmp(n->name, "m") && bound->kind != LAB_NODE_LIST)
                    over = OVER_BASIS;
                first = 0;
            }
            if (n->after == LAB_REL_UNEQUAL)
                excluded = 1;
            int children[32], count = 0;
            for (int c = n->child; c >= 0 && count < 32; c = node_of(t, c)->next)
                children[count++] = c;
            while (count && depth < 64)
                stack[depth++] = children[--count];
        }
    }
    if (mentions_a && mentions_b)
        return OVER_OTHERS;
    if (mentions_a || mentions_b || (excluded && !lead))
        return OVER_UNKNOWN;
    if (lead)
        return OVER_NOT_LEAD;
    return over;
}

static int write_bound(struct writer *w, int body, const char *index, char value,
                       enum level level)
{
    if (w->bound == BOUND)
        return fail(w, "too many sums in each other");
    snprintf(w->bind[w->bound].index, 16, "%s", index);
    w->bind[w->bound++].value = value;
    const int status = write_node(w, body, level);
    w->bound--;
    return status;
}

static int is_weight(const struct writer *w, int node, const char *index)
{
    struct lab_name name;
    if (node < 0 || !has_role(w, node, LAB_ROLE_WEIGHT, &name))
        return 0;
    const char *const of = key_index(w, &name);
    return of && !strcmp(of, index);
}

/* sum of alpha_i v_i: the output by its definition. */
static int is_output_sum(const struct writer *w, int body, const char *index)
{
    int factor[FACTORS];
    const int count = collect(w->t, body, factor, 0);
    struct lab_name name;
    if (count != 2)
        return 0;
    for (int i = 0; i < 2; i++)
        if (is_weight(w, factor[i], index) &&
            has_role(w, factor[1 - i], LAB_ROLE_VALUE, &name)) {
            const char *const of = key_index(w, &name);
            return of && !strcmp(of, index);
        }
    return 0;
}

static int write_weight_sum(struct writer *w, enum over over)
{
    const struct lab_name none = {.base = ""};
    if (use_head(w, takes_heads(w->t->settled) ? head_of(w, &none, 0) : 1))
        return -1;
    if (over == OVER_ALL)
        return add(w, "(alpha_a + alpha_b + rest)");
    if (over == OVER_OTHERS)
        return add(w, "rest");
    return w->t->settled->subject == LAB_SUBJECT_COPY ? add(w, "(alpha_b + rest)")
                                                      : fail(w, "a sum of some weights");
}

static int write_sum_over(struct writer *w, int node)
{
    const int body = node_of(w->t, node)->child;
    char index[16];
    const enum over over = sum_over(w, node, index);
    struct lab_name name;
    if (body < 0 || strcmp(node_of(w->t, node)->name, "sum") != 0)
        return fail(w, "a product over an index");
    if (over == OVER_UNKNOWN)
        return fail(w, "the bounds of the sum");
    if (w->t->settled->subject == LAB_SUBJECT_EXTRACT ||
        w->t->settled->subject == LAB_SUBJECT_PERMUTE)
        return fail(w, "a sum over basis vectors");
    if (is_weight(w, body, index))
        return write_weight_sum(w, over);
    if (is_output_sum(w, body, index) && over == OVER_ALL) {
        int factor[FACTORS];
        collect(w->t, body, factor, 0);
        for (int i = 0; i < 2; i++)
            if (has_role(w, factor[i], LAB_ROLE_WEIGHT, &name))
                break;
        if (takes_heads(w->t->settled) && name.indices > 1 && is_head(name.index[0])) {
            w->said->uses |= LAB_USES_HEADS;
            return add(w, "c_%s", name.index[0]);
        }
        return fail(w, "the definition of the output");
    }
    if (over == OVER_BASIS)
        return add(w, "((m - 2) ") || write_bound(w, body, index, 'i', AT_BASE) ||
                       add(w, " + ") || write_bound(w, body, index, 'a', AT_BASE) ||
                       add(w, " + ") || write_bound(w, body, index, 'b', AT_BASE) ||
                       add(w, ")")
                   ? -1
                   : 0;
    if (add(w, "("))
        return -1;
    if (over == OVER_ALL && (write_bound(w, body, index, 'a', IN_TERM) || add(w, " + ")))
        return -1;
    if (over != OVER_OTHERS &&
        (write_bound(w, body, index, 'b', IN_TERM) || add(w, " + ")))
        return -1;
    if (add(w, "(n - 2)*") || write_bound(w, body, index, 'i', AT_BASE))
        return -1;
    return add(w, ")");
}

/* ---- sums with dots -----------------------------------------------------------------
 */

/* c_1 a_1 + ... + c_m a_m: "A c"; NULL: another sum. */
static const char *dotted_sum(const struct lab_translation *t, int sum)
{
    struct lab_name name[2];
    const struct lab_node *const first = node_of(t, node_of(t, sum)->child);
    if (first->kind != LAB_NODE_PRODUCT || first->child < 0)
        return NULL;
    int count = 0;
    for (int c = first->child; c >= 0; c = node_of(t, c)->next, count++) {
        if (count == 2 || node_of(t, c)->kind != LAB_NODE_LETTER)
            return NULL;
        lab_name_split(node_of(t, c)->name, &name[count]);
        if (name[count].indices != 1 || strcmp(name[count].index[0], "1"))
            return NULL;
    }
    if (count != 2)
        return NULL;
    const char *const vector = name[1].base;
    return !strcmp(vector, "a") ? "A c" : !strcmp(vector, "b") ? "B e" : NULL;
}

static int has_dots(const struct lab_translation *t, int node)
{
    for (int c = node_of(t, node)->child; c >= 0; c = node_of(t, c)->next)
        if (node_of(t, c)->kind == LAB_NODE_DOTS)
            return 1;
    return 0;
}

/* x + 0 + ... + 0: n - 1 zeros beside x. */
static int write_zeros(struct writer *w, int sum)
{
    const int first = node_of(w->t, sum)->child;
    for (int c = node_of(w->t, first)->next; c >= 0; c = node_of(w->t, c)->next) {
        const struct lab_node *const n = node_of(w->t, c);
        const int zero = n->kind == LAB_NODE_NUMBER && n->value == 0;
        if (!zero && n->kind != LAB_NODE_DOTS)
            return fail(w, "a sum with dots");
    }
    return write_node(w, first, IN_TERM) || add(w, " + 0 (n - 1)") ? -1 : 0;
}

static enum lab_shape shape_of(const struct lab_translation *t, int node, int depth);

static int is_zero(const struct lab_node *node)
{
    return node->kind == LAB_NODE_NUMBER && node->value == 0;
}

/* Terms of one shape, but for zeros. */
static int check_terms(struct writer *w, int node, int *plain)
{
    int vectors = 0, numbers = 0, zeros = 0;
    for (int c = node_of(w->t, node)->child; c >= 0; c = node_of(w->t, c)->next) {
        const enum lab_shape shape = shape_of(w->t, c, 0);
        zeros += is_zero(node_of(w->t, c));
        numbers += shape == LAB_SHAPE_NUMBER && !is_zero(node_of(w->t, c));
        vectors += shape == LAB_SHAPE_VECTOR;
    }
    *plain = vectors && zeros; /* zeros of vectors are left out */
    return vectors && numbers ? fail(w, "a sum of a vector and a number") : 0;
}

static int write_sum(struct writer *w, int node, enum level level)
{
    int without_zeros = 0;
    if (check_terms(w, node, &without_zeros))
        return -1;
    if (level > IN_SUM && add(w, "("))
        return -1;
    if (has_dots(w->t, node)) {
        const char *const known =
            w->t->settled->subject == LAB_SUBJECT_EXTRACT ? dotted_sum(w->t, node) : NULL;
        if (known ? add(w, "%s", known) : write_zeros(w, node))
            return -1;
    } else {
        int first = 1;
        for (int c = node_of(w->t, node)->child; c >= 0; c = node_of(w->t, c)->next) {
            const struct lab_node *const term = node_of(w->t, c);
            const int minus = term->kind == LAB_NODE_MINUS;
            if (without_zeros && is_zero(term))
                continue;
            if (add(w, "%s",
                    minus   ? (first ? "-" : " - ")
                    : first ? ""
                            : " + ") ||
                write_node(w, minus ? term->child : c, minus ? IN_PRODUCT : IN_TERM))
                return -1;
            first = 0;
        }
    }
    return level > IN_SUM ? add(w, ")") : 0;
}

/* ---- functions ----------------------------------------------------------------------
 */

static int write_variance(struct writer *w, const struct lab_node *node)
{
    int factor[FACTORS];
    const int count = node->child >= 0 ? collect(w->t, node->child, factor, 0) : 0;
    const struct lab_settled *const settled = w->t->settled;
    struct lab_name name = {.base = ""}, query;
    const int is_score = (count == 1 && has_role(w, factor[0], LAB_ROLE_SCORE, &name)) ||
                         (count == 2 && has_role(w, factor[0], LAB_ROLE_KEY, &name) &&
                          has_role(w, factor[1], LAB_ROLE_QUERY, &query)) ||
                         (count == 2 && has_role(w, factor[1], LAB_ROLE_KEY, &name) &&
                          has_role(w, factor[0], LAB_ROLE_QUERY, &query));
    const char *index = key_index(w, &name);
    const char key = index ? key_of(w, index) : 0;
    w->said->uses |= LAB_USES_LAW;
    if (is_score && key && !takes_heads(settled)) {
        w->said->uses |= LAB_USES_FIRST | LAB_USES_SCALE;
        return add(w, "VarS_%c", key);
    }
    if (count == 1 && has_role(w, factor[0], LAB_ROLE_OUTPUT, &name)) {
        if (!name.indices) {
            w->said->uses |= LAB_USES_OUTPUT;
            return add(w, takes_heads(settled) ? "V_c" : "V_1");
        }
        if (takes_heads(settled) && is_head(name.index[0])) {
            w->said->uses |= LAB_USES_HEADS;
            return add(w, "V_%s", name.index[0]);
        }
    }
    if (count == 1 && has_role(w, factor[0], LAB_ROLE_WEIGHT, &name) &&
        (index = key_index(w, &name)) && key_of(w, index) == 'a' &&
        !takes_heads(settled)) {
        w->said->uses |= LAB_USES_FIRST;
        return add(w, "D_1^2");
    }
    if (count == 1 && has_role(w, factor[0], LAB_ROLE_LENGTH, &name))
        return add(w, "Var_gamma");
    return fail(w, "a variance of something else");
}

static int write_covariance(struct writer *w, const struct lab_node *node)
{
    struct lab_name name;
    int factor[FACTORS];
    if (node->child < 0 || collect(w->t, node->child, factor, 0) != 1 ||
        !has_role(w, factor[0], LAB_ROLE_KEY, &name))
        return fail(w, "a covariance of something else");
    const char *const index = key_index(w, &name);
    const char key = index ? key_of(w, index) : 0;
    return key ? add(w, "Sigma_%c", key) : fail(w, "a key without an index");
}

/* X, or the permuted input: 0, 1, or -1 for another matrix. */
static int input_of(const struct writer *w, int node)
{
    struct lab_said said = {.text = ""};
    struct writer inner = {.t = w->t, .said = &said};
    if (node < 0 || write_node(&inner, node, IN_SUM))
        return -1;
    if (!strcmp(said.text, "X"))
        return 0;
    return *w->t->settled->input && !strcmp(said.text, w->t->settled->input) ? 1 : -1;
}

/* S(X), softmax(S(X)), Attention(X), Q(X) of the permutation. */
static int write_attention(struct writer *w, const struct lab_node *node,
                           enum level level)
{
    static const struct {
        const char *name, *as;
    } known[] = {
        {"S", "S"},      {"scores", "S"}, {"Attention", "Att"}, {"attention", "Att"},
        {"Attn", "Att"}, {"attn", "Att"}, {"Att", "Att"},       {"SelfAttention", "Att"},
        {"SA", "Att"},   {"A", "P"},      {"H", "Att"},         {"f", "Att"},
        {"F", "Att"},    {"Y", "Att"},
    };
    const struct lab_node *const inside =
        node->child >= 0 ? node_of(w->t, node->child) : NULL;
    const int is_softmax =
        !strcmp(node->name, "softmax") || !strcmp(node->name, "Softmax");
    if (is_softmax && inside && inside->kind == LAB_NODE_CALL &&
        (!strcmp(inside->name, "S") || !strcmp(inside->name, "scores"))) {
        const int moved = input_of(w, inside->child);
        w->said->uses |= moved == 1 ? LAB_USES_INPUT : 0;
        return moved < 0 ? fail(w, "softmax of something else")
                         : add(w, moved ? "P_moved" : "P");
    }
    if (strlen(node->name) == 1 && strchr("QKV", node->name[0]))
        return (level > IN_TERM && add(w, "(")) ||
                       write_node(w, node->child,
                                  level > IN_TERM ? IN_TERM : IN_PRODUCT) ||
                       add(w, " W") || (level > IN_TERM && add(w, ")"))
                   ? -1
                   : 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(node->name, known[i].name))
            continue;
        const int moved = input_of(w, node->child);
        w->said->uses |= moved == 1 ? LAB_USES_INPUT : 0;
        return moved < 0 ? fail(w, "%s of something else", node->name)
                         : add(w, "%s%s", known[i].as, moved ? "_moved" : "");
    }
    return fail(w, "%s is unknown", node->name);
}

/* P(c closer to v_a), by the words in it. */
static int write_probability(struct writer *w, const struct lab_node *node)
{
    int closer = 0, of_a = 0, of_b = 0;
    for (int i = 0; i < w->t->formula->nodes; i++) {
        const struct lab_node *const n = node_of(w->t, i);
        if (n->begin < node->begin || n->end > node->end)
            continue;
        closer |= n->kind == LAB_NODE_TEXT && strstr(n->name, "closer");
        of_a |= n->kind == LAB_NODE_LETTER &&
                (!strcmp(n->name, "v_a") || !strcmp(n->name, "V_a"));
        of_b |= n->kind == LAB_NODE_LETTER &&
                (!strcmp(n->name, "v_b") || !strcmp(n->name, "V_b"));
    }
    if (!closer || of_a == of_b || takes_heads(w->t->settled))
        return fail(w, "a probability of something else");
    w->said->uses |= LAB_USES_OUTPUT | LAB_USES_LAW;
    return add(w, of_a ? "P_closer" : "(1 - P_closer)");
}

static int write_call(struct writer *w, const struct lab_node *node, enum level level)
{
    static const char *const same[] = {"exp", "ln",   "log", "sqrt", "norm",
                                       "abs", "tanh", "sin", "cos"};
    if (!strcmp(node->name, "Var"))
        return write_variance(w, node);
    if (!strcmp(node->name, "Cov"))
        return write_covariance(w, node);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (strcmp(node->name, same[i]) != 0)
            continue;
        if (node->child < 0 || node_of(w->t, node->child)->next >= 0)
            return fail(w, "%s of several arguments", node->name);
        if (!strcmp(node->name, "exp"))
            w->said->uses |= LAB_USES_EXP;
        if (!strcmp(node->name, "sqrt"))
            w->said->uses |= LAB_USES_ROOT;
        return add(w, "%s(", node->name) || write_node(w, node->child, IN_SUM) ||
                       add(w, ")")
                   ? -1
                   : 0;
    }
    if (w->t->settled->subject == LAB_SUBJECT_PERMUTE)
        return write_attention(w, node, level);
    if (!strcmp(node->name, "P"))
        return write_probability(w, node);
    return fail(w, "%s is no function of the exercise", node->name);
}

/* ---- the rest ------------------------------------------------------------------------
 */

/* A column of coordinates c_1 ... c_m, or the columns a_1 ... a_m of A. */
static int write_matrix(struct writer *w, int node)
{
    int first = node;
    int rows = 0;
    for (int c = node_of(w->t, node)->child; c >= 0; c = node_of(w->t, c)->next)
        rows++;
    for (int guard = 0; guard < 4 && first >= 0; guard++) {
        if (node_of(w->t, first)->kind == LAB_NODE_LETTER)
            break;
        first = node_of(w->t, first)->child;
    }
    if (w->t->settled->subject != LAB_SUBJECT_EXTRACT || first < 0 ||
        node_of(w->t, first)->kind != LAB_NODE_LETTER)
        return fail(w, "a matrix by its entries");
    struct lab_name name;
    lab_name_split(node_of(w->t, first)->name, &name);
    if (rows > 1 && !strcmp(name.base, "c"))
        return add(w, "c");
    if (rows > 1 && !strcmp(name.base, "d"))
        return add(w, "e");
    if (rows == 1 && (!strcmp(name.base, "a") || !strcmp(name.base, "b")))
        return add(w, *name.base == 'a' ? "A" : "B");
    return fail(w, "a matrix by its entries");
}

static int write_power(struct writer *w, const struct lab_node *node, enum level level)
{
    const int base = node->child;
    const int exponent = base >= 0 ? node_of(w->t, base)->next : -1;
    if (exponent < 0)
        return fail(w, "a power");
    const struct lab_node *const b = node_of(w->t, base);
    if (b->kind == LAB_NODE_LETTER && !strcmp(b->name, "e")) {
        w->said->uses |= LAB_USES_EXP;
        return add(w, "exp(") || write_node(w, exponent, IN_SUM) || add(w, ")") ? -1 : 0;
    }
    /* sigma^2 where it is the variance. */
    if (b->kind == LAB_NODE_LETTER && !strcmp(b->name, "sigma") &&
        lab_role_of(w->t->letters, "sigma", 0) == LAB_ROLE_VARIANCE)
        return add(w, "alpha");
    const int open = level == AT_BASE;
    return (open && add(w, "(")) || write_node(w, base, AT_BASE) || add(w, "^") ||
                   write_node(w, exponent, AT_BASE) || (open && add(w, ")"))
               ? -1
               : 0;
}

static int write_quotient(struct writer *w, const struct lab_node *node, enum level level)
{
    const int above = node->child, below = above >= 0 ? node_of(w->t, above)->next : -1;
    const int open = level > IN_TERM;
    if (below < 0)
        return fail(w, "a quotient");
    return (open && add(w, "(")) || write_node(w, above, IN_PRODUCT) || add(w, "/") ||
                   write_node(w, below, AT_BASE) || (open && add(w, ")"))
               ? -1
               : 0;
}

static int write_kind(struct writer *w, int at, enum level level)
{
    const struct lab_node *const node = node_of(w->t, at);
    switch (node->kind) {
    case LAB_NODE_NUMBER:
        return add(w, "%.12g", node->value);
    case LAB_NODE_LETTER:
        return write_letter(w, node, level);
    case LAB_NODE_SUM:
        return write_sum(w, at, level);
    case LAB_NODE_MINUS:
        return add(w, level > IN_SUM ? "(-" : "-") ||
                       write_node(w, node->child, IN_PRODUCT) ||
                       (level > IN_SUM && add(w, ")"))
                   ? -1
                   : 0;
    case LAB_NODE_PRODUCT:
        return write_product(w, at, level);
    case LAB_NODE_QUOTIENT:
        return write_quotient(w, node, level);
    case LAB_NODE_POWER:
        return write_power(w, node, level);
    case LAB_NODE_TRANSPOSE:
        return write_node(w, node->child, AT_BASE) || add(w, "^T") ? -1 : 0;
    case LAB_NODE_CALL:
        return write_call(w, node, level);
    case LAB_NODE_SERIES:
        return write_sum_over(w, at);
    case LAB_NODE_MATRIX:
        return write_matrix(w, at);
    case LAB_NODE_LIST:
        if (node->child >= 0 && node_of(w->t, node->child)->next < 0)
            return write_node(w, node->child, level);
        return fail(w, "a list");
    default:
        return fail(w, "no formula");
    }
}

static int write_node(struct writer *w, int node, enum level level)
{
    if (node < 0 || node >= w->t->formula->nodes || w->depth >= DEPTH)
        return fail(w, "no formula");
    w->depth++;
    const int status = write_kind(w, node, level);
    w->depth--;
    return status;
}

/* ---- shapes --------------------------------------------------------------------------
 */

/* C, c, C_1: a scale, or an output. */
static int may_be_output(const struct lab_translation *t, int node)
{
    struct lab_name name;
    if (node_of(t, node)->kind != LAB_NODE_LETTER)
        return 0;
    lab_name_split(node_of(t, node)->name, &name);
    return lab_role_of(t->letters, name.base, name.indices > 0) == LAB_ROLE_OUTPUT;
}

/* Such a letter, or the mean of two, and nothing else. */
static int is_output_side(const struct lab_translation *t, int node, int depth)
{
    const struct lab_node *const n = node_of(t, node);
    int outputs = 0;
    if (depth > 8)
        return 0;
    if (n->kind == LAB_NODE_LETTER)
        return may_be_output(t, node);
    if (n->kind != LAB_NODE_SUM && n->kind != LAB_NODE_PRODUCT &&
        n->kind != LAB_NODE_QUOTIENT && n->kind != LAB_NODE_LIST)
        return 0;
    for (int c = n->child; c >= 0; c = node_of(t, c)->next) {
        const struct lab_node *child = node_of(t, c);
        int number = child->kind == LAB_NODE_NUMBER;
        if (child->kind == LAB_NODE_QUOTIENT) {
            number = 1;
            for (int g = child->child; g >= 0; g = node_of(t, g)->next)
                number &= node_of(t, g)->kind == LAB_NODE_NUMBER;
        }
        if (number && n->kind != LAB_NODE_SUM)
            continue;
        if (!is_output_side(t, c, depth + 1))
            return 0;
        outputs++;
    }
    return n->kind == LAB_NODE_SUM ? outputs > 1 : outputs == 1;
}

static enum lab_shape letter_shape(const struct lab_translation *t,
                                   const struct lab_node *node)
{
    struct lab_name name;
    lab_name_split(node->name, &name);
    switch (lab_role_of(t->letters, name.base, name.indices > 0)) {
    case LAB_ROLE_KEY:
    case LAB_ROLE_VALUE:
    case LAB_ROLE_MEAN:
    case LAB_ROLE_QUERY:
        return LAB_SHAPE_VECTOR;
    case LAB_ROLE_COVARIANCE:
    case LAB_ROLE_PERMUTATION:
    case LAB_ROLE_INPUT:
    case LAB_ROLE_MATRIX:
        return LAB_SHAPE_MATRIX;
    case LAB_ROLE_OUTPUT:
    case LAB_ROLE_NONE:
        return !strcmp(name.base, "I") ? LAB_SHAPE_MATRIX : LAB_SHAPE_UNKNOWN;
    default:
        return LAB_SHAPE_NUMBER;
    }
}

static enum lab_shape shape_of(const struct lab_translation *t, int node, int depth)
{
    const struct lab_node *const n = node_of(t, node);
    int plain = 0, turned = 0, matrices = 0, unknown = 0;
    if (depth > 30)
        return LAB_SHAPE_UNKNOWN;
    switch (n->kind) {
    case LAB_NODE_LETTER:
        return letter_shape(t, n);
    case LAB_NODE_SUM:
    case LAB_NODE_LIST:
        for (int c = n->child; c >= 0; c = node_of(t, c)->next) {
            const enum lab_shape shape = shape_of(t, c, depth + 1);
            if (shape != LAB_SHAPE_UNKNOWN)
                return shape;
        }
        return LAB_SHAPE_UNKNOWN;
    case LAB_NODE_MINUS:
    case LAB_NODE_LIMIT:
    case LAB_NODE_SERIES:
    case LAB_NODE_QUOTIENT:
        return n->child >= 0 ? shape_of(t, n->child, depth + 1) : LAB_SHAPE_UNKNOWN;
    case LAB_NODE_PRODUCT:
        for (int c = n->child; c >= 0; c = node_of(t, c)->next) {
            const int is_turned = node_of(t, c)->kind == LAB_NODE_TRANSPOSE;
            const enum lab_shape shape =
                shape_of(t, is_turned ? node_of(t, c)->child : c, depth + 1);
            matrices += shape == LAB_SHAPE_MATRIX;
            unknown += shape == LAB_SHAPE_UNKNOWN;
            if (shape == LAB_SHAPE_VECTOR)
                (*(is_turned ? &turned : &plain))++;
        }
        if (plain > turned + 1)
            return LAB_SHAPE_UNKNOWN; /* a product of two columns */
        if (plain == turned)
            return matrices            ? LAB_SHAPE_MATRIX
                   : unknown && !plain ? LAB_SHAPE_UNKNOWN
                                       : LAB_SHAPE_NUMBER;
        return plain > turned ? LAB_SHAPE_VECTOR : LAB_SHAPE_UNKNOWN;
    case LAB_NODE_NUMBER:
    case LAB_NODE_POWER:
    case LAB_NODE_CALL:
        return LAB_SHAPE_NUMBER;
    case LAB_NODE_MATRIX:
        return LAB_SHAPE_MATRIX;
    default:
        return LAB_SHAPE_UNKNOWN;
    }
}

enum lab_shape lab_side_shape(const struct lab_translation *t, int node)
{
    return shape_of(t, node, 0);
}

int lab_side_say(const struct lab_translation *t, int node, struct lab_said *said)
{
    struct writer writer = {.t = t, .said = said};
    memset(said, 0, sizeof *said);
    if (node < 0 || node >= t->formula->nodes)
        return -1;
    writer.output = is_output_side(t, node, 0) && t->beside != LAB_SHAPE_NUMBER;
    said->shape = writer.output ? LAB_SHAPE_VECTOR : shape_of(t, node, 0);
    return write_node(&writer, node, IN_SUM);
}

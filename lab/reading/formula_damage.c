/* SPDX-License-Identifier: MIT */
/*
 * Letters that a scan mistook, and the letters that they stand for.  An entry is used in
 * documents alone in which every letter of `needs` occurs and none of `lacks`, so that a
 * text that was typed is left as it is.  Letters are names as in struct lab_node; "*" in
 * `from` stands for one of a, b, i and j, in `to` for the same one, and in `needs`
 * and `lacks` for any end of a name.
 */
#include <string.h>

#include "lab/reading/formula_parts.h"

static const struct damage {
    const char *from, *to; /* a blank in `to`: a product */
    const char *shown_from, *shown_to;
    const char *needs[3], *lacks[3];
} damages[] = {
    {"H_*", "mu_*", "H", "mu", {"H*", "k_a"}, {"mu*"}},
    {"m_*", "mu_*", "m", "mu", {"m_i", "H*", "k_a"}, {"mu*"}},
    {"N_n", "v_a", "N_n", "v_a", {"N_n", "N_b", "v_a"}, {"N_1"}},
    {"N_*", "v_*", "N", "v", {"N_n", "N_b", "v_a"}, {"N_1"}},
    {"mu_n", "mu_a", "mu_n", "mu_a", {"mu_n", "mu_a", "N_n"}, {"mu_1"}},
    {"K_n", "k_a", "K_n", "k_a", {"K_n", "k_a", "mu_n"}, {"mu_1", "K_1", "k_n"}},
    {"nu_*", "v_*", "nu", "v", {"nu_a", "nu_b", "v_a"}, {"nu"}},
    {"V_*", "v_*", "V", "v", {"V_a", "V_b", "v_a"}, {"V"}},
    {"A_c", "A c", "A_c", "A c", {"A", "A_c", "c_1"}, {"A_a"}},
    {"B_d", "B d", "B_d", "B d", {"B", "B_d", "d_1"}, {"B_a"}},
    {"M_s", "M s", "M_s", "M s", {"M", "M_s"}, {"M_a"}},
    {"S", "s", "S", "s", {"S", "M", "c_1"}, {"s", "X", "Q"}},
    {"g", "q", "~g", "q", {"~g*"}, {"g*"}},
    {"g_1", "q_1", "~g", "q", {"~g*"}, {"g*"}},
    {"g_2", "q_2", "~g", "q", {"~g*"}, {"g*"}},
};
enum { DAMAGES = sizeof damages / sizeof damages[0] };

/* Whether a name fits a pattern; `*` is the letter that "*" stands for. */
static int fits(const char *pattern, const char *name, char *star)
{
    for (; *pattern; pattern++, name++) {
        if (*pattern == '*' && *name && strchr("abij", *name))
            *star = *name;
        else if (*pattern != *name)
            return 0;
    }
    return !*name;
}

/* The letters of a document, one by one: "~g", "mu_a", "c_1". */
static int next_letter(struct lab_lexer *lexer, char name[48])
{
    struct lab_sign sign, index;
    int marked = 0;

    for (;;) {
        const size_t before = lexer->at;
        lab_sign_next(lexer, &sign);
        if (sign.kind == LAB_SIGN_END && !sign.code && lexer->at >= lexer->end)
            return 0;
        if (lexer->at == before)
            lexer->at++;
        if (sign.kind == LAB_SIGN_MARK)
            marked = sign.code == '~';
        else if (sign.kind == LAB_SIGN_LETTER)
            break;
        else if (sign.kind != LAB_SIGN_BRACE)
            marked = 0;
    }
    name[0] = 0;
    strcat(name, marked ? "~" : "");
    strcat(name, sign.text);
    struct lab_lexer copy = *lexer;
    lab_sign_next(&copy, &index);
    if (marked && index.kind == LAB_SIGN_BRACE_END)
        lab_sign_next(&copy, &index);
    if (index.kind != LAB_SIGN_DOWN)
        return 1;
    lab_sign_next(&copy, &index);
    if (index.kind == LAB_SIGN_BRACE)
        lab_sign_next(&copy, &index);
    if (index.kind == LAB_SIGN_LETTER && !index.text[1]) {
        strcat(name, "_");
        strcat(name, index.text);
    } else if (index.kind == LAB_SIGN_NUMBER && index.value == 1)
        strcat(name, "_1");
    *lexer = copy;
    return 1;
}

/* "g*" names every letter that begins with g. */
static int is_named(const char *pattern, const char *name)
{
    const size_t length = strcspn(pattern, "*");
    return pattern[length] ? !strncmp(pattern, name, length) : !strcmp(pattern, name);
}

static void note(const char *name, unsigned *need, unsigned *lack)
{
    for (int d = 0; d < DAMAGES; d++)
        for (int i = 0; i < 3; i++) {
            if (damages[d].needs[i] && is_named(damages[d].needs[i], name))
                need[d] |= 1u << i;
            if (damages[d].lacks[i] && is_named(damages[d].lacks[i], name))
                lack[d] = 1;
        }
}

/* The letters between two dollars; formulas of a scan have them. */
static size_t dollar(const char *source, size_t from, size_t size)
{
    while (from < size && source[from] != '$')
        from += source[from] == '\\' && from + 1 < size ? 2 : 1;
    return from;
}

unsigned lab_formula_repairs(const char *source, size_t size)
{
    unsigned need[DAMAGES] = {0}, lack[DAMAGES] = {0}, repairs = 0;
    char name[96];

    for (size_t begin = dollar(source, 0, size); begin < size;) {
        while (begin < size && source[begin] == '$')
            begin++;
        const size_t end = dollar(source, begin, size);
        struct lab_lexer lexer = {.source = source, .at = begin, .end = end, .latex = 1};
        while (next_letter(&lexer, name))
            note(name, need, lack);
        begin = end;
        while (begin < size && source[begin] == '$')
            begin++;
        begin = dollar(source, begin, size);
    }
    for (int d = 0; d < DAMAGES; d++) {
        unsigned all = 0;
        for (int i = 0; i < 3; i++)
            all |= damages[d].needs[i] ? 1u << i : 0;
        if (need[d] == all && !lack[d])
            repairs |= 1u << d;
    }
    return repairs;
}

static void put(char name[40], const char *to, char star)
{
    char *end = name;
    for (; *to && end < name + 38; to++)
        *end++ = *to == '*' ? star : *to;
    *end = 0;
}

/* "A c": a product of two letters in the place of one. */
static int split(struct lab_parser *parser, int letter, const char *to)
{
    struct lab_node *const node = parser->formula->node;
    const int product = lab_node_make(parser, LAB_NODE_PRODUCT, node[letter].begin);
    const int second = lab_node_make(parser, LAB_NODE_LETTER, node[letter].begin);

    if (product < 0 || second < 0)
        return -1;
    node[second].end = node[letter].end;
    node[letter].name[0] = to[0];
    node[letter].name[1] = 0;
    node[second].name[0] = to[2];
    lab_node_adopt(parser, product, letter);
    lab_node_adopt(parser, product, second);
    return product;
}

/* "Hu", "Hb" and "Hk_a" are mu with an index beside it instead of below. */
static int join_index(struct lab_parser *parser, int letter)
{
    struct lab_node *const node = &parser->formula->node[letter];
    const size_t begin = node->begin;
    char index = 0;

    if (!(parser->repairs & 1u) || strcmp(node->name, "H") != 0 || node->mark ||
        parser->sign.kind != LAB_SIGN_LETTER || parser->sign.apart)
        return letter;
    const int other = lab_read_factor(parser);
    if (other < 0)
        return -1;
    const char *const name = parser->formula->node[other].name;
    if (!strcmp(name, "u"))
        index = 'a';
    else if (strlen(name) == 1 && strchr("abij", *name))
        index = *name;
    else if (!strncmp(name, "k_", 2) && name[2] && !name[3])
        index = name[2];
    const int product = index ? -1 : lab_node_make(parser, LAB_NODE_PRODUCT, begin);
    if (!index) {
        lab_node_adopt(parser, product, letter);
        lab_node_adopt(parser, product, other);
        return product;
    }
    put(node->name, "mu_*", index);
    node->end = parser->formula->node[other].end;
    lab_formula_restored(parser->formula, begin, node->end, "H", "mu");
    return letter;
}

int lab_damage_undo(struct lab_parser *parser, int letter)
{
    struct lab_node *const node = &parser->formula->node[letter];

    if (!parser->repairs || node->kind == LAB_NODE_CALL)
        return letter;
    if (node->kind == LAB_NODE_TRANSPOSE || node->kind == LAB_NODE_POWER) {
        const int child = node->child,
                  next = child < 0 ? -1 : parser->formula->node[child].next;
        if (child < 0)
            return letter;
        const int undone = lab_damage_undo(parser, child);
        if (undone < 0)
            return -1;
        node->child = undone;
        parser->formula->node[undone].next = next;
        return letter;
    }
    if (node->kind != LAB_NODE_LETTER)
        return letter;
    for (int d = 0; d < DAMAGES; d++) {
        char star = 0;
        if (!(parser->repairs & 1u << d) || !fits(damages[d].from, node->name, &star))
            continue;
        if (*damages[d].from == 'g' && node->mark != '~')
            continue;
        lab_formula_restored(parser->formula, node->begin, node->end,
                             damages[d].shown_from, damages[d].shown_to);
        if (strchr(damages[d].to, ' '))
            return split(parser, letter, damages[d].to);
        put(node->name, damages[d].to, star);
        if (*damages[d].from == 'g')
            node->mark = 0;
        return letter;
    }
    return join_index(parser, letter);
}

/* k^T q */
static int is_score(const struct lab_parser *parser, int node)
{
    const struct lab_node *const nodes = parser->formula->node;
    const int first = nodes[node].child;
    return nodes[node].kind == LAB_NODE_PRODUCT &&
           nodes[first].kind == LAB_NODE_TRANSPOSE &&
           nodes[nodes[first].next].kind == LAB_NODE_LETTER &&
           nodes[nodes[first].next].next < 0;
}

/* "score = score => score", where nothing follows from it: the sign was >>. */
static int join_scores(struct lab_parser *parser, int before, int root)
{
    struct lab_node *const node = parser->formula->node;
    const int score = node[root].child, last = lab_node_last(parser, before);

    if (node[score].next >= 0 || !is_score(parser, score) || last == node[before].child)
        return 0;
    for (int c = node[before].child; c >= 0; c = node[c].next)
        if (!is_score(parser, c))
            return 0;
    lab_formula_restored(parser->formula, node[last].end, node[score].begin, "=>", ">>");
    node[last].after = LAB_REL_FAR_MORE;
    lab_node_adopt(parser, before, score);
    return 1;
}

/* "... = I \quad c = c": an identity times what follows. */
static int join_identity(struct lab_parser *parser, int before, int root)
{
    struct lab_node *const node = parser->formula->node;
    const int last = lab_node_last(parser, before), left = node[root].child;
    const int right = node[left].next;

    if (node[last].kind != LAB_NODE_LETTER || strcmp(node[last].name, "I") != 0 ||
        right < 0 || node[right].next >= 0 || node[left].after != LAB_REL_EQUAL ||
        node[left].kind != LAB_NODE_LETTER || node[right].kind != LAB_NODE_LETTER ||
        strcmp(node[left].name, node[right].name) != 0)
        return 0;
    const int product = lab_node_make(parser, LAB_NODE_PRODUCT, node[last].begin);
    if (product < 0)
        return -1;
    int *place = &node[before].child;
    while (*place != last)
        place = &node[*place].next;
    *place = product;
    lab_node_adopt(parser, product, last);
    node[left].after = 0;
    lab_node_adopt(parser, product, left);
    node[product].after = LAB_REL_EQUAL;
    lab_node_adopt(parser, before, right);
    lab_formula_restored(parser->formula, node[product].begin, node[product].end,
                         "I \\quad c", "I c");
    return 1;
}

int lab_damage_join(struct lab_parser *parser, int before, int root, int therefore)
{
    return therefore ? join_scores(parser, before, root)
                     : join_identity(parser, before, root);
}

int lab_damage_slipped(const struct lab_parser *parser, const char *letter)
{
    struct lab_lexer copy = parser->lexer;
    struct lab_sign sign, last = {0};

    copy.log = NULL;
    lab_sign_next(&copy, &sign);
    if (sign.kind != LAB_SIGN_RELATION || sign.code != LAB_REL_EQUAL)
        return 0;
    for (;;) {
        lab_sign_next(&copy, &sign);
        if (sign.kind != LAB_SIGN_LETTER)
            break;
        last = sign;
    }
    return sign.kind == LAB_SIGN_RELATION && last.kind == LAB_SIGN_LETTER &&
           !strcmp(last.text, letter);
}

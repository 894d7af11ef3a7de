/* SPDX-License-Identifier: MIT */
/* The question that a passage belongs to, by its label and by what it is about. */
#include <ctype.h>
#include <string.h>

#include "lab/understanding/sections.h"

/* Letters outside ASCII, and commands, that print alike. */
static const struct {
    const char *from, *to;
} alike[] = {
    {"α", "alpha"},     {"β", "beta"},       {"γ", "gamma"},     {"ε", "eps"},
    {"ϵ", "eps"},       {"μ", "mu"},         {"µ", "mu"},        {"Σ", "Sigma"},
    {"Π", "Pi"},        {"½", "1/2"},        {"⊤", "T"},         {"ᵀ", "T"},
    {"≫", "gg"},        {"ₐ", "_a"},         {"≈", "approx"},    {"₁", "_1"},
    {"₂", "_2"},        {"ᵢ", "_i"},         {"ⱼ", "_j"},        {"−", "-"},
    {"mathsf", ""},     {"mathbf", ""},      {"tilde", ""},      {"varepsilon", "eps"},
    {"epsilon", "eps"}, {"top", "T"},        {"≠", "neq"},       {"σ", "sigma"},
    {"λ", "lambda"},    {"left", ""},        {"right", ""},      {"quad", ""},
    {"cdot", ""},       {"simeq", "approx"}, {"mathcal", ""},    {"operatorname", ""},
    {"mathrm", ""},     {"bm", ""},          {"boldsymbol", ""}, {"nu_", "v_"},
    {"∼", "sim"},       {"ν_", "v_"},        {"≥", "geq"},       {"≤", "leq"},
};

size_t lab_squeeze(const char *source, size_t begin, size_t end, char *to, size_t size)
{
    size_t used = 0;
    for (size_t at = begin; at < end && used + 1 < size;) {
        const size_t count = sizeof alike / sizeof alike[0];
        /* No other byte begins an entry. */
        const int may_begin = (unsigned char)source[at] >= 0x80 || source[at] == 'n' ||
                              (at > begin && source[at - 1] == '\\');
        size_t a = may_begin ? 0 : count;
        for (; a < count; a++) {
            const size_t length = strlen(alike[a].from);
            /* Commands only behind their backslash. */
            const int is_command = isalpha((unsigned char)alike[a].from[0]) &&
                                   strcmp(alike[a].from, "nu_") != 0;
            if (length <= end - at && !memcmp(source + at, alike[a].from, length) &&
                (!is_command || (at > begin && source[at - 1] == '\\')) &&
                !(is_command && at + length < end &&
                  isalpha((unsigned char)source[at + length])))
                break;
        }
        if (a < count) {
            const size_t length = strlen(alike[a].to);
            if (used + length + 1 >= size)
                break;
            memcpy(to + used, alike[a].to, length);
            used += length;
            at += strlen(alike[a].from);
        } else {
            if (!strchr(" \t\n\r\\{}$*", source[at]) || source[at] == '\0')
                to[used++] = source[at] ? source[at] : ' ';
            at++;
        }
    }
    to[used] = '\0';
    return used;
}

static int has(const char *text, const char *piece)
{
    return strstr(text, piece) != NULL;
}

enum { WINDOW = 12000 };

/* Signs of a subject and their weights; the text is squeezed. */
static const struct sign {
    const char *piece;
    enum lab_subject subject;
    int weight;
} signs[] = {
    {"categorical", LAB_SUBJECT_COPY, 4},
    {"probabilitydistribution", LAB_SUBJECT_COPY, 3},
    {"copy", LAB_SUBJECT_COPY, 2},
    {"copies", LAB_SUBJECT_COPY, 2},
    {"k_j^Tq", LAB_SUBJECT_COPY, 3},
    {"alpha_j", LAB_SUBJECT_COPY, 2},
    {"v_j", LAB_SUBJECT_COPY, 3},
    {"k_j", LAB_SUBJECT_COPY, 2},
    {"A^TA", LAB_SUBJECT_EXTRACT, 5},
    {"AA^T", LAB_SUBJECT_EXTRACT, 5},
    {"A^TB", LAB_SUBJECT_EXTRACT, 4},
    {"M=A", LAB_SUBJECT_EXTRACT, 5},
    {"Mv_a", LAB_SUBJECT_EXTRACT, 5},
    {"M(v_a", LAB_SUBJECT_EXTRACT, 4},
    {"Ms=", LAB_SUBJECT_EXTRACT, 3},
    {"k_a+k_b", LAB_SUBJECT_AVERAGE, 5},
    {"k_b+k_a", LAB_SUBJECT_AVERAGE, 5},
    {"k_a^Tq", LAB_SUBJECT_AVERAGE, 1},
    {"q=", LAB_SUBJECT_AVERAGE, 1},
    {"mu_a+mu_b", LAB_SUBJECT_NOISE, 6},
    {"mu_b+mu_a", LAB_SUBJECT_NOISE, 6},
    {"m_a+m_b", LAB_SUBJECT_NOISE, 6},
    {"vanishinglysmall", LAB_SUBJECT_NOISE, 3},
    {"mu_a", LAB_SUBJECT_NOISE, 3},
    {"m_a", LAB_SUBJECT_NOISE, 2},
    {"N(1,", LAB_SUBJECT_MAGNITUDE, 4},
    {"heads", LAB_SUBJECT_HEADS, 3},
    {"c_1", LAB_SUBJECT_HEADS, 3},
    {"C_1", LAB_SUBJECT_HEADS, 3},
    {"alphaI", LAB_SUBJECT_NOISE, 3},
    {"sim", LAB_SUBJECT_NOISE, 1},
    {"gamma", LAB_SUBJECT_MAGNITUDE, 4},
    {"eps_a", LAB_SUBJECT_MAGNITUDE, 1},
    {"magnitude", LAB_SUBJECT_MAGNITUDE, 3},
    {"mu_amu_a^T", LAB_SUBJECT_MAGNITUDE, 4},
    {"(mu_amu_a^T)", LAB_SUBJECT_MAGNITUDE, 1},
    {"fluctuat", LAB_SUBJECT_MAGNITUDE, 2},
    {"highvariance", LAB_SUBJECT_MAGNITUDE, 3},
    {"Var", LAB_SUBJECT_MAGNITUDE, 2},
    {"q_1=", LAB_SUBJECT_HEADS, 7},
    {"q_2=", LAB_SUBJECT_HEADS, 7},
    {"q_1", LAB_SUBJECT_HEADS, 2},
    {"q_2", LAB_SUBJECT_HEADS, 2},
    {"twoheads", LAB_SUBJECT_HEADS, 2},
    {"c_1+c_2", LAB_SUBJECT_HEADS, 3},
    {"C_1+C_2", LAB_SUBJECT_HEADS, 3},
    {"C_2", LAB_SUBJECT_BOTH, 2},
    {"c_2", LAB_SUBJECT_BOTH, 2},
    {"permutation", LAB_SUBJECT_PERMUTE, 8},
    {"ermut", LAB_SUBJECT_PERMUTE, 3},
    {"equivarian", LAB_SUBJECT_PERMUTE, 5},
    {"XPi", LAB_SUBJECT_PERMUTE, 5},
    {"(PX)", LAB_SUBJECT_PERMUTE, 4},
    {"PiX", LAB_SUBJECT_PERMUTE, 5},
    {"=PX", LAB_SUBJECT_PERMUTE, 6},
    {"PXW", LAB_SUBJECT_PERMUTE, 5},
    {"PSP", LAB_SUBJECT_PERMUTE, 5},
    {"PX=", LAB_SUBJECT_PERMUTE, 3},
    {"sinusoid", LAB_SUBJECT_POSITIONS, 5},
    {"Phi_", LAB_SUBJECT_POSITIONS, 4},
    {"Phi", LAB_SUBJECT_POSITIONS, 2},
    {"position", LAB_SUBJECT_POSITIONS, 4},
    {"embedding", LAB_SUBJECT_POSITIONS, 3},
    {"sint", LAB_SUBJECT_POSITIONS, 4},
    {"sin(", LAB_SUBJECT_POSITIONS, 4},
    {"integer", LAB_SUBJECT_POSITIONS, 3},
};

static const struct {
    const char *question;
    enum lab_subject subject;
} labels[] = {
    {"1a", LAB_SUBJECT_COPY},      {"1b-ii", LAB_SUBJECT_AVERAGE},
    {"1b-i", LAB_SUBJECT_EXTRACT}, {"1c-ii", LAB_SUBJECT_MAGNITUDE},
    {"1c", LAB_SUBJECT_NOISE},     {"1d-ii", LAB_SUBJECT_BOTH},
    {"1d", LAB_SUBJECT_HEADS},     {"2a", LAB_SUBJECT_PERMUTE},
    {"2b", LAB_SUBJECT_POSITIONS},
};

const char *lab_subject_question(enum lab_subject subject)
{
    static const char *const questions[LAB_SUBJECTS] = {
        "", "1a", "1b-i", "1b-ii", "1c-i", "1c-ii", "1d-i", "1d-ii", "2a", "2b"};
    return questions[subject];
}

/* The first question that a subject shares its queries with. */
static enum lab_subject group_of(enum lab_subject subject)
{
    return subject == LAB_SUBJECT_MAGNITUDE ? LAB_SUBJECT_NOISE
           : subject == LAB_SUBJECT_BOTH    ? LAB_SUBJECT_HEADS
                                            : subject;
}

int lab_subject_shares(enum lab_subject x, enum lab_subject y)
{
    return group_of(x) == group_of(y);
}

int lab_passage_magnifies(const struct lab_document *document, int passage)
{
    static const char *const pieces[] = {
        "mu_amu_a^T",   "gamma",   "magnitude", "Ceps_a",           "eps_asim",
        "highvariance", "_1eps_a", "eps_aC",    "differentsamples", "fluctuat",
        "unstable",     "[0.5",    "N(1,"};
    const struct lab_passage *const p = &document->passage[passage];
    char text[WINDOW];
    lab_squeeze(document->source, p->begin, p->end, text, sizeof text);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        if (has(text, pieces[i]))
            return 1;
    return 0;
}

enum lab_subject lab_passage_subject(const struct lab_document *document, int passage)
{
    static const struct {
        const char *first, *second;
        enum lab_subject subject;
    } shows[] = {
        {"q_1=", "mu_a", LAB_SUBJECT_HEADS},      {"q_1=", "k_a", LAB_SUBJECT_HEADS},
        {"q_2=", "mu_b", LAB_SUBJECT_HEADS},      {"q=", "mu_a+mu_b", LAB_SUBJECT_NOISE},
        {"q=", "mu_b+mu_a", LAB_SUBJECT_NOISE},   {"q=", "m_a+m_b", LAB_SUBJECT_NOISE},
        {"q_1=", "m_a", LAB_SUBJECT_HEADS},       {"q=", "k_a+k_b", LAB_SUBJECT_AVERAGE},
        {"q=", "k_b+k_a", LAB_SUBJECT_AVERAGE},   {"M=A", "", LAB_SUBJECT_EXTRACT},
        {"permutation", "", LAB_SUBJECT_PERMUTE},
    };
    const struct lab_passage *const p = &document->passage[passage];
    char text[WINDOW];
    if (p->kind == LAB_PASSAGE_HEADING)
        return LAB_SUBJECT_NONE;
    lab_squeeze(document->source, p->begin, p->end, text, sizeof text);
    for (size_t i = 0; i < sizeof shows / sizeof shows[0]; i++)
        if (has(text, shows[i].first) && has(text, shows[i].second))
            return shows[i].subject;
    return LAB_SUBJECT_NONE;
}

/* The part that the printed label ends with, "(c) i)", where the question is another. */
static enum lab_subject of_item(enum lab_subject subject, const char *label)
{
    static const enum lab_subject parts[][2] = {
        {LAB_SUBJECT_EXTRACT, LAB_SUBJECT_AVERAGE},
        {LAB_SUBJECT_NOISE, LAB_SUBJECT_MAGNITUDE},
        {LAB_SUBJECT_HEADS, LAB_SUBJECT_BOTH},
    };
    size_t end = strlen(label), items = 0;
    while (end && strchr(").: ", label[end - 1]))
        end--;
    while (items < end && label[end - items - 1] == 'i')
        items++;
    const char before = items < end ? label[end - items - 1] : ' ';
    if (items < 1 || items > 2 || isalpha((unsigned char)before))
        return subject;
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
        if (subject == parts[p][0] || subject == parts[p][1])
            return parts[p][items - 1];
    return subject;
}

enum lab_subject lab_section_subject(const struct lab_document *document, int begin,
                                     int end, enum lab_subject before)
{
    const struct lab_passage *const first = &document->passage[begin];
    char text[WINDOW];
    int score[LAB_SUBJECTS] = {0};
    enum lab_subject best = LAB_SUBJECT_NONE, label = LAB_SUBJECT_NONE;
    size_t last = first->end;
    for (int p = begin; p < end; p++)
        if (document->passage[p].end > last)
            last = document->passage[p].end;
    lab_squeeze(document->source, first->begin, last, text, sizeof text);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (has(text, signs[i].piece))
            score[group_of(signs[i].subject)] += signs[i].weight;
    for (size_t i = 0; i < sizeof labels / sizeof labels[0] && !label; i++)
        if (!strncmp(first->question, labels[i].question, strlen(labels[i].question)))
            label = labels[i].subject;
    label = of_item(label, first->label);
    /* A question 2 of another numbering. */
    if ((label == LAB_SUBJECT_PERMUTE && !has(text, "ermut") && !has(text, "Pi") &&
         !has(text, "PX")) ||
        (label == LAB_SUBJECT_POSITIONS && !has(text, "osition") && !has(text, "hi") &&
         !has(text, "sin")))
        label = LAB_SUBJECT_NONE;
    score[group_of(label)] += !label                         ? 0
                              : label < before               ? 3
                              : strchr(first->question, '-') ? 8
                                                             : 6;
    /* Two heads under noise have the signs of one head as well. */
    if (score[LAB_SUBJECT_HEADS] >= 8)
        score[LAB_SUBJECT_HEADS] += score[LAB_SUBJECT_NOISE];
    for (int s = 1; s < LAB_SUBJECTS; s++)
        if (score[s] > score[best])
            best = (enum lab_subject)s;
    if (score[best] < 3)
        return LAB_SUBJECT_NONE;
    return lab_subject_shares(best, label) ? label : best;
}

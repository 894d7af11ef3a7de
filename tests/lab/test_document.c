/* SPDX-License-Identifier: MIT */
/* Passages of documents, the questions they belong to, and formulas in plain text. */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "lab/reading/document.h"

static char printed[4096];

/* "question line kind text" of each passage, kinds as H, S, F and D (display). */
static const char *passages(const char *source)
{
    struct lab_document document;
    size_t length = 0;

    printed[0] = 0;
    if (!lab_document_open(&document, source, strlen(source)))
        for (int p = 0; p < document.count && length < sizeof printed; p++) {
            const struct lab_passage *const passage = &document.passage[p];
            const char kind = passage->kind == LAB_PASSAGE_HEADING    ? 'H'
                              : passage->kind == LAB_PASSAGE_SENTENCE ? 'S'
                              : passage->display                      ? 'D'
                                                                      : 'F';
            length += (size_t)snprintf(
                printed + length, sizeof printed - length, "%s %d %c %.*s\n",
                *passage->question ? passage->question : "-", passage->line, kind,
                (int)(passage->end - passage->begin), source + passage->begin);
        }
    lab_document_close(&document);
    return printed;
}

#define READS(source, expected)                                                          \
    do {                                                                                 \
        const char *const got = passages(source);                                        \
        CHECK(!strcmp(got, expected), "%s\nis read as\n%s", source, got);                \
    } while (0)

TEST(sentences_and_formulas)
{
    READS("Let $q = C k_a$. Then, e.g. for $n = 2$,\nthe score is large; so $$c \\approx "
          "v_a$$\nholds: it is a copy.\n",
          "- 1 S Let $q = C k_a$\n"
          "- 1 F q = C k_a\n"
          "- 1 S Then, e.g. for $n = 2$,\nthe score is large\n"
          "- 1 F n = 2\n"
          "- 2 S so\n"
          "- 2 D c \\approx v_a\n"
          "- 3 S holds\n"
          "- 3 S it is a copy\n");
    READS("A \\(x = 1\\) and\n\\[\n y = 2\n\\]\n\\begin{align*}a &= b\\\\\n &= "
          "c\\end{align*}",
          "- 1 S A \\(x = 1\\) and\n"
          "- 1 F x = 1\n"
          "- 3 D y = 2\n"
          "- 5 D a &= b\\\\\n &= c\n");
    /* One formula in two pairs of dollars: a bracket is open at the first end. */
    READS("$= C(a$  \n$+ b)$ $= d$", "- 1 S $= C(a$  \n$+ b)$ $= d$\n"
                                     "- 1 F = C(a$  \n$+ b)\n"
                                     "- 2 F = d\n");
    READS("It costs 5$ only.\n\n```\nq = 1\n```\n~~No~~ yes",
          "- 1 S It costs 5$ only\n- 6 S ~~No~~ yes\n");
}

TEST(sources_of_latex)
{
    READS("\\documentclass{article}\n% q = 0\n\\newcommand{\\x}{$y$}\n\\begin{document}\n"
          "\\section*{Attention exploration}\n"
          "\\begin{enumerate}[label=(\\alph*)]\n\\item\n"
          "\\begin{enumerate}[label=\\roman*.]\n\\item $a > 0$ % $b$\n\\item $c$\n"
          "\\end{enumerate}\n\\item\n\\begin{enumerate}\n\\item $M$\n\\item $q$\n"
          "\\end{enumerate}\n\\end{enumerate}\n"
          "\\subsection{(c) i.} $k$\n\\paragraph{ii} $l$\n\\end{document}\n",
          "- 5 H Attention exploration\n"
          "1a-i 9 S $a > 0$\n1a-i 9 F a > 0\n"
          "1a-ii 10 S $c$\n1a-ii 10 F c\n"
          "1b-i 14 S $M$\n1b-i 14 F M\n"
          "1b-ii 15 S $q$\n1b-ii 15 F q\n"
          "1c-i 18 H (c) i.\n1c-i 18 S $k$\n1c-i 18 F k\n"
          "1c-ii 19 H ii\n1c-ii 19 S $l$\n1c-ii 19 F l\n");
}

/* The question of the last passage. */
static const char *question(const char *source)
{
    static char last[8];
    struct lab_document document;

    last[0] = 0;
    if (!lab_document_open(&document, source, strlen(source)) && document.count)
        memcpy(last, document.passage[document.count - 1].question, sizeof last);
    lab_document_close(&document);
    return last;
}

TEST(labels)
{
    static const struct {
        const char *source, *question;
    } cases[] = {
        {"(a) - i)\n\nx", "1a-i"},
        {"(a) i)\n\nx\n\nii) y", "1a-ii"},
        {"- (a) i All of them\n- ii When it\n- iii Then it", "1a-iii"},
        {"a)\n\n- i. x\n- ii. y\n- iii. z\n- iv. w", "1a-iv"},
        {"(b) ii. x", "1b-ii"},
        {"### b)\n\n**ii)** x", "1b-ii"},
        {"**(d) i.** x", "1d-i"},
        {"(C) - ii)\n\nx", "1c-ii"},
        {"c) Drawbacks\n\n1.\n\nx\n\n2. To restate it", "1c-ii"},
        {"Question 1 (c) ii: x", "1c-ii"},
        {"## Question 1 (c) ii\n\nx", "1c-ii"},
        {"Q1b ii) x", "1b-ii"},
        {"Q2\n\n(b) i) x", "2b-i"},
        {"Part c\n\ni. x", "1c-i"},
        {"1. Attention exploration\n\n(d)\n\ni. x\n\nii. y", "1d-ii"},
        {"2 Attention Exploration\n\na) x\n\nb)\n\ni) y", "1b-i"},
        {"# 2. Position embeddings\n\n(a) ii. x", "2a-ii"},
        {"(e) x", "1e"},
        {"**1(b)**\n**ii.** x", "1b-ii"},
        {"1b)\n\n(i) x\n (ii) c = 1", "1b-ii"},
        {"**2(a)** ii. x", "2a-ii"},
        {"Exercise 1\n----------\n(d) ii) x", "1d-ii"},
        {"(c) = 1", ""},
        {"(c) ii. x\n\nob i.\n\ny", "1d-i"},
        {"(c) ii. x\n\n(3)\n\ny", "1c-ii"},
        {"(d) i. x\n\n1. first\n2. then", "1d-i"},
        {"1.1 Copying in Attention\n\n(c)\n\nx", "1a-iii"},
        {"1.2 Average in Attention\n\n(a)\n\nx", "1b-ii"},
        {"1.3 Permutation Equivariance\n\n- 1. x\n- 2. y", "2a-i"},
        {"2 Multi-Headed Attention\n\n2.1 Drawbacks of Single-Headed\n\n(b)\n\nx",
         "1c-ii"},
        {"2.2 Benefits of Multi-Headed Attention\n\n(a)\n\nx", "1d-i"},
        {"## Single-head noise\n\n(a) x\n\n(b) y", "1c-ii"},
        {"### b) Query input for attention to return average\n\nx", "1b-ii"},
        {"### a) Attention input for identity\n\nmuch greater than", "1a-ii"},
        {"(b)\n\nLet $q = k_a + k_b$", "1b-ii"},
        {"(b)\n\nLet $M v_a = v_a$", "1b-i"},
        {"(c)\n\n$x$", "1c-i"},
        {"(c) i. $x$\n\nThe length fluctuates.", "1c-ii"},
        {"q1 = C mu_a, so", ""},
        {"(a + b) is a sum", ""},
        {"I think so. a good key", ""},
        {"1. First, x", ""},
        {"In part (a), x", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK(!strcmp(question(cases[i].source), cases[i].question),
              "%s\nbelongs to \"%s\"", cases[i].source, question(cases[i].source));
}

/* The formulas of a line of plain text, with " | " between them. */
static const char *formulas(const char *source)
{
    struct lab_document document;
    size_t length = 0;

    printed[0] = 0;
    if (!lab_document_open(&document, source, strlen(source)))
        for (int p = 0; p < document.count; p++) {
            const struct lab_passage *const passage = &document.passage[p];
            if (passage->kind == LAB_PASSAGE_FORMULA)
                length += (size_t)snprintf(printed + length, sizeof printed - length,
                                           "%s%.*s", length ? " | " : "",
                                           (int)(passage->end - passage->begin),
                                           source + passage->begin);
        }
    lab_document_close(&document);
    return printed;
}

TEST(plain_text)
{
    static const struct {
        const char *source, *formulas;
    } cases[] = {
        {"We need k_i^T q >> k_j^T q for all i != j.", "k_i^T q >> k_j^T q | i != j"},
        {"Take q = beta (k_a + k_b), where beta >> 0.",
         "q = beta (k_a + k_b) | beta >> 0"},
        {"It is exp(c)/(2exp(c)+n-2) then", "exp(c)/(2exp(c)+n-2)"},
        {"so α_a ≈ 0.5 and α_b ≈ 0.5.", "α_a ≈ 0.5 | α_b ≈ 0.5"},
        {"where α_a, α_b ≈ 1/2 holds", "α_a, α_b ≈ 1/2"},
        {"for i = 1, ..., n we", "i = 1, ..., n"},
        {"if i != a, b it", "i != a, b"},
        {"(whenever i ≠ a)", "i ≠ a"},
        {"M = A A^T because A^T A = I and", "M = A A^T | A^T A = I"},
        {"M (v_a + v_b) = A A^T A c = v_a", "M (v_a + v_b) = A A^T A c = v_a"},
        {"γ ~ N(1, 1/2), k_a = γ μ_a", "γ ~ N(1, 1/2) | k_a = γ μ_a"},
        {"as <q, k_a> = C it", "<q, k_a> = C"},
        {"c = Σᵢ αᵢ vᵢ", "c = Σᵢ αᵢ vᵢ"},
        {"\\mu_a^T \\mu_b = 0 by", "\\mu_a^T \\mu_b = 0"},
        {"the key k_a and the query q", ""},
        {"a well-known key-value pair, I think - a good one", ""},
        {"see (a-i), and/or w/o it, 2-3 times", ""},
        {"A key and a query are 5 - 3 apart", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK(!strcmp(formulas(cases[i].source), cases[i].formulas), "%s\nhas %s",
              cases[i].source, formulas(cases[i].source));
}

TEST(any_bytes)
{
    static const char *const parts[] = {"(a) i)\n", "$a ",    "\\[",   "\\begin{align}",
                                        "```\n",    "a + b ", "((a +", "\\item ",
                                        "word. ",   "\xff",   "\n",    "# x\n"};
    const size_t size = (size_t)1 << 17;
    char *const auto_free source = malloc(size + 1);
    struct lab_document document;

    CHECK(source, "memory");
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        const size_t length = strlen(parts[p]);
        for (size_t i = 0; i < size; i++)
            source[i] = parts[p][i % length];
        source[size] = 0;
        const int status = lab_document_open(&document, source, size);
        for (int k = 0; k < document.count; k++)
            CHECK(document.passage[k].end <= size, "%s: beyond the end", parts[p]);
        lab_document_close(&document);
        CHECK(!status, "%s", parts[p]);
    }
    CHECK(!lab_document_open(&document, "", 0) && !document.count, "empty");
    lab_document_close(&document);
}

/* SPDX-License-Identifier: MIT */
/* A marked solution as HTML: escaped, well formed, every claim with its mark and note. */
#define _POSIX_C_SOURCE 200809L
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/figures/tex.h"
#include "lab/figures/text.h"
#include "lab/marks/marks.h"

enum { CLAIMS = 12 };

static struct lab_read_claim claims[CLAIMS];
static struct lab_marked marked;
static char *shown;

/* An empty reading of `source`. */
static void read_nothing(const char *source)
{
    memset(claims, 0, sizeof claims);
    marked = (struct lab_marked){
        .name = "folder/a<b.md",
        .source = source,
        .size = strlen(source),
        .reading = {.claim = claims},
    };
}

/* Adds the claim of bytes begin .. end. */
static struct lab_read_claim *add_range(size_t begin, size_t end,
                                        enum lab_read_verdict verdict)
{
    struct lab_read_claim *const claim = &claims[marked.reading.claims++];
    claim->verdict = verdict;
    claim->begin = begin;
    claim->end = end;
    claim->line = 1;
    for (size_t at = 0; at < begin; at++)
        claim->line += marked.source[at] == '\n';
    claim->computed = claim->expected = NAN;
    snprintf(claim->quote, sizeof claim->quote, "%.*s", (int)(end - begin),
             marked.source + begin);
    snprintf(claim->evidence, sizeof claim->evidence, "evidence %d",
             marked.reading.claims);
    return claim;
}

/* Adds the claim of a passage of the source. */
static struct lab_read_claim *add(const char *passage, enum lab_read_verdict verdict)
{
    const char *const at = strstr(marked.source, passage);
    if (!at)
        exit(2);
    const size_t begin = (size_t)(at - marked.source);
    return add_range(begin, begin + strlen(passage), verdict);
}

static const char *show(int (*write)(FILE *out))
{
    static size_t size;
    free(shown);
    shown = NULL;
    FILE *const out = open_memstream(&shown, &size);
    if (!out || write(out) || fclose(out))
        exit(2);
    return shown;
}

static int write_section(FILE *out) { return lab_marks_section(&marked, 1, out); }
static int write_page(FILE *out) { return lab_marks_page(&marked, 1, out); }

static int count(const char *text, const char *part)
{
    int found = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        found++;
    return found;
}

/* "" or what is wrong: a tag that is not closed in its turn, or a bare '&' or '<'. */
static const char *fault(const char *text)
{
    static char wrong[60];
    static char open[200][12];
    int depth = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '&' && !memchr(at, ';', strnlen(at, 10)))
            return "a bare &";
        if (*at != '<')
            continue;
        const int closes = at[1] == '/';
        const size_t name = strcspn(at + 1 + closes, " />");
        const char *const end = strchr(at, '>');
        if (!end || name == 0 || name >= sizeof open[0] || depth == 200)
            return "a bare <";
        if (end[-1] != '/' && !closes && strncmp(at, "<meta", 5)) {
            memcpy(open[depth], at + 1, name);
            open[depth++][name] = 0;
        }
        snprintf(wrong, sizeof wrong, "%.50s", at);
        if (closes && (depth == 0 || strlen(open[depth - 1]) != name ||
                       memcmp(open[--depth], at + 2, name)))
            return wrong;
        at = end;
    }
    return depth ? open[depth - 1] : "";
}

TEST(words_and_formulas_are_marked)
{
    read_nothing("# Part <1>\n\nLet $q = \\beta (k_a + k_b)$. So c is <b>stable</b>.\n"
                 "$$\\alpha_a = \\frac{1}{2}$$\n");
    add("c is <b>stable</b>", LAB_READ_FALSE);
    struct lab_read_claim *const slip = add("\\alpha_a = \\frac{1}{2}", LAB_READ_SLIP);
    snprintf(slip->repair, sizeof slip->repair, "m for n");
    show(write_section);
    CHECK(!*fault(shown), "%s", fault(shown));
    CHECK(strstr(shown, "<h2>a&lt;b.md</h2>"), "%s", shown);
    CHECK(strstr(shown, "role=\"heading\"") && strstr(shown, "Part &lt;1&gt;"), "%s",
          shown);
    CHECK(strstr(shown, "<span class=\"claim false\">c is &lt;b&gt;stable&lt;/b&gt;"),
          "%s", shown);
    CHECK(strstr(shown, "<span class=\"claim slip display set\""), "%s", shown);
    CHECK(strstr(shown, "<mfrac>") && !strstr(shown, "<b>stable"), "%s", shown);
    CHECK(strstr(shown, "<details class=\"remark false\" id=\"s1-c1\" open>"), "%s",
          shown);
    CHECK(strstr(shown, "<b>slip:</b> m for n"), "%s", shown);
    CHECK(strstr(shown, "id=\"s1-L4\"") && !strstr(shown, "id=\"s1-L2\""), "%s", shown);
}

TEST(claims_within_claims)
{
    read_nothing("so alpha falls, so c moves.\n");
    add("so alpha falls, so c moves", LAB_READ_TRUE);
    add("alpha falls", LAB_READ_FALSE);
    show(write_section);
    CHECK(strstr(shown, "<span class=\"claim true\">so </span><span class=\"claim "
                        "false\">alpha falls</span><span class=\"claim true\">, so c "
                        "moves</span>"),
          "%s", shown);
}

TEST(true_claims_of_a_line_share_a_note)
{
    read_nothing("a, b, c, d\n");
    for (const char *one = "abc"; *one; one++)
        add((const char[]){*one, 0}, LAB_READ_TRUE);
    add("d", LAB_READ_LIMIT);
    show(write_section);
    CHECK(count(shown, "<details class=\"remark true\"") == 1, "%s", shown);
    CHECK(strstr(shown, "\u00d7\u20093"), "%s", shown);
    CHECK(count(shown, "evidence ") == 4, "%s", shown);
    CHECK(strstr(shown, "<details class=\"remark limit\" id=\"s1-c4\"><"), "%s", shown);
}

TEST(a_formula_over_lines_is_one_block)
{
    read_nothing("$$a\n= b\n$$\nend\n");
    struct lab_read_claim *const claim = add("a\n= b", LAB_READ_TRUE);
    show(write_section);
    CHECK(lab_marks_last_line(&marked, claim) == 2, "%d",
          lab_marks_last_line(&marked, claim));
    CHECK(count(shown, "<div class=\"words\"") == 2, "%s", shown);
    CHECK(strstr(shown, "<i id=\"s1-L2\"></i><i id=\"s1-L3\"></i>"), "%s", shown);
    CHECK(strstr(shown, "id=\"s1-L4\""), "%s", shown);
}

TEST(tex_that_is_unknown_is_shown_as_source)
{
    static const char *const sources[] = {
        "\\unknown{x}", "\\frac{a",
        "a}",           "\\begin{tikzpicture}\\end{tikzpicture}",
        "\\left( a",    "\\left( a } \\right)"};
    static const char *const known[] = {"\\left( \\frac{a}{b} \\right)",
                                        "\\begin{cases} a & b \\\\ c & d \\end{cases}",
                                        "\\mathcal{N}(0, 1)",
                                        "\\tilde{k}_a^\\top q",
                                        "\\underbrace{A^\\top A}_{I}",
                                        "a &= b \\\\ &= c",
                                        "\\text{for all } i",
                                        ""};
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        CHECK(!lab_tex_is_known(sources[i], strlen(sources[i])), "%s", sources[i]);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK(lab_tex_is_known(known[i], strlen(known[i])), "%s", known[i]);
    read_nothing("$\\unknown{x}$ and $y$\n");
    show(write_section);
    CHECK(strstr(shown, "<code>$\\unknown{x}$</code>"), "%s", shown);
    CHECK(count(shown, "<math") == 1, "%s", shown);
}

TEST(markup_of_latex_is_not_text)
{
    read_nothing(
        "\\begin{document}\n\\section*{Part \\& a}\n\\item one\n\\itemize two\n");
    show(write_section);
    CHECK(strstr(shown, "<div class=\"words faint\" id=\"s1-L1\"><span class=\"no\">1 "
                        "</span><span class=\"\">\\begin{document}</span>"),
          "%s", shown);
    CHECK(strstr(shown, "aria-level=\"3\"><span class=\"no\">2 </span><span "
                        "class=\"\">Part \\&amp; a</span></div>"),
          "%s", shown);
    CHECK(strstr(shown, "</span>\u2022 <span class=\"\"> one</span>"), "%s", shown);
    CHECK(strstr(shown, "\\itemize two"), "%s", shown);
}

TEST(emphasis_is_not_a_product)
{
    read_nothing("beta*(k_a)*2 and **Note** and *this* and ~~that~~ and 2 * 3 * 4\n");
    show(write_section);
    CHECK(strstr(shown, "beta*(k_a)*2") && strstr(shown, "2 * 3 * 4"), "%s", shown);
    CHECK(strstr(shown, "<span class=\" strong\">Note</span>"), "%s", shown);
    CHECK(strstr(shown, "<span class=\" slanted\">this</span>"), "%s", shown);
    CHECK(strstr(shown, "<span class=\" struck\">that</span>"), "%s", shown);
}

TEST(the_summary_has_everything)
{
    struct lab_read_letter letter = {"beta", "scale of q", 1};
    struct lab_read_conflict conflicts[] = {{{0, 1}, "Line 1 and line 2: not both"},
                                            {{1, -1}, "an outline 7"}};
    struct lab_read_points points = {"1b-ii", 1.5, 3, "the limit is right"};
    read_nothing("one\ntwo\n");
    add("one", LAB_READ_TRUE);
    add("two", LAB_READ_FALSE);
    struct lab_reading *const reading = &marked.reading;
    reading->letter = &letter;
    reading->conflict = conflicts;
    reading->question = &points;
    reading->letters = reading->questions = 1;
    reading->conflicts = 2;
    reading->points = 1.5;
    reading->of = 3;
    reading->formulas = 41;
    reading->formulas_read = 34;
    show(write_page);
    const char *const page = shown + strlen("<!DOCTYPE html>");
    CHECK(!*fault(page), "%s", fault(page));
    CHECK(strstr(shown, "1.5\u202f/\u202f3") && strstr(shown, "34\u202f/\u202f41"), "%s",
          shown);
    CHECK(strstr(shown, "<li><a href=\"#s1-L1\">Line 1</a> and <a href=\"#s1-L2\">line "
                        "2</a>: not both</li>"),
          "%s", shown);
    CHECK(strstr(shown, "<li>an outline 7</li>"), "%s", shown);
    CHECK(strstr(shown, "scale of q") && strstr(shown, "the limit is right"), "%s",
          shown);
    CHECK(!strstr(shown, "<script") && !strstr(shown, "http:") &&
              !strstr(shown, "https:"),
          "a request or a script");
}

/* Whatever the source and its claims are, the section is well formed. */
TEST(any_source_is_well_formed)
{
    static const char *const pieces[] = {"$",
                                         "$$",
                                         "\\(",
                                         "\\)",
                                         "\\[",
                                         "\\]",
                                         "\\begin{cases}",
                                         "\\end{cases}",
                                         "\\\\",
                                         "&",
                                         "<",
                                         ">",
                                         "\"",
                                         "'",
                                         "**",
                                         "*",
                                         "~~",
                                         "\n",
                                         "# ",
                                         "- ",
                                         "{",
                                         "}",
                                         "_",
                                         "^",
                                         "\\frac",
                                         "a",
                                         "b ",
                                         "1",
                                         "\\left(",
                                         "\\right)",
                                         "\\text{",
                                         "\u03b1",
                                         "\xff",
                                         "\t",
                                         "\r\n",
                                         "\\mathbb{R}",
                                         "\\sqrt",
                                         "\\unknown",
                                         "\\",
                                         "%"};
    uint64_t state = test_seed();
    for (int64_t round = 0; round < test_count(300); round++) {
        char source[600];
        size_t used = 0;
        source[0] = 0;
        while (used < sizeof source - 20) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const char *const piece =
                pieces[(state >> 33) % (sizeof pieces / sizeof pieces[0])];
            used += (size_t)snprintf(source + used, sizeof source - used, "%s", piece);
        }
        read_nothing(source);
        for (size_t at = 0; marked.reading.claims < CLAIMS;) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            at += (state >> 33) % 60;
            const size_t end = at + 1 + (state >> 40) % 90;
            if (end > used)
                break;
            add_range(at, end, (enum lab_read_verdict)((state >> 50) % 6));
        }
        show(write_section);
        CHECK(!*fault(shown), "round %d: %s\n%s", (int)round, fault(shown), source);
        int explained = 0;
        for (int c = 1; c <= marked.reading.claims; c++) {
            char id[20];
            snprintf(id, sizeof id, "id=\"s1-c%d\"", c);
            explained += count(shown, id) == 1;
        }
        CHECK(explained == marked.reading.claims, "%d of %d claims are explained\n%s",
              explained, marked.reading.claims, source);
    }
}

int main(void)
{
    test_run_all();
    free(shown);
    return test_finish();
}

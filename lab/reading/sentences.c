/* SPDX-License-Identifier: MIT */
/*
 * Claims in words: a grammar of the sentences of this exercise.  A sentence that no rule
 * covers is not read.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/reading/sections.h"

enum { TOKENS = 160, TOKEN = 96 };

struct token {
    char text[TOKEN]; /* a word in lower case, or a formula without blanks */
    int formula;
    size_t begin;
};

struct sentence {
    int count;
    struct token token[TOKENS];
};

/* ---- tokens -------------------------------------------------------------------------
 */

static int is_word_byte(const char *text, size_t at, size_t end)
{
    const unsigned char c = (unsigned char)text[at];
    (void)end;
    return isalnum(c) || c == '_' || c >= 0x80;
}

static void add_token(struct sentence *to, const char *source, size_t begin, size_t end,
                      int formula)
{
    if (to->count == TOKENS || begin >= end)
        return;
    struct token *const token = &to->token[to->count];
    lab_squeeze(source, begin, end, token->text, TOKEN);
    token->begin = begin;
    /* "k_a's", "doesn't" with either apostrophe. */
    for (char *quote; (quote = strstr(token->text, "\xe2\x80\x99")) != NULL;) {
        *quote = '\'';
        memmove(quote + 1, quote + 3, strlen(quote + 3) + 1);
    }
    const size_t length = strlen(token->text);
    if (length > 2 && !strcmp(token->text + length - 2, "'s"))
        token->text[length - 2] = 0;
    /* A letter with an index, or a Greek one, is a formula. */
    token->formula = formula || strchr(token->text, '_') ||
                     ((unsigned char)source[begin] >= 0x80 && token->text[0] &&
                      isalpha((unsigned char)token->text[0]));
    if (!token->formula)
        for (char *at = token->text; *at; at++)
            *at = (char)tolower((unsigned char)*at);
    if (*token->text)
        to->count++;
}

/* The sentence that goes on after a comma at the end of this one, or -1. */
static int goes_on(const struct lab_document *document, int passage)
{
    const struct lab_passage *const p = &document->passage[passage];
    size_t end = p->end;
    while (end > p->begin && isspace((unsigned char)document->source[end - 1]))
        end--;
    if (end == p->begin || document->source[end - 1] != ',')
        return -1;
    for (int next = passage + 1; next < document->count; next++)
        if (document->passage[next].sentence != passage) {
            const struct lab_passage *const n = &document->passage[next];
            return n->kind == LAB_PASSAGE_SENTENCE && n->line <= p->last_line + 2 &&
                           islower((unsigned char)document->source[n->begin])
                       ? next
                       : -1;
        }
    return -1;
}

static void add_tokens(const struct lab_document *document, int passage,
                       struct sentence *to)
{
    const struct lab_passage *const p = &document->passage[passage];
    const char *const source = document->source;
    int next = passage + 1;
    for (size_t at = p->begin; at < p->end;) {
        while (next < document->count && (document->passage[next].sentence != passage ||
                                          document->passage[next].end <= at))
            if (document->passage[next].begin > p->end &&
                document->passage[next].sentence != passage)
                break;
            else
                next++;
        const struct lab_passage *const f =
            next < document->count && document->passage[next].sentence == passage
                ? &document->passage[next]
                : NULL;
        if (f && f->begin <= at) {
            add_token(to, source, f->begin, f->end, 1);
            at = f->end > at ? f->end : at + 1;
            continue;
        }
        const size_t stop = f && f->begin < p->end ? f->begin : p->end;
        if (!is_word_byte(source, at, stop)) {
            at++;
            continue;
        }
        size_t end = at;
        while (end < stop &&
               (is_word_byte(source, end, stop) ||
                ((source[end] == '\'' || source[end] == '-') && end + 1 < stop &&
                 isalpha((unsigned char)source[end + 1]))))
            end++;
        add_token(to, source, at, end, 0);
        at = end;
    }
}

static void tokenize(const struct lab_document *document, int passage,
                     struct sentence *to)
{
    const int next = goes_on(document, passage);
    to->count = 0;
    add_tokens(document, passage, to);
    if (next >= 0)
        add_tokens(document, next, to);
}

/* ---- patterns -----------------------------------------------------------------------
 */

/* Formulas by their looks: their squeezed text is one of these. */
static const struct {
    const char *name, *looks; /* alternatives; '?' is an index, '*' anything after */
} classes[] = {
    {"@c", "c|C|output|outputs"},
    {"@c1", "c_1|C_1|head1"},
    {"@c2", "c_2|C_2|head2"},
    {"@va", "v_a|V_a|N_a"},
    {"@vb", "v_b|V_b|N_b"},
    {"@vj", "v_?|V_?|value|values"},
    {"@ka", "k_a"},
    {"@kx", "k_?"},
    {"@mux", "mu_?|m_?"},
    {"@mub", "mu_b|m_b"},
    {"@wa", "alpha_a|w_a|p_a|weight|weights"},
    {"@w", "alpha_?|alpha|w_?|p_?|weight|weights"},
    {"@score", "k_?^Tq|k_?*q|s_?|S_?|score|scores"},
    {"@sa", "k_a^Tq|s_a|S_a"},
    {"@scores", "k_a^Tqapproxk_b^Tq|k_a^Tq=k_b^Tq|s_aapproxs_b|s_a=s_b|S_aapproxS_b"},
    {"@q", "q|query"},
    {"@q1", "q_1"},
    {"@q2", "q_2"},
    {"@exp0", "exp(0)*|e^0*|1"},
    {"@f", "*"},
};

static int looks_like(const char *text, const char *look, size_t length)
{
    size_t t = 0;
    for (size_t i = 0; i < length; i++) {
        if (look[i] == '*' && i + 1 == length)
            return 1;
        if (look[i] == '?') {
            if (!isalpha((unsigned char)text[t]))
                return 0;
            t++;
            continue;
        }
        if (text[t] != look[i])
            return 0;
        t++;
    }
    return text[t] == '\0';
}

static int in_alternatives(const char *text, const char *alternatives, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t length = 0;
        while (at + length < size && alternatives[at + length] != '|')
            length++;
        if (looks_like(text, alternatives + at, length))
            return 1;
        at += length + 1;
    }
    return 0;
}

/* One element of a pattern, "larger|bigger" or "@ka", against a token. */
static int matches(const struct token *token, const char *element, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t length = 0;
        while (at + length < size && element[at + length] != '|')
            length++;
        if (element[at] == '@') {
            for (size_t c = 0; c < sizeof classes / sizeof classes[0]; c++)
                if (strlen(classes[c].name) == length &&
                    !memcmp(classes[c].name, element + at, length) &&
                    (token->formula || strcmp(classes[c].name, "@f")) &&
                    in_alternatives(token->text, classes[c].looks,
                                    strlen(classes[c].looks)))
                    return 1;
        } else if (looks_like(token->text, element + at, length)) {
            return 1;
        }
        at += length + 1;
    }
    return 0;
}

enum { GAP = 5 };

/*
 * Elements in order, at most GAP tokens between two; "~12" before an element allows for
 * 12.  `from` is where the first may stand.  The place of the first, or -1.
 */
static int find_pattern(const struct sentence *sentence, const char *pattern, int from,
                        int gap, int *first, int *last)
{
    while (*pattern == ' ')
        pattern++;
    if (!*pattern)
        return 1;
    if (*pattern == '~') {
        gap = 0;
        for (pattern++; isdigit((unsigned char)*pattern); pattern++)
            gap = 10 * gap + *pattern - '0';
        while (*pattern == ' ')
            pattern++;
    }
    const size_t size = strcspn(pattern, " ");
    for (int i = from; i < sentence->count && i <= from + gap; i++) {
        if (!matches(&sentence->token[i], pattern, size))
            continue;
        int ignored = i;
        *last = i;
        if (find_pattern(sentence, pattern + size, i + 1, GAP, &ignored, last)) {
            *first = i;
            return 1;
        }
    }
    return 0;
}

/* ---- rules
 * ------------------------------------------------------------------------------ */

#define ON(subject) (1u << LAB_SUBJECT_##subject)
#define SINGLE (ON(NOISE) | ON(MAGNITUDE))
#define HEADS (ON(HEADS) | ON(BOTH))
#define ANY (~0u)

#define GROWS_COPY "C (cos(0.1) k_a + sin(0.1) k_b)"

struct rule {
    unsigned on; /* subjects */
    const char *pattern;
    const char *text;
    const char *query, *second, *rival;
    const char *grows;
    int negative;        /* the pattern has the negation itself */
    enum lab_subject as; /* the claim belongs there; NONE: where it stands */
    const char *exact;
    const struct lab_argument *argument;
    const char *shown;
    int topic;         /* enum lab_topic */
    const char *found; /* the answer that it is; NULL: its text */
};

static const struct lab_argument independence = {
    .given = "k_a = mu_a + sqrt(alpha) u and k_b = mu_b + rho sqrt(alpha) u + sqrt((1 - "
             "rho^2) alpha) w, u and w standard normal",
    .letter = "rho",
    .of = {"0", "0.5", "1", "-1"},
    .premise = "norm((rho sqrt(alpha) I) (rho sqrt(alpha) I)^T + (1 - rho^2) alpha I - "
               "alpha I)/alpha",
    .conclusion = "norm((sqrt(alpha) I) (rho sqrt(alpha) I)^T)/norm(alpha I)"};

static const struct lab_argument different_queries = {
    .given = "another query than q_1, r the correlation of the outputs",
    .letter = "q_2",
    .of = {"mu_b", "mu_a - mu_b", "2 mu_a"},
    .head = {"mu_a", "q_2"},
    .premise = "1 - norm(mu_a - q_2)/norm(mu_a - q_2)",
    .conclusion = "abs(r)"};

static const struct lab_argument both_conditions = {
    .given = "M v_a = v_a and M v_b = 0",
    .letter = "M",
    .of = {"I", "A A^T", "v_a v_a^T/(v_a^T v_a)", "A A^T + 50 (I - A A^T - B B^T)"},
    .premise = "norm(M v_a - v_a) + norm(M v_b)",
    .conclusion = "norm(M (v_a + v_b) - v_a)"};

static const struct rule rules[] = {
    /* Copying. */
    {.on = ON(COPY),
     .pattern = "@score ~9 greater|larger|bigger|higher than|compared ~4 "
                "@score|other|others|all|any|every",
     .text = "c ~ v_a",
     .query = "C k_a",
     .grows = "the gap",
     .exact = "A gap of ln((n-1)(1-eps)/eps) gives the weight 1 - eps."},
    {.on = ON(COPY),
     .pattern = "much|significantly|far ~0 larger|greater|bigger|higher ~2 @score ~12 "
                "concentrates|weight|copy|distribution|probability",
     .text = "c ~ v_a",
     .query = "C k_a",
     .grows = "the gap"},
    {.on = ON(COPY) | ON(NONE),
     .pattern = "@q ~6 align*|similar|close|closest ~8 key|keys|@kx ~24 "
                "copy|copies|copying|identical|dominated|dominates|lookup|larger|weight",
     .text = "c ~ v_a",
     .query = GROWS_COPY,
     .found = "aligned",
     .grows = "|q|",
     .exact = "With orthonormal keys, and |q| large enough for a gap of "
              "ln((n-1)(1-eps)/eps): direction alone does not do it."},
    {.on = ON(COPY),
     .pattern = "@c ~6 copy|identical ~6 @vj",
     .text = "c ~ v_a",
     .query = "C k_a",
     .grows = "the gap"},
    {.on = ON(COPY),
     .pattern = "@w ~2 for ~3 other|others|index ~4 is|are|be ~1 0|zero|negligible",
     .text = "alpha_b + rest = 0",
     .query = "C k_a",
     .grows = "the gap"},
    {.on = ON(COPY),
     .pattern = "non-negative|nonnegative|positive ~9 sum*|summation|add* ~4 1|one",
     .text = "p_least >= 0; sum_p = 1",
     .topic = LAB_TOPIC_ROW,
     .grows = "C",
     .exact = "Weights are positive and add up to 1, for any finite scores."},
    {.on = ON(COPY),
     .pattern = "@q ~5 more ~0 similar|aligned|close|closer ~2 @kx|key ~3 than",
     .text = "c ~ v_a",
     .query = GROWS_COPY,
     .found = "aligned",
     .grows = "|q|"},
    {.on = ON(COPY),
     .pattern =
         "score|product|similarity ~6 @kx|key ~6 larger|greater|higher|bigger than",
     .text = "c ~ v_a",
     .query = "C k_a",
     .found = "condition",
     .grows = "the gap"},
    /* Extraction. */
    {.on = ON(EXTRACT),
     .pattern = "construct|find|need|want|require|choose|satisf*|that ~9 Mv_a=v_a|@f ~3 "
                "Mv_b=0",
     .argument = &both_conditions,
     .shown = "M v_a = v_a and M v_b = 0, therefore M (v_a + v_b) = v_a",
     .topic = LAB_TOPIC_BASIS},
    /* The average. */
    {.on = ON(AVERAGE) | ON(NOISE),
     .pattern = "exp(0)*|e^0* ~4 insignificant|negligible|small|vanish*|irrelevant",
     .text = "rest ~ 0",
     .exact = "There are n - 2 terms exp(0): the scale less ln n must be large."},
    {.on = ON(AVERAGE) | ON(COPY),
     .pattern = "keys ~2 are|is ~3 orthogonal|orthonormal|perpendicular",
     .text = "k_a^T k_b = 0"},
    /* One head under noise. */
    {.on = SINGLE | HEADS,
     .pattern = "not|un ~0 correlated ~1 therefore|thus|hence|so|and|implies|means ~2 "
                "independent",
     .argument = &independence,
     .negative = 1,
     .shown = "Sigma_i = alpha I, therefore k_a and k_b are independent",
     .exact = "The covariance of each key says nothing about two keys together."},
    {.on = SINGLE | HEADS,
     .pattern =
         "uncorrelated ~2 therefore|thus|hence|so|and|implies|means ~2 independent",
     .argument = &independence,
     .shown = "Sigma_i = alpha I, therefore k_a and k_b are independent",
     .exact = "The covariance of each key says nothing about two keys together."},
    {.on = SINGLE | HEADS,
     .pattern = "k_b ~6 same direction ~1 as|with|of k_a",
     .text = "k_a^T k_b/(norm(k_a) norm(k_b)) = 1",
     .exact = "k_a lies along mu_a and k_b along mu_b, which are perpendicular."},
    {.on = SINGLE | HEADS,
     .pattern = "k_a ~6 same direction ~1 as|with|of mu_a|m_a",
     .text = "k_a^T mu_a/norm(k_a) = 1",
     .as = LAB_SUBJECT_MAGNITUDE},
    {.on = ON(MAGNITUDE),
     .pattern = "equally ~0 likely|probable ~8 closer ~3 @va ~3 @vb",
     .text = "P_closer = 1/2",
     .exact = "c is closer to v_a iff gamma > 1, at every n and C."},
    {.on = ON(MAGNITUDE),
     .pattern = "closer ~3 whichever ~7 bigger|larger|longer|greater",
     .text = "P_shorter = 0",
     .exact = "c is closer to v_a iff gamma > 1; the longer key wins unless gamma < -1."},
    {.on = ON(MAGNITUDE),
     .pattern = "@c ~4 fluctuat*|oscillat*|swing*|jump*|varies|vary|varying ~3 between "
                "@va ~2 @vb",
     .text = "off = 0; V_1 > V_still"},
    {.on = ON(MAGNITUDE),
     .pattern = "@c ~3 sometimes ~2 @va ~4 sometimes ~2 @vb",
     .text = "off = 0; V_1 > V_still"},
    {.on = ON(MAGNITUDE),
     .pattern = "@c ~2 always ~3 average",
     .text = "c ~ (v_a + v_b)/2",
     .exact = "c moves to v_a where gamma > 1, and to v_b where gamma < 1."},
    {.on = ON(MAGNITUDE),
     .pattern = "@c ~2 not|doesn't|never ~1 vary|change|fluctuate",
     .text = "V_1 = 0",
     .negative = 1,
     .exact = "c varies with the length of k_a."},
    {.on = ON(MAGNITUDE),
     .pattern = "@c ~2 stays|remains|is ~1 constant|stable|unchanged",
     .text = "V_1 = 0",
     .exact = "c varies with the length of k_a."},
    {.on = ON(MAGNITUDE),
     .pattern = "score ~2 @ka ~2 fluctuates|varies|changes",
     .text = "Var_s_a > 0"},
    {.on = ON(MAGNITUDE),
     .pattern = "@c ~6 vary|varies|varying|fluctuat*|unstable|changes",
     .text = "V_1 > V_still"},
    {.on = ON(MAGNITUDE),
     .pattern = "variance of @c ~2 increases|increase|grows|larger|higher|rises",
     .text = "V_1 > V_still"},
    {.on = ON(MAGNITUDE),
     .pattern =
         "when ~1 @ka ~2 larger|longer|bigger|greater ~6 @wa increases|grows|rises",
     .text = "P_lowered = 0",
     .query = "@",
     .second = "@+",
     .exact =
         "alpha_a increases with gamma; with the length of k_a only where gamma > 0."},
    {.on = ON(MAGNITUDE),
     .pattern = "when ~1 @ka ~2 smaller|shorter|less ~2 @wa decreases|falls|shrinks",
     .text = "P_lowered = 0",
     .query = "@",
     .second = "@+",
     .exact =
         "alpha_a increases with gamma; with the length of k_a only where gamma > 0."},
    {.on = ON(MAGNITUDE),
     .pattern = "isn't|not ~2 stable|robust",
     .text = "D_1 > high",
     .negative = 1,
     .exact =
         "The weight of v_a has a standard deviation of 0.1 or more from a C on that "
         "grows with n."},
    {.on = ON(MAGNITUDE),
     .pattern = "@sa ~3 fluctuat*|varies|vary",
     .text = "Var_s_a > 0"},
    {.on = SINGLE,
     .pattern = "q ~2 orthogonal|perpendicular ~3 other|others ~1 mu_?|means|keys",
     .text = "s_i ~ 0; c ~ (v_a + v_b)/2",
     .exact = "Orthogonality makes the other scores 0; the scores of a and b must exceed "
              "them."},
    {.on = SINGLE | HEADS,
     .pattern = "@scores ~1 doesn't|not|no|isn't ~1 hold|holds|true|longer|valid",
     .text = "D_gap > high",
     .negative = 1},
    {.on = HEADS,
     .pattern = "k_a and mu_b|m_b ~1 orthogonal|perpendicular",
     .text = "k_a^T mu_b = 0",
     .as = LAB_SUBJECT_BOTH},
    /* Two heads. */
    {.on = HEADS,
     .pattern = "@c1 ~3 fluctuat*|varies|vary",
     .text = "V_1 > 0",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "@c1 ~3 high|large ~0 variance",
     .text = "D_1 > high",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "@c1 ~2 unstable",
     .text = "D_1 > high",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "@c2 ~2 not|doesn't|never ~1 vary|change|fluctuate|depend",
     .text = "V_2 = 0",
     .negative = 1,
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "@c1 ~2 not|doesn't|never ~1 vary|change|fluctuate|depend",
     .text = "V_1 = 0",
     .negative = 1,
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "@c2 ~3 fluctuat*|varies|vary|unstable",
     .text = "V_2 > 0",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "both ~0 heads|outputs ~2 vary|fluctuate|change",
     .text = "V_1 > 0; V_2 > 0",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "@c1 and @c2 ~1 independent ~10 different",
     .argument = &different_queries,
     .found = "uncorrelated",
     .shown = "q_1 != q_2, therefore c_1 and c_2 are independent",
     .exact = "Heads see the same keys: their scores are independent iff q_1^T Sigma_i "
              "q_2 = 0 for all i."},
    {.on = HEADS,
     .pattern = "@c2 ~3 stable|constant|unaffected|unchanged|steady",
     .text = "V_2 = 0",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "@c2 ~4 close|near ~1 @vb",
     .text = "c_2 ~ v_b",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "noise ~2 @ka ~2 negligible|irrelevant|no ~3 @c2",
     .text = "V_2 = 0",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "@c1 and|, @c2 ~9 variability|vary|varies|fluctuate",
     .text = "V_1 > 0; V_2 > 0",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "@c ~2 varies|fluctuates|vary",
     .text = "V_c > 0",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "averag* ~5 reduc*|lower*|decreas*|smaller ~2 variance",
     .text = "V_c < V_1",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "reducing|reduces|reduce ~3 variance ~2 @c",
     .text = "V_c < V_1",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "fluctuations|variances|noise|errors ~7 cancel*",
     .text = "Cov_12 < 0",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern =
         "variance* ~4 smaller|lower|less|reduced ~1 than|to ~3 single-head*|single|one",
     .text = "V_c < V_one",
     .rival = "@",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "multi-head* ~5 stable|robust ~9 than|to single-head*",
     .text = "V_c < V_one",
     .rival = "@",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "robust* ~2 multi-head* ~9 to single-head*",
     .text = "V_c < V_one",
     .rival = "@",
     .as = LAB_SUBJECT_BOTH},
    {.on = HEADS,
     .pattern = "different ~0 quer* ~3 so|therefore|thus|hence ~5 independent",
     .argument = &different_queries,
     .found = "uncorrelated",
     .shown = "q_1 != q_2, therefore c_1 and c_2 are independent",
     .exact = "Heads see the same keys: their scores are independent iff q_1^T Sigma_i "
              "q_2 = 0 for all i."},
    {.on = HEADS,
     .pattern = "@q2 ~3 opposit* ~14 focus* ~2 same ~0 keys",
     .text = "alpha_2b ~ alpha_b",
     .as = LAB_SUBJECT_HEADS},
    {.on = HEADS,
     .pattern = "@c ~3 close|near ~2 average ~2 @va ~2 @vb",
     .text = "c ~ (v_a + v_b)/2"},
    /* Permutations. */
    {.on = ON(PERMUTE),
     .pattern = "@f ~1 represents|is|gives|denotes ~1 permuted|reordered|rearranged ~0 "
                "input|sequence",
     .text = "@input"},
    {.on = ON(PERMUTE),
     .pattern = "attention|self-attention ~4 permutation|permutation- ~0 equivarian*",
     .text = "@equivariant"},
    {.on = ON(PERMUTE),
     .pattern = "attention|self-attention ~4 permutation ~0 invarian*",
     .text = "@invariant"},
};

static int is_negation(const struct token *token)
{
    static const char *const words[] = {
        "not",     "never", "no",    "isn't",  "doesn't", "without", "cannot",
        "neither", "nor",   "don't", "can't",  "hardly",  "won't",   "aren't",
        "unless",  "fails", "less",  "rather", "instead"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!token->formula && !strcmp(token->text, words[i]))
            return 1;
    return 0;
}

/* Words that may carry a claim of the exercise. */
static int may_claim(const struct sentence *sentence)
{
    static const char *const words =
        "copy|copies|copying|average|closer|stable|unstable|vary|varies|fluctuat*|"
        "variance|independent|uncorrelated|cancel*|larger|smaller|robust*|equivarian*|"
        "invarian*|orthogonal|perpendicular|align*|dominat*|negligible|increases|"
        "decreases|reduces|probability|concentrates|identical";
    for (int i = 0; i < sentence->count; i++)
        if (!sentence->token[i].formula &&
            in_alternatives(sentence->token[i].text, words, strlen(words)))
            return 1;
    return 0;
}

static unsigned uses_of(const char *text, int heads)
{
    unsigned uses = 0;
    static const char *const law[] = {"V_", "Cov_", "D_", "P_", "off", "Var_", "rest"};
    for (size_t i = 0; i < sizeof law / sizeof law[0]; i++)
        if (strstr(text, law[i]))
            uses |= heads ? LAB_USES_HEADS : LAB_USES_OUTPUT;
    if (strstr(text, "s_") || strstr(text, "alpha_"))
        uses |= LAB_USES_FIRST;
    if (strstr(text, "alpha_2") || strstr(text, "c_1") || strstr(text, "c_2"))
        uses |= LAB_USES_HEADS;
    if (!strncmp(text, "c ~", 3) || strstr(text, "; c ~"))
        uses |= LAB_USES_OUTPUT;
    return uses;
}

/* A query with the mean of a a little longer. */
static int tilted(const char *query, char to[LAB_SIDE])
{
    const int length =
        snprintf(to, LAB_SIDE, "1.01*(%s) - 0.01*mu_b mu_b^T (%s)", query, query);
    return length > 0 && length < LAB_SIDE ? 0 : -1;
}

/* 1: received, 0: the rule asks for something that is not given, or -1. */
static int apply(struct lab_reader *reader, const struct rule *rule)
{
    const enum lab_subject subject = reader->settled.subject;
    const char *const input = reader->settled.input;
    struct lab_understood u = {
        .claim = {.topic = (enum lab_topic)rule->topic, .grows = rule->grows}};
    char why[100] = "";
    int status;

    if (rule->as)
        reader->settled.subject = rule->as == LAB_SUBJECT_MAGNITUDE &&
                                          lab_subject_shares(subject, LAB_SUBJECT_HEADS)
                                      ? LAB_SUBJECT_BOTH
                                      : rule->as;
    reader->settled.gamma = 0;
    const int heads = rule->on & HEADS && !(rule->on & ON(MAGNITUDE));
    snprintf(u.text, sizeof u.text, "%s", rule->text ? rule->text : "");
    snprintf(u.exact, sizeof u.exact, "%s", rule->exact ? rule->exact : "");
    snprintf(u.shown, sizeof u.shown, "%s", rule->shown ? rule->shown : "");
    snprintf(u.found, sizeof u.found, "%s", rule->found ? rule->found : "");
    u.uses = uses_of(u.text, heads);
    if (rule->grows)
        u.claim.free = rule->topic == LAB_TOPIC_ROW ? 0 : LAB_FREE_SCALE;
    if (rule->query) {
        const char *const query = reader->settled.query[heads ? 1 : 0];
        if (*rule->query == '@' && !*query)
            goto missing;
        snprintf(u.query[0], LAB_SIDE, "%s", *rule->query == '@' ? query : rule->query);
        u.claim.query[0] = u.query[0];
        if (rule->second && tilted(u.query[0], u.query[1]))
            goto missing;
        if (rule->second)
            u.claim.query[1] = u.query[1];
    }
    if (rule->rival) {
        if (!*reader->settled.single)
            goto missing;
        snprintf(u.rival, LAB_SIDE, "%s", reader->settled.single);
        u.claim.rival = u.rival;
    }
    if (!strcmp(u.text, "@input")) {
        if (!*input)
            goto missing;
        snprintf(u.text, sizeof u.text, "%s = X_moved", input);
        u.uses = 0;
    } else if (u.text[0] == '@') {
        snprintf(u.text, sizeof u.text, "%s",
                 rule->text[1] == 'e' ? "Att_moved = Pi Att" : "Att_moved = Att");
        snprintf(u.input, sizeof u.input, "Pi X");
        u.claim.input = u.input;
        u.claim.topic = LAB_TOPIC_TOKENS;
        u.uses = 0;
    }
    if (rule->argument) {
        u.claim.argument = *rule->argument;
        status = reader->to.claim(reader->to.arg, &u);
    } else if (lab_understood_complete(&reader->settled, &u, why)) {
        status = reader->to.other(reader->to.arg, why);
    } else {
        status = reader->to.claim(reader->to.arg, &u);
    }
    reader->settled.subject = subject;
    return status ? -1 : 1;
missing:
    reader->settled.subject = subject;
    return 0;
}

/* "X Pi is the permuted input". */
static void settle_input(struct lab_reader *reader, const struct sentence *sentence)
{
    for (int i = 0; i < sentence->count; i++) {
        const struct token *const token = &sentence->token[i];
        if (!token->formula)
            continue;
        if (!strcmp(token->text, "XPi") || !strcmp(token->text, "XP"))
            snprintf(reader->settled.input, sizeof reader->settled.input, "X Pi");
        else if (!strcmp(token->text, "PiX") || !strcmp(token->text, "PX"))
            snprintf(reader->settled.input, sizeof reader->settled.input, "Pi X");
    }
}

/* ---- formulas in sentences ----------------------------------------------------------
 */

static int is_one_of(const struct sentence *sentence, int i, const char *words)
{
    return i >= 0 && i < sentence->count && !sentence->token[i].formula &&
           in_alternatives(sentence->token[i].text, words, strlen(words));
}

/* "to achieve x", "such that x": a word of the end within the four before. */
static int is_wanted(const struct sentence *sentence, int at)
{
    for (int i = at - 1; i >= 0 && i >= at - 5; i--) {
        if (sentence->token[i].formula)
            return 0;
        if (is_one_of(sentence, i, "want|need|needs|require|requires|goal|desire"))
            return 1;
        if (is_one_of(sentence, i, "achieve|obtain|get|reach|attain|approximate") &&
            is_one_of(sentence, i - 1, "to"))
            return 1;
    }
    return 0;
}

static int is_denied(const struct sentence *sentence, int at)
{
    for (int i = at + 1; i <= at + 2; i++)
        if (is_one_of(sentence, i, "not|doesn't|isn't|no|never|cannot"))
            for (int j = i + 1; j <= i + 2; j++)
                if (is_one_of(sentence, j, "hold|holds|true|longer|valid|satisfied"))
                    return 1;
    return is_one_of(sentence, at + 1, "fails|breaks");
}

enum lab_standing lab_formula_standing(const struct lab_document *document, int passage)
{
    static const char assumes[] =
        "if|assume|assuming|suppose|supposing|when|whenever|assumes";
    const struct lab_passage *const p = &document->passage[passage];
    struct sentence sentence;
    int at = 0, of = p->sentence;
    if (of < 0 && passage > 0 && document->passage[passage - 1].last_line >= p->line - 2)
        of = document->passage[passage - 1].kind == LAB_PASSAGE_SENTENCE
                 ? passage - 1
                 : document->passage[passage - 1].sentence;
    if (of < 0)
        return LAB_STANDS;
    sentence.count = 0;
    add_tokens(document, of, &sentence);
    if (p->sentence < 0) { /* a display: the sentence that leads to it */
        const struct lab_passage *const lead = &document->passage[of];
        size_t end = lead->end;
        while (end > lead->begin && isspace((unsigned char)document->source[end - 1]))
            end--;
        if (end == lead->begin || document->source[end - 1] != ':')
            return LAB_STANDS;
        return is_one_of(&sentence, 0, "assume|suppose") ? LAB_ASSUMED : LAB_STANDS;
    }
    while (at < sentence.count && sentence.token[at].begin != p->begin)
        at++;
    if (at == sentence.count)
        return LAB_STANDS;
    if (is_denied(&sentence, at))
        return LAB_DENIED;
    if (is_one_of(&sentence, at - 1, assumes) ||
        (is_one_of(&sentence, at - 1, "that") && is_one_of(&sentence, at - 2, assumes)))
        return LAB_ASSUMED;
    return is_wanted(&sentence, at) ? LAB_WANTED : LAB_STANDS;
}

int lab_sentence_words(const struct lab_document *document, int passage)
{
    struct sentence sentence;
    int count = 0;
    sentence.count = 0;
    add_tokens(document, passage, &sentence);
    for (int i = 0; i < sentence.count; i++)
        count += !sentence.token[i].formula &&
                 isalpha((unsigned char)*sentence.token[i].text) &&
                 !is_one_of(&sentence, i, "then|therefore|so|thus|hence|and|we|get|have");
    return count;
}

int lab_passage_refers_back(const struct lab_document *document, int passage)
{
    static const char *const words[] = {"part(i)", "parti,", "Part(i)", "In(a-i)",
                                        "In(i),",  "(c)-i,", "(c-i)",   "in(i)",
                                        "(a-i)",   "part1,", "partI,"};
    const struct lab_passage *const p = &document->passage[passage];
    const struct lab_passage *const of =
        p->sentence >= 0 ? &document->passage[p->sentence] : p;
    char text[600];
    if (p->kind == LAB_PASSAGE_SENTENCE || p->sentence < 0)
        return 0;
    lab_squeeze(document->source, of->begin, of->end, text, sizeof text);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(text, words[i]))
            return 1;
    return 0;
}

int lab_sentence_claims(struct lab_reader *reader, int passage)
{
    struct sentence sentence;
    const char *seen[8];
    int found = 0, applied = 0, covered[8][2];

    tokenize(reader->document, passage, &sentence);
    if (reader->settled.subject == LAB_SUBJECT_PERMUTE)
        settle_input(reader, &sentence);
    if (reader->surveying)
        return 1;
    for (size_t r = 0; r < sizeof rules / sizeof rules[0] && found < 8; r++) {
        const struct rule *const rule = &rules[r];
        int first = 0, last = 0, skip = 0;
        if (!(rule->on & (1u << reader->settled.subject)) ||
            !find_pattern(&sentence, rule->pattern, 0, TOKENS, &first, &last))
            continue;
        for (int i = 0; i < last && !rule->negative; i++)
            skip |= is_negation(&sentence.token[i]) && i >= first - 4;
        const char *const key = rule->text ? rule->text : rule->shown;
        for (int i = 0; i < found; i++)
            skip |= !strcmp(seen[i], key) ||
                    (covered[i][0] <= first && last <= covered[i][1]);
        if (skip)
            continue;
        seen[found] = key;
        covered[found][0] = first;
        covered[found++][1] = last;
        const int status = apply(reader, rule);
        if (status < 0)
            return -1;
        applied += status;
    }
    if (applied)
        return 1;
    return may_claim(&sentence) ? 0 : 2;
}

/* SPDX-License-Identifier: MIT */
/* A solution, passage by passage. */
#include "lab/reading/reading.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/judging.h"
#include "lab/reading/marking.h"
#include "lab/understanding/spelling.h"
#include "lab/understanding/sections.h"

enum { CACHE = 128, KEY = 1400, CASE_ENDS = 4 };

/* Verdicts by the text of the claim: the same claim is judged once. */
struct cached {
    char key[KEY];
    struct lab_read_claim claim;
};

struct session {
    struct lab_reading *reading;
    struct lab_document document; /* in one spelling */
    const char *source;           /* as printed */
    char *text;
    struct lab_spellings spellings;
    struct lab_exercise exercise;
    struct lab_reader reader;
    struct cached *cache;
    struct lab_found_answers *found;
    int cached, next_cached;
    unsigned repairs;          /* of scanning errors */
    int claim_room, emitted;   /* of the passage */
    enum lab_subject *subject; /* of every passage */
};

const char *lab_read_verdict_name(enum lab_read_verdict verdict)
{
    static const char *const names[] = {"true",  "limit",    "slip",
                                        "false", "not_read", "not_judged"};
    return names[verdict];
}

const char *lab_read_verdict_words(enum lab_read_verdict verdict)
{
    static const char *const words[] = {"true",  "true in the limit", "slip",
                                        "false", "not read",          "not judged"};
    return words[verdict];
}

/* At most size - 1 bytes, and no part of a character. */
static void copy_text(char *to, size_t size, const char *from, size_t length)
{
    if (length >= size) {
        length = size - 1;
        while (length && ((unsigned char)from[length] & 0xC0) == 0x80)
            length--;
    }
    memcpy(to, from, length);
    to[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (!to[i])
            to[i] = ' ';
}

/* ---- claims ---------------------------------------------------------------------- */

static struct lab_read_claim *add_claim(struct session *session)
{
    struct lab_reading *const reading = session->reading;
    const struct lab_reader *const reader = &session->reader;
    const struct lab_passage *const p = &session->document.passage[reader->passage];
    if (reading->claims == session->claim_room) {
        const int room = 2 * session->claim_room + 64;
        struct lab_read_claim *const more =
            realloc(reading->claim, (size_t)room * sizeof *more);
        if (!more)
            return NULL;
        reading->claim = more;
        session->claim_room = room;
    }
    struct lab_read_claim *const claim = &reading->claim[reading->claims++];
    memset(claim, 0, sizeof *claim);
    claim->begin = p->begin;
    claim->end = p->end;
    claim->line = p->line;
    claim->formula = p->kind == LAB_PASSAGE_FORMULA;
    claim->computed = claim->expected = NAN;
    const char *const question = lab_subject_question(reader->settled.subject);
    const size_t same = strlen(question);
    const int refines = same && !strncmp(p->question, question, same) &&
                        (!p->question[same] || p->question[same] == '-');
    snprintf(claim->question, sizeof claim->question, "%s",
             refines ? p->question
             : same  ? question
                     : p->question);
    copy_text(claim->quote, sizeof claim->quote, session->source + p->begin,
              p->end - p->begin);
    session->emitted++;
    return claim;
}

static void set_query(char *to, size_t size, const struct lab_claim *judged)
{
    struct lab_text text = {to, size, 0};
    *to = '\0';
    if (judged->query[1])
        lab_text_add(&text, "q_1 = %s, q_2 = %s", judged->query[0], judged->query[1]);
    else if (judged->query[0])
        lab_text_add(&text, "q = %s", judged->query[0]);
}

/* What was read otherwise than printed. */
static void add_restored(struct session *session, struct lab_read_claim *claim)
{
    const struct lab_formula *const formula = &session->reader.formula;
    struct lab_text text = {claim->letters, sizeof claim->letters, 0};
    for (int i = 0; claim->formula && i < formula->restored; i++)
        lab_text_add(&text, "%s%s read as %s", *claim->letters ? "; " : "",
                     formula->restore[i].from, formula->restore[i].to);
    for (int i = 0; claim->formula && i < session->spellings.count; i++) {
        const struct lab_spelling *const s = &session->spellings.spelling[i];
        for (size_t at = claim->begin; at < claim->end; at++)
            if (session->source[at] == s->from && session->text[at] == s->to) {
                lab_text_add(&text, "%s%c read as %c", *claim->letters ? "; " : "",
                             s->from, s->to);
                break;
            }
    }
}

static void make_key(const struct lab_understood *u, char key[KEY])
{
    const struct lab_claim *const c = &u->claim;
    snprintf(key, KEY, "%d|%s|%s|%s|%s|%s|%d|%u|%s|%d|%s|%d|%g|%g|%.100s|%.100s|%.100s",
             (int)c->topic, c->text ? c->text : "", c->query[0] ? c->query[0] : "",
             c->query[1] ? c->query[1] : "", c->rival ? c->rival : "",
             c->input ? c->input : "", c->magnitude, c->free, c->grows ? c->grows : "",
             u->is_limit + 2 * u->vanishes, u->shown, c->range.on, c->range.from,
             c->range.to, u->meant_query[0], u->meant_query[1], u->matrix[1]);
}

/* What comes after a slip is judged as its author meant it. */
static void keep_meant(struct session *session, const struct lab_understood *u,
                       const struct lab_meant *meant)
{
    struct lab_settled *const settled = &session->reader.settled;
    const int heads = !strcmp(u->found, "queries");
    if (!strcmp(u->found, "M"))
        snprintf(settled->meant_matrix, LAB_SIDE, "%s", meant->matrix);
    if (!heads && strcmp(u->found, "q") != 0)
        return;
    for (int h = 0; h < (heads ? 2 : 1); h++)
        snprintf(settled->meant[heads ? h + 1 : 0], LAB_SIDE, "%s", meant->query[h]);
}

static int judge(struct session *session, const struct lab_understood *u,
                 struct lab_read_claim *claim)
{
    char key[KEY];
    make_key(u, key);
    for (int i = 0; i < session->cached; i++) {
        const struct lab_read_claim *const known = &session->cache[i].claim;
        if (strcmp(session->cache[i].key, key) != 0)
            continue;
        claim->verdict = known->verdict;
        claim->computed = known->computed;
        claim->expected = known->expected;
        memcpy(claim->evidence, known->evidence, sizeof claim->evidence);
        memcpy(claim->repair, known->repair, sizeof claim->repair);
        memcpy(claim->exact, known->exact, sizeof claim->exact);
        return 0;
    }
    struct lab_meant *const meant = calloc(1, sizeof *meant);
    const int failed =
        !meant || lab_judge_understood(&session->exercise, &session->reader.letters, u,
                                       claim, meant);
    if (!failed)
        keep_meant(session, u, meant);
    free(meant);
    if (failed)
        return -1;
    struct cached *const entry = &session->cache[session->next_cached];
    memcpy(entry->key, key, KEY);
    entry->claim = *claim;
    session->next_cached = (session->next_cached + 1) % CACHE;
    session->cached += session->cached < CACHE;
    return 0;
}

static int receive_claim(void *arg, struct lab_understood *u)
{
    struct session *const session = arg;
    struct lab_reading *const reading = session->reading;
    const char *const shown = *u->shown ? u->shown : u->text;
    char query[sizeof reading->claim->query];
    lab_marking_note(session->found, session->reader.settled.subject,
                     &session->reader.settled, u);
    /* The same claim of the same passage. */
    set_query(query, sizeof query, &u->claim);
    for (int i = reading->claims - 1; i >= reading->claims - session->emitted; i--)
        if (!strcmp(reading->claim[i].claim, shown) && *shown &&
            !strcmp(reading->claim[i].query, query))
            return 0;
    struct lab_read_claim *const claim = add_claim(session);
    if (!claim)
        return -1;
    snprintf(claim->claim, sizeof claim->claim, "%s", shown);
    snprintf(claim->letters, sizeof claim->letters, "%s", u->letters);
    snprintf(claim->query, sizeof claim->query, "%s", query);
    add_restored(session, claim);
    return judge(session, u, claim);
}

static int receive_other(void *arg, const char *why)
{
    struct session *const session = arg;
    struct lab_read_claim *const claim = add_claim(session);
    if (!claim)
        return -1;
    claim->verdict = LAB_READ_NOT_JUDGED;
    snprintf(claim->evidence, sizeof claim->evidence, "%s.", why);
    return 0;
}

static int not_read(struct session *session, const char *why)
{
    struct lab_read_claim *const claim = add_claim(session);
    if (!claim)
        return -1;
    claim->verdict = LAB_READ_NOT_READ;
    snprintf(claim->evidence, sizeof claim->evidence, "%.500s", why);
    return 0;
}

/* ---- passages ---------------------------------------------------------------------- */

static int read_formula(struct session *session)
{
    struct lab_reader *const reader = &session->reader;
    struct lab_reading *const reading = session->reading;
    const struct lab_passage *const p = &session->document.passage[reader->passage];
    const int failed = lab_formula_read(session->document.source, p->begin, p->end,
                                        session->repairs, &reader->formula);
    reading->formulas += !reader->surveying;
    if (failed && reader->surveying)
        return 0;
    if (failed)
        return not_read(session, reader->formula.why);
    reading->formulas_read += !reader->surveying;
    return lab_formula_claims(reader);
}

static int read_sentence(struct session *session)
{
    struct lab_reader *const reader = &session->reader;
    session->reading->sentences += !reader->surveying;
    const int status = lab_sentence_claims(reader, reader->passage);
    if (status < 0)
        return -1;
    if (reader->surveying)
        return 0;
    session->reading->sentences_read += status != 0;
    return status ? 0 : not_read(session, "The grammar of sentences does not cover it.");
}

/* "gamma = 1: c = v_a ...": nothing but signs between the case and the passage. */
static int follows_case(const struct session *session, const struct lab_passage *p)
{
    const size_t from = session->reader.settled.range_end;
    if (!session->reader.settled.range.on || from > p->begin || p->begin - from > 12)
        return 0;
    for (size_t at = from; at < p->begin; at++)
        if (!strchr(" :,$*\\)(", session->source[at]) || !session->source[at])
            return 0;
    return 1;
}

/* A formula at the beginning of a line of its own, which no comma or colon leads to. */
static int leaves_case(const struct session *session, const struct lab_passage *p)
{
    const size_t from = session->reader.settled.range_end;
    size_t at = p->begin;
    if (!session->reader.settled.range.on || p->kind != LAB_PASSAGE_FORMULA ||
        p->display || from >= p->begin)
        return 0;
    while (at > from && strchr(" \t$(", session->source[at - 1]) &&
           session->source[at - 1])
        at--;
    if (at == from || session->source[at - 1] != '\n')
        return 0;
    while (at > from && isspace((unsigned char)session->source[at - 1]))
        at--;
    return at > from && !strchr(":,", session->source[at - 1]);
}

static int read_passage(struct session *session, int passage)
{
    struct lab_reader *const reader = &session->reader;
    enum lab_subject *const subject = &reader->settled.subject;
    const struct lab_passage *const p = &session->document.passage[passage];
    reader->passage = passage;
    session->emitted = 0;
    if (reader->settled.alternative && p->line != reader->settled.alternative) {
        memcpy(reader->settled.query, reader->settled.main_query,
               sizeof reader->settled.query);
        reader->settled.alternative = 0;
    }
    if (p->kind == LAB_PASSAGE_HEADING)
        return 0;
    /* A case of a length ends with the formulas about it. */
    if (p->kind == LAB_PASSAGE_SENTENCE &&
        lab_sentence_words(&session->document, passage) >= CASE_ENDS &&
        !follows_case(session, p))
        reader->settled.range.on = 0;
    if (leaves_case(session, p))
        reader->settled.range.on = 0;
    if ((*subject == LAB_SUBJECT_NOISE || *subject == LAB_SUBJECT_HEADS) &&
        lab_passage_magnifies(&session->document, passage))
        *subject =
            *subject == LAB_SUBJECT_NOISE ? LAB_SUBJECT_MAGNITUDE : LAB_SUBJECT_BOTH;
    reader->settled.head = lab_passage_head(&session->document, passage);
    const enum lab_subject here = *subject;
    const int back = lab_passage_refers_back(&session->document, passage);
    if (back)
        reader->settled.range.on = 0;
    if (back)
        *subject = here == LAB_SUBJECT_MAGNITUDE ? LAB_SUBJECT_NOISE
                   : here == LAB_SUBJECT_BOTH    ? LAB_SUBJECT_HEADS
                                                 : here;
    const int status =
        p->kind == LAB_PASSAGE_FORMULA ? read_formula(session) : read_sentence(session);
    if (back)
        *subject = here;
    return status;
}

/* ---- runs of passages on one subject ------------------------------------------------
 */

static int same_section(const struct lab_passage *x, const struct lab_passage *y)
{
    return y->kind != LAB_PASSAGE_HEADING && !strcmp(x->label, y->label) &&
           (*x->label || !strcmp(x->question, y->question));
}

static int find_subjects(struct session *session)
{
    const struct lab_document *const document = &session->document;
    enum lab_subject before = LAB_SUBJECT_COPY; /* the first question */
    session->subject = calloc((size_t)document->count + 1, sizeof *session->subject);
    if (!session->subject)
        return -1;
    for (int begin = 0, end; begin < document->count; begin = end) {
        for (end = begin + 1; end < document->count; end++)
            if (!same_section(&document->passage[begin], &document->passage[end]))
                break;
        enum lab_subject subject = lab_section_subject(document, begin, end, before);
        if (subject == LAB_SUBJECT_NONE)
            subject = before;
        for (int p = begin; p < end; p++) {
            const enum lab_subject shown = lab_passage_subject(document, p);
            if (shown && !lab_subject_shares(shown, subject))
                subject = shown;
            session->subject[p] = subject;
        }
        before = subject;
    }
    return 0;
}

/* What stands at the beginning of a run; queries go on where its subject shares them. */
static void settle(struct session *session, int begin)
{
    struct lab_reader *const reader = &session->reader;
    struct lab_settled *const settled = &reader->settled;
    const enum lab_subject subject = session->subject[begin];
    if (lab_subject_shares(settled->subject, LAB_SUBJECT_NOISE) && *settled->query[0])
        snprintf(settled->single, LAB_SIDE, "%s", settled->query[0]);
    if (!lab_subject_shares(settled->subject, subject)) {
        memset(settled->query, 0, sizeof settled->query);
        settled->matrix[0] = 0;
        memset(settled->meant, 0, sizeof settled->meant);
        settled->meant_matrix[0] = 0;
    }
    settled->range.on = 0;
    settled->aside = -1;
    settled->subject = subject;
    if (!*settled->lead)
        snprintf(settled->lead, sizeof settled->lead, "j");
    reader->carried[0] = 0;
}

static int read_run(struct session *session, int begin, int end)
{
    struct lab_reader *const reader = &session->reader;
    settle(session, begin);
    const struct lab_settled before = reader->settled;
    memset(reader->last_query, 0, sizeof reader->last_query);
    memset(reader->last_line, 0, sizeof reader->last_line);
    reader->last_matrix[0] = 0;
    reader->first_head[0] = 0;
    for (int survey = 1; survey >= 0; survey--) {
        reader->surveying = survey;
        for (int p = begin; p < end; p++)
            if (read_passage(session, p))
                return -1;
        if (!survey)
            break;
        if (!*reader->last_query[1] && *reader->last_query[2])
            snprintf(reader->last_query[1], LAB_SIDE, "%s", reader->first_head);
        const struct lab_settled after = reader->settled;
        reader->settled = before;
        memcpy(reader->settled.lead, after.lead, sizeof after.lead);
        memcpy(reader->settled.input, after.input, sizeof after.input);
        /* Claims may stand before the query that they are about. */
        for (int q = 0; q < LAB_QUERIES; q++)
            if (!*reader->settled.query[q])
                snprintf(reader->settled.query[q], LAB_SIDE, "%s", reader->last_query[q]);
        reader->carried[0] = 0;
    }
    return 0;
}

static int read_document(struct session *session)
{
    const int count = session->document.count;
    if (find_subjects(session))
        return -1;
    for (int begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count; end++)
            if (session->subject[end] != session->subject[begin])
                break;
        if (read_run(session, begin, end))
            return -1;
    }
    return 0;
}

/* ---- the rest ------------------------------------------------------------------------
 */

static int list_letters(struct session *session)
{
    const struct lab_letters_known *const known = &session->reader.letters;
    struct lab_reading *const reading = session->reading;
    const struct lab_spellings *const own = &session->spellings;
    reading->letter =
        calloc((size_t)(known->count + own->count) + 1, sizeof *reading->letter);
    if (!reading->letter)
        return -1;
    for (int i = 0; i < own->count; i++) {
        struct lab_read_letter *const letter = &reading->letter[reading->letters++];
        snprintf(letter->letter, sizeof letter->letter, "%c", own->spelling[i].from);
        snprintf(letter->meaning, sizeof letter->meaning, "%s, %c",
                 own->spelling[i].means, own->spelling[i].to);
        letter->line = own->spelling[i].line;
    }
    for (int i = 0; i < known->count; i++) {
        struct lab_read_letter *const letter = &reading->letter[reading->letters++];
        snprintf(letter->letter, sizeof letter->letter, "%.23s", known->known[i].base);
        snprintf(letter->meaning, sizeof letter->meaning, "%s",
                 lab_role_words(known->known[i].role));
        letter->line = known->known[i].line;
    }
    return 0;
}

/* The document in one spelling. */
static int open_source(struct session *session, const char *source, size_t size)
{
    session->source = source;
    session->text = malloc(size + 1);
    if (!session->text)
        return -1;
    memcpy(session->text, source, size);
    session->text[size] = '\0';
    lab_spell_products(session->text, size);
    lab_spell_sums(session->text, size);
    if (lab_document_open(&session->document, session->text, size))
        return -1;
    lab_spell_letters(&session->document, session->text, &session->spellings);
    return 0;
}

int lab_reading_open(struct lab_reading *reading, const char *source, size_t size)
{
    struct session *const session = calloc(1, sizeof *session);
    int status = -1;

    memset(reading, 0, sizeof *reading);
    if (!session || size > LAB_READING_BYTES) {
        free(session);
        return -1;
    }
    session->reading = reading;
    session->cache = calloc(CACHE, sizeof *session->cache);
    session->found = calloc(1, sizeof *session->found);
    session->reader.document = &session->document;
    session->reader.to = (struct lab_receiver){session, receive_claim, receive_other};
    const int opened = open_source(session, source, size) == 0 &&
                       lab_exercise_open(&session->exercise) == 0;
    session->repairs = lab_formula_repairs(source, size);
    if (opened && session->cache && session->found && !read_document(session) &&
        !list_letters(session) && !lab_reading_conflicts(reading) &&
        !lab_marking_grade(session->found, reading))
        status = 0;
    for (int i = 0; i < reading->claims; i++)
        reading->judged += reading->claim[i].verdict <= LAB_READ_FALSE;
    lab_document_close(&session->document);
    lab_exercise_close(&session->exercise);
    free(session->subject);
    free(session->text);
    free(session->cache);
    free(session->found);
    free(session);
    return status;
}

void lab_reading_close(struct lab_reading *reading)
{
    free(reading->claim);
    free(reading->letter);
    free(reading->conflict);
    free(reading->question);
    memset(reading, 0, sizeof *reading);
}

/* SPDX-License-Identifier: MIT */
/* The sheets in order. */
#include "lab/sheets/sheets.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "lab/measure/parallel.h"

static const struct lab_sheet *const sheets[] = {
    &lab_sheet_000, &lab_sheet_001, &lab_sheet_002, &lab_sheet_003, &lab_sheet_004,
};

static const struct lab_statement *find(int index)
{
    for (size_t s = 0; index >= 0 && s < sizeof sheets / sizeof sheets[0]; s++) {
        if (index < sheets[s]->count)
            return &sheets[s]->statement[index];
        index -= sheets[s]->count;
    }
    return NULL;
}

int lab_sheets_index(const char *id)
{
    for (int index = 0; find(index); index++)
        if (!strcmp(find(index)->id, id))
            return index;
    return -1;
}

int lab_sheets_judge_in(const struct lab_exercise *exercise, int index,
                        enum lab_strictness reading, struct lab_judgement *judgement)
{
    const struct lab_statement *const statement = find(index);
    return statement ? lab_judge(exercise, statement, reading, judgement) : -1;
}

int lab_sheets_judge(int index, enum lab_strictness reading,
                     struct lab_judgement *judgement)
{
    struct lab_exercise exercise;
    int status = lab_exercise_open(&exercise);
    if (!status)
        status = lab_sheets_judge_in(&exercise, index, reading, judgement);
    lab_exercise_close(&exercise);
    return status;
}

int lab_sheets_is_of(int index, const char *sheet)
{
    const struct lab_statement *const statement = find(index);
    return statement && !strncmp(statement->id, sheet, 3);
}

struct session {
    const char *sheet; /* NULL: all */
    enum lab_strictness reading;
    struct lab_judgement *judgements;
    atomic_int next, failed;
};

/* One judge of several: takes the next statement until none is left. */
static void judge_in_turn(void *arg, int w)
{
    struct session *const s = arg;
    int index;

    (void)w;
    while ((index = atomic_fetch_add(&s->next, 1)) < LAB_STATEMENTS)
        if ((!s->sheet || lab_sheets_is_of(index, s->sheet)) &&
            lab_sheets_judge(index, s->reading, &s->judgements[index]))
            atomic_store(&s->failed, 1);
}

int lab_sheets_judge_all(const char *sheet, enum lab_strictness reading, int threads,
                         struct lab_judgement *judgements)
{
    struct session session = {
        .sheet = sheet, .reading = reading, .judgements = judgements};

    memset(judgements, 0, LAB_STATEMENTS * sizeof *judgements);
    lab_parallel(threads, judge_in_turn, &session);
    return session.failed ? -1 : 0;
}

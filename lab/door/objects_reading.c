/* SPDX-License-Identifier: MIT */
#include "lab/door/objects_reading.h"

void lab_json_claim(struct lab_json *json, const struct lab_read_claim *claim)
{
    lab_json_put(json,
                 "line:i quote:s question:s verdict:s evidence:s formula:b claim:s "
                 "query:s letters:s repair:s exact:s computed:r expected:r",
                 claim->line, claim->quote, claim->question,
                 lab_read_verdict_name(claim->verdict), claim->evidence, claim->formula,
                 claim->claim, claim->query, claim->letters, claim->repair, claim->exact,
                 claim->computed, claim->expected);
}

/* The two sides: indices of claims and their lines; -1 is the standard solution. */
static void put_conflict(struct lab_json *json, const struct lab_reading *reading,
                         const struct lab_read_conflict *conflict)
{
    lab_json_put(json, "{ claims:[");
    for (int i = 0; i < 2; i++)
        lab_json_whole(json, conflict->claim[i]);
    lab_json_put(json, "] lines:[");
    for (int i = 0; i < 2; i++)
        if (conflict->claim[i] >= 0)
            lab_json_whole(json, reading->claim[conflict->claim[i]].line);
    lab_json_put(json, "] words:s }", conflict->words);
}

void lab_json_reading(struct lab_json *json, const struct lab_reading *reading)
{
    lab_json_put(json, "letters:[");
    for (int i = 0; i < reading->letters; i++)
        lab_json_put(json, "{ letter:s meaning:s line:i }", reading->letter[i].letter,
                     reading->letter[i].meaning, reading->letter[i].line);
    lab_json_put(json, "] conflicts:[");
    for (int i = 0; i < reading->conflicts; i++)
        put_conflict(json, reading, &reading->conflict[i]);
    lab_json_put(json, "] questions:[");
    for (int i = 0; i < reading->questions; i++)
        lab_json_put(json, "{ question:s points:r of:r words:s }",
                     reading->question[i].question, reading->question[i].points,
                     reading->question[i].of, reading->question[i].words);
    lab_json_put(json,
                 "] points:r of:r coverage:{ formulas:i formulas_read:i sentences:i "
                 "sentences_read:i judged:i }",
                 reading->points, reading->of, reading->formulas, reading->formulas_read,
                 reading->sentences, reading->sentences_read, reading->judged);
}

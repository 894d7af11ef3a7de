/* SPDX-License-Identifier: MIT */
/*
 * Fuzz the reader of solutions with its judge: claims in order and inside the source,
 * texts that end, counts that agree.
 */
#include <string.h>

#include "lab/reading/reading.h"

#include "demand.h"

/* Larger inputs take too long for a fuzzer. */
enum { MOST = 512 };

#define ENDS(text) demand(memchr((text), 0, sizeof(text)) != NULL, #text)

static void check_claim(const struct lab_read_claim *claim, size_t size)
{
    demand((int)claim->verdict >= LAB_READ_TRUE &&
               (int)claim->verdict <= LAB_READ_NOT_JUDGED,
           "a verdict");
    demand(claim->begin <= claim->end && claim->end <= size, "inside the source");
    demand(claim->line > 0, "a line");
    ENDS(claim->question);
    ENDS(claim->quote);
    ENDS(claim->claim);
    ENDS(claim->query);
    ENDS(claim->letters);
    ENDS(claim->evidence);
    ENDS(claim->repair);
    ENDS(claim->exact);
    demand(claim->verdict != LAB_READ_SLIP || *claim->repair, "the repair of a slip");
    demand(claim->verdict == LAB_READ_NOT_JUDGED || *claim->evidence, "evidence");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_reading reading;
    char *const source = size <= MOST ? malloc(size + 1) : NULL;
    int judged = 0;

    if (!source)
        return 0;
    memcpy(source, data, size);
    source[size] = 0;
    demand(!lab_reading_open(&reading, source, size), "any bytes are read");
    for (int c = 0; c < reading.claims; c++) {
        check_claim(&reading.claim[c], size);
        demand(!c || reading.claim[c].begin >= reading.claim[c - 1].begin, "in order");
        judged += reading.claim[c].verdict <= LAB_READ_FALSE;
    }
    demand(judged == reading.judged, "the count of judged claims");
    demand(reading.formulas_read <= reading.formulas &&
               reading.sentences_read <= reading.sentences,
           "coverage");
    demand(reading.points <= reading.of + 1e-9, "points");
    for (int c = 0; c < reading.conflicts; c++)
        for (int k = 0; k < 2; k++)
            demand(reading.conflict[c].claim[k] >= -1 &&
                       reading.conflict[c].claim[k] < reading.claims,
                   "claims of a conflict");
    lab_reading_close(&reading);
    free(source);
    return 0;
}

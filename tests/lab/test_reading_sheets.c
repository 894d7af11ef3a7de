/* SPDX-License-Identifier: MIT */
/*
 * The reader of solutions on the five sheets, against the statements that were written by
 * hand.  The sheets are no part of the tree: ATTEND_SHEETS names their folder.
 */
#include "support/test.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/reading.h"
#include "lab/sheets/sheets.h"

enum { LEAST = 75, SHEETS = 5 };

static const struct lab_sheet *const sheets[SHEETS] = {
    &lab_sheet_000, &lab_sheet_001, &lab_sheet_002, &lab_sheet_003, &lab_sheet_004};

/* The text of the sheet, or NULL. */
static char *load(const char *folder, const char *name, size_t *size)
{
    char path[4096] = "";
    DIR *const listing = opendir(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing)) != NULL;)
        if (!strncmp(entry->d_name, name, strlen(name)))
            snprintf(path, sizeof path, "%.3000s/%.900s", folder, entry->d_name);
    if (listing)
        closedir(listing);
    FILE *const file = *path ? fopen(path, "rb") : NULL;
    char *const text = malloc(LAB_READING_BYTES + 1);
    *size = file && text ? fread(text, 1, LAB_READING_BYTES, file) : 0;
    if (file)
        fclose(file);
    if (!*size) {
        free(text);
        return NULL;
    }
    text[*size] = '\0';
    return text;
}

/* The place of a quotation, whose blanks may differ: 1, or 0. */
static int find_quote(const char *text, const char *quote, size_t *begin, size_t *end)
{
    for (const char *from = text; *from; from++) {
        const char *at = from, *q = quote;
        while (*q && *at) {
            while (isspace((unsigned char)*q))
                q++;
            while (isspace((unsigned char)*at) && at > from)
                at++;
            if (!*q || *q != *at)
                break;
            q++;
            at++;
        }
        if (!*q) {
            *begin = (size_t)(from - text);
            *end = (size_t)(at - text);
            return 1;
        }
    }
    return 0;
}

static int same_verdict(enum lab_verdict wanted, enum lab_read_verdict found)
{
    return (wanted == LAB_HOLDS && found == LAB_READ_TRUE) ||
           (wanted == LAB_LIMIT && found == LAB_READ_LIMIT) ||
           (wanted == LAB_SLIP && found == LAB_READ_SLIP) ||
           (wanted == LAB_FAILS && found == LAB_READ_FALSE);
}

/* A slip is not true as printed, as what fails; both say that something is wrong. */
static int near_verdict(enum lab_verdict wanted, enum lab_read_verdict found)
{
    const int stands = wanted == LAB_HOLDS || wanted == LAB_LIMIT;
    return stands ? found == LAB_READ_TRUE || found == LAB_READ_LIMIT
                  : found == LAB_READ_SLIP || found == LAB_READ_FALSE;
}

static int contradicts(enum lab_verdict wanted, enum lab_read_verdict found)
{
    const int stands = wanted == LAB_HOLDS || wanted == LAB_LIMIT;
    return stands ? found == LAB_READ_FALSE
                  : wanted == LAB_FAILS &&
                        (found == LAB_READ_TRUE || found == LAB_READ_LIMIT);
}

enum result { FOUND, MISSING, CONTRADICTED };

/* A statement beside the claims that overlap its quotation or stand on its lines. */
static enum result compare(const char *text, const struct lab_reading *reading,
                           const struct lab_statement *statement, enum lab_verdict wanted)
{
    size_t begin = 0, end = 0;
    const int quoted = find_quote(text, statement->quote, &begin, &end);
    int against = 0, same = 0, near = 0;
    for (int i = 0; i < reading->claims; i++) {
        const struct lab_read_claim *const claim = &reading->claim[i];
        const int overlaps = quoted && claim->begin < end && begin < claim->end;
        const int on_line =
            claim->line == statement->line || claim->line == statement->quoted;
        same |= (overlaps || on_line) && same_verdict(wanted, claim->verdict);
        near |= overlaps && near_verdict(wanted, claim->verdict);
        against |= overlaps && contradicts(wanted, claim->verdict);
    }
    return same ? FOUND : against && !near ? CONTRADICTED : MISSING;
}

static int compare_sheet(const char *folder, const struct lab_sheet *sheet, int *found)
{
    size_t size;
    char *const text = load(folder, sheet->name, &size);
    struct lab_reading reading;
    int contradicted = 0;
    if (!text)
        return -1;
    if (lab_reading_open(&reading, text, size)) {
        free(text);
        return -1;
    }
    for (int i = 0; i < sheet->count; i++) {
        const struct lab_statement *const statement = &sheet->statement[i];
        struct lab_judgement judgement;
        if (lab_sheets_judge(lab_sheets_index(statement->id), LAB_CHARITY, &judgement))
            continue;
        const enum result result = compare(text, &reading, statement, judgement.verdict);
        *found += result == FOUND;
        contradicted += result == CONTRADICTED;
        if (result != FOUND)
            printf("%s %s, line %d: %s\n",
                   result == MISSING ? "not found" : "contradicted", statement->id,
                   statement->line, statement->says);
    }
    lab_reading_close(&reading);
    free(text);
    return contradicted;
}

TEST(sheets_are_read_as_by_hand)
{
    const char *const folder = getenv("ATTEND_SHEETS");
    int found = 0, contradicted = 0;
    if (!folder)
        SKIP("ATTEND_SHEETS does not name the folder of the five sheets");
    for (int s = 0; s < SHEETS; s++) {
        const int against = compare_sheet(folder, sheets[s], &found);
        CHECK(against >= 0, "sheet %s cannot be read in %s", sheets[s]->name, folder);
        contradicted += against;
    }
    printf("%d statements found with their verdict, %d contradicted\n", found,
           contradicted);
    CHECK(found >= LEAST, "only %d found", found);
    CHECK(!contradicted, "%d contradicted", contradicted);
}

/* SPDX-License-Identifier: MIT */
/* The students of a course, from a CSV, and the answer of each. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "grade_tool.h"

/* ---- CSV ------------------------------------------------------------------------- */

enum { CELL = 256, CELLS = 32 };

/* A record of a CSV: cells beyond CELLS are left out. */
struct record {
    char cell[CELLS][CELL];
    int cells;
};

struct reader {
    const char *at, *end;
    char separator; /* a comma, or a semicolon where the first line has one */
    int line;
};

/* The next byte of a cell, its quotes undone; -1: the cell ends. */
static int next_byte(struct reader *reader, int *is_quoted)
{
    if (reader->at == reader->end)
        return -1;
    const char c = *reader->at;
    if (*is_quoted && c == '"') {
        reader->at++;
        if (reader->at == reader->end || *reader->at != '"') {
            *is_quoted = 0;
            return next_byte(reader, is_quoted);
        }
    } else if (!*is_quoted && (c == reader->separator || c == '\n' || c == '\r'))
        return -1;
    reader->line += c == '\n';
    reader->at++;
    return (unsigned char)c;
}

/* One cell without the blanks around it; -1 where it is too long. */
static int read_cell(struct reader *reader, char cell[CELL])
{
    size_t used = 0;
    int byte, is_quoted;

    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t'))
        reader->at++;
    is_quoted = reader->at < reader->end && *reader->at == '"';
    reader->at += is_quoted;
    while ((byte = next_byte(reader, &is_quoted)) >= 0) {
        if (used + 1 == CELL)
            return -1;
        cell[used++] = (char)(byte < ' ' ? ' ' : byte);
    }
    while (used && cell[used - 1] == ' ')
        used--;
    cell[used] = 0;
    return 0;
}

/* 1, 0 at the end of the file, -1 where a cell is too long. */
static int read_record(struct reader *reader, struct record *record)
{
    char more[CELL];

    record->cells = 0;
    if (reader->at == reader->end)
        return 0;
    for (;;) {
        char *const cell = record->cells < CELLS ? record->cell[record->cells] : more;
        if (read_cell(reader, cell))
            return -1;
        record->cells += record->cells < CELLS;
        if (reader->at == reader->end || *reader->at == '\n' || *reader->at == '\r')
            break;
        reader->at++;
    }
    reader->at += reader->at < reader->end && *reader->at == '\r';
    if (reader->at < reader->end && *reader->at == '\n') {
        reader->at++;
        reader->line++;
    }
    return 1;
}

/* ---- rosters ----------------------------------------------------------------------- */

static char *copy_of(const char *text)
{
    char *const copy = malloc(strlen(text) + 1);
    if (copy)
        strcpy(copy, text);
    return copy;
}

static int add_row(struct roster *roster, const char *id, const char *name)
{
    struct roster_row *const grown =
        realloc(roster->row, sizeof *grown * (size_t)(roster->count + 1));
    if (!grown)
        return -1;
    roster->row = grown;
    grown[roster->count] = (struct roster_row){copy_of(id), copy_of(name)};
    const struct roster_row *const row = &grown[roster->count++];
    return row->id && row->name ? 0 : -1;
}

/* The columns id and name of the first line: 0, or -1 where it lacks one. */
static int find_columns(const struct record *head, int *id, int *name)
{
    *id = *name = -1;
    for (int c = head->cells - 1; c >= 0; c--) {
        const char *const cell = head->cell[c];
        if (!strcasecmp(cell, "id") || !strcasecmp(cell, "sid") ||
            !strcasecmp(cell, "student id"))
            *id = c;
        if (!strcasecmp(cell, "name") || !strcasecmp(cell, "student"))
            *name = c;
    }
    return *id >= 0 && *name >= 0 ? 0 : -1;
}

static int has_id(const struct roster *roster, const char *id)
{
    for (int r = 0; r < roster->count; r++)
        if (!strcmp(roster->row[r].id, id))
            return 1;
    return 0;
}

static int take_record(const char *path, int line, const struct record *record, int id,
                       int name, struct roster *roster)
{
    if (record->cells == 1 && !*record->cell[0])
        return TOOL_OK;
    if (record->cells <= id || record->cells <= name || !*record->cell[id])
        return tool_fail("grade", TOOL_USAGE, "%s: line %d: no id, or no name", path,
                         line);
    if (has_id(roster, record->cell[id]))
        return tool_fail("grade", TOOL_USAGE, "%s: line %d: the id '%s' a second time",
                         path, line, record->cell[id]);
    if (add_row(roster, record->cell[id], record->cell[name]))
        return tool_fail("grade", TOOL_FAILED, "out of memory");
    return TOOL_OK;
}

int roster_read(const char *path, struct roster *roster)
{
    size_t size;
    char *const bytes = graded_read(path, &size);
    struct record *const record = calloc(1, sizeof *record);
    int id = -1, name = -1, more = 1, status = TOOL_OK;

    if (!bytes || !record) {
        free(bytes);
        free(record);
        return TOOL_USAGE;
    }
    const char *const head_end = memchr(bytes, '\n', size);
    const size_t head = head_end ? (size_t)(head_end - bytes) : size;
    struct reader reader = {bytes, bytes + size, memchr(bytes, ';', head) ? ';' : ',', 1};
    if (size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3))
        reader.at += 3;
    for (int is_head = 1; more > 0 && !status; is_head = 0) {
        const int line = reader.line;
        more = read_record(&reader, record);
        if (more < 0)
            status = tool_fail("grade", TOOL_USAGE,
                               "%s: line %d: a cell of more than %d "
                               "bytes",
                               path, line, CELL - 1);
        else if (is_head && (!more || find_columns(record, &id, &name)))
            status = tool_fail("grade", TOOL_USAGE,
                               "%s: line 1 names no columns 'id' and 'name'", path);
        else if (more && !is_head)
            status = take_record(path, line, record, id, name, roster);
    }
    free(bytes);
    free(record);
    return status;
}

void roster_free(struct roster *roster)
{
    for (int r = 0; r < roster->count; r++) {
        free(roster->row[r].id);
        free(roster->row[r].name);
    }
    free(roster->row);
}

/* ---- students and answers -----------------------------------------------------------
 */

/* Whether a text is the name of the file, without ".json". */
static int is_stem(const char *file, const char *text)
{
    const size_t length = strlen(text);
    return length && !strncasecmp(file, text, length) && !strcmp(file + length, ".json");
}

/* By the id of the form; without one, by the name of the file or of the student. */
static int is_of(const struct graded *graded, const struct roster_row *row)
{
    if (*graded->form.id)
        return !strcmp(graded->form.id, row->id);
    if (is_stem(graded->name, row->id))
        return 1;
    if (*graded->form.student)
        return !strcasecmp(graded->form.student, row->name);
    return is_stem(graded->name, row->name);
}

/* The student of an answer, or -1. */
static int find_row(const struct roster *roster, const struct graded *graded)
{
    for (int r = 0; r < roster->count; r++)
        if (is_of(graded, &roster->row[r]))
            return r;
    return -1;
}

int roster_order(const struct roster *roster, struct graded **graded, int *count)
{
    const size_t most = (size_t)roster->count + (size_t)*count;
    struct graded *const ordered = calloc(most + 1, sizeof *ordered);
    int *const row = calloc((size_t)*count + 1, sizeof *row);
    int used = 0, status = TOOL_OK;

    if (!ordered || !row) {
        free(ordered);
        free(row);
        return tool_fail("grade", TOOL_FAILED, "out of memory");
    }
    for (int g = 0; g < *count; g++)
        row[g] = find_row(roster, &(*graded)[g]);
    for (int r = 0; r < roster->count; r++) {
        int files = 0;
        for (int g = 0; g < *count; g++)
            if (row[g] == r) {
                ordered[used] = (*graded)[g];
                if (files++)
                    status = tool_fail("grade", TOOL_USAGE, "%s: a second answer of '%s'",
                                       ordered[used].path, roster->row[r].id);
                ordered[used].id = roster->row[r].id;
                ordered[used++].student = roster->row[r].name;
            }
        if (!files)
            ordered[used++] = (struct graded){.path = "",
                                              .name = "",
                                              .id = roster->row[r].id,
                                              .student = roster->row[r].name,
                                              .form = {.student = "", .id = ""},
                                              .unread = 1,
                                              .why = "no file was handed in"};
    }
    for (int g = 0; g < *count; g++)
        if (row[g] < 0) {
            ordered[used++] = (*graded)[g];
            status = tool_fail("grade", TOOL_USAGE, "%s: no student of the roster",
                               (*graded)[g].path);
        }
    free(row);
    free(*graded);
    *graded = ordered;
    *count = used;
    return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * Twenty solutions in as many styles, ten of them (blind) by authors who did not have the
 * reader, beside the verdicts that each claim deserves: NAME.expect has "LINE VERDICT
 * WORDS", the words of the claim as printed.
 */
#include "support/test.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/reading.h"

/*
 * Of all claims: those that are judged as they deserve, at least, and those that are
 * judged against it, at most; a slip and a false claim, as a true one and one that is
 * true in the limit, are beside each other.  The files name the latter.
 */
enum {
    SAME = 400,
    AGAINST = 2,
    FILES = 10,
    FOLDERS = 2,
    SIZE = 1 << 15,
    NEAR_LINES = 2,
    START = 14
};

struct tally {
    const char *folder;
    int same, beside, against, missing, files, failed;
};

static char *load(const char *folder, const char *name)
{
    char path[600];
    char *const text = calloc(SIZE, 1);
    snprintf(path, sizeof path, SOLUTIONS "/%s/%.300s", folder, name);
    FILE *const file = fopen(path, "rb");
    const size_t size = file && text ? fread(text, 1, SIZE - 1, file) : 0;
    if (file)
        fclose(file);
    if (size)
        return text;
    free(text);
    return NULL;
}

/* Without blanks and dollars. */
static void squeeze(const char *text, char *to, size_t room)
{
    size_t used = 0;
    for (; *text && used + 1 < room; text++)
        if (!isspace((unsigned char)*text) && *text != '$')
            to[used++] = *text;
    to[used] = '\0';
}

static int is_right(enum lab_read_verdict verdict)
{
    return verdict == LAB_READ_TRUE || verdict == LAB_READ_LIMIT;
}

/* One line of the expectations beside the claims near it. */
static void compare(const struct lab_reading *reading, const char *name, int line,
                    const char *wanted, const char *words, struct tally *tally)
{
    char want[400], quote[400], start[START + 1];
    int same = 0, beside = 0, found = 0;
    squeeze(words, want, sizeof want);
    snprintf(start, sizeof start, "%.*s", START, want);
    for (int i = 0; i < reading->claims; i++) {
        const struct lab_read_claim *const claim = &reading->claim[i];
        squeeze(claim->quote, quote, sizeof quote);
        if (claim->verdict > LAB_READ_FALSE || abs(claim->line - line) > NEAR_LINES ||
            (!strstr(quote, want) && !strstr(want, quote) && !strstr(quote, start)))
            continue;
        const char *const verdict = lab_read_verdict_name(claim->verdict);
        found++;
        same += !strcmp(verdict, wanted);
        beside += is_right(claim->verdict) ==
                  (!strcmp(wanted, "true") || !strcmp(wanted, "limit"));
    }
    if (!found)
        tally->missing++;
    else if (same)
        tally->same++;
    else if (beside == found)
        tally->beside++;
    else {
        tally->against++;
        printf("against %s:%d, which is %s: %s\n", name, line, wanted, words);
    }
}

static int compare_file(const char *folder, const char *name, struct tally *tally)
{
    char path[300];
    struct lab_reading reading;
    char *const expected = load(folder, name);
    const char *const stem = strrchr(name, '.');
    static const char *const ends[] = {"md", "tex", "txt"};
    char *text = NULL, *rest = NULL;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && !text; i++) {
        snprintf(path, sizeof path, "%.*s.%s", (int)(stem - name), name, ends[i]);
        text = load(folder, path);
    }
    const int opened =
        expected && text && !lab_reading_open(&reading, text, strlen(text));
    for (char *at = opened ? strtok_r(expected, "\n", &rest) : NULL; at;
         at = strtok_r(NULL, "\n", &rest)) {
        char *words;
        const long line = strtol(at, &words, 10);
        char *const verdict = words + 1;
        words = *at == '#' ? NULL : strchr(verdict, ' ');
        if (!words)
            continue;
        *words = '\0';
        compare(&reading, name, (int)line, verdict, words + 1, tally);
    }
    if (opened)
        lab_reading_close(&reading);
    free(expected);
    free(text);
    return opened ? 0 : -1;
}

static void *compare_folder(void *arg)
{
    struct tally *const tally = arg;
    char path[600];
    snprintf(path, sizeof path, "%s/%s", SOLUTIONS, tally->folder);
    DIR *const listing = opendir(path);
    for (struct dirent *entry; listing && (entry = readdir(listing)) != NULL;) {
        const char *const end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".expect") != 0)
            continue;
        tally->failed += compare_file(tally->folder, entry->d_name, tally) != 0;
        tally->files++;
    }
    if (listing)
        closedir(listing);
    return NULL;
}

TEST(solutions_are_read_as_their_authors_wrote_them)
{
    struct tally tally[FOLDERS] = {{.folder = "own"}, {.folder = "blind"}};
    pthread_t thread[FOLDERS];
    int same = 0, against = 0;
    for (int f = 0; f < FOLDERS; f++)
        CHECK(!pthread_create(&thread[f], NULL, compare_folder, &tally[f]), "no thread");
    for (int f = 0; f < FOLDERS; f++) {
        pthread_join(thread[f], NULL);
        printf("%s: %d claims as they deserve, %d beside, %d against, %d not judged\n",
               tally[f].folder, tally[f].same, tally[f].beside, tally[f].against,
               tally[f].missing);
        CHECK(tally[f].files == FILES && !tally[f].failed, "%d files, %d failed",
              tally[f].files, tally[f].failed);
        same += tally[f].same;
        against += tally[f].against;
    }
    CHECK(same >= SAME, "only %d of at least %d", same, SAME);
    CHECK(against <= AGAINST, "%d against", against);
}

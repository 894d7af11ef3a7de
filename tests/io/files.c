/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "files.h"

#include <dirent.h>
#include <unistd.h>

static char files_directory[64];

int files_setup(void)
{
    snprintf(files_directory, sizeof files_directory, "/tmp/attend-test-XXXXXX");
    return mkdtemp(files_directory) != NULL ? 0 : -1;
}

const char *files_path(const char *name)
{
    static char paths[16][512];
    static int next;
    char *const path = paths[next++ % 16];

    snprintf(path, sizeof paths[0], "%s/%s", files_directory, name);
    return path;
}

void files_write(const char *name, const void *bytes, size_t n)
{
    FILE *const file = fopen(files_path(name), "wb");

    if (file == NULL || fwrite(bytes, 1, n, file) != n || fclose(file) != 0) {
        perror(files_path(name));
        abort();
    }
}

int files_count(int removes)
{
    DIR *const directory = opendir(files_directory);
    int count = 0;

    for (struct dirent *entry;
         directory != NULL && (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (removes)
            remove(files_path(entry->d_name));
        count++;
    }
    if (directory != NULL)
        closedir(directory);
    return count;
}

void files_cleanup(void)
{
    files_count(1);
    rmdir(files_directory);
}

const char *files_message_fault(const char *message, const char *name, long long byte,
                                const char *reason)
{
    const char *const path = files_path(name);
    char where[40];

    if (strchr(message, '\n') != NULL)
        return "more than one line";
    if (strncmp(message, path, strlen(path)) != 0)
        return "does not begin with the file";
    snprintf(where, sizeof where, ": byte %lld: ", byte);
    if (byte >= 0 && strncmp(message + strlen(path), where, strlen(where)) != 0)
        return "not the offset";
    return strstr(message, reason) != NULL ? NULL : "not the reason";
}

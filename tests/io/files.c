/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

static char files_directory[64];

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

int files_main(void)
{
    snprintf(files_directory, sizeof files_directory, "/tmp/attend-test-XXXXXX");
    if (mkdtemp(files_directory) == NULL) {
        perror("mkdtemp");
        return 1;
    }
    test_run_all();
    files_count(1);
    rmdir(files_directory);
    return test_finish();
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

/* ---- reading ------------------------------------------------------------- */

/* The file of a spec: the part before its first colon. */
static const char *file_of(const char *spec)
{
    static char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    return name;
}

int files_open(struct io_tensor *tensor, const char *spec, const void *bytes, size_t n,
               int v2_is_bf16, struct io_error *err)
{
    files_write(file_of(spec), bytes, n);
    return io_tensor_open(tensor, files_path(spec), v2_is_bf16, err);
}

static void describe(const struct io_tensor *tensor, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", io_dtype_name(tensor->dtype));

    for (int which = 0; which < 2; which++) {
        const int64_t *const numbers = which ? tensor->stride : tensor->size;
        used += (size_t)snprintf(text + used, size - used, " (");
        for (int i = 0; i < tensor->ndim; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? "," : "",
                                     (long long)numbers[i]);
        used += (size_t)snprintf(text + used, size - used, ")");
    }
}

void files_expect_tensor(const char *spec, const void *bytes, size_t n, int v2_is_bf16,
                         const char *layout, int first)
{
    struct io_tensor tensor;
    struct io_error err = {""};
    char got[128];

    CHECK(files_open(&tensor, spec, bytes, n, v2_is_bf16, &err) == 0, "%s: %s", layout,
          err.message);
    describe(&tensor, got, sizeof got);
    CHECK(strcmp(got, layout) == 0, "%s, not %s", got, layout);
    CHECK(strcmp(tensor.name, files_path(spec)) == 0, "%s", tensor.name);
    const int is_complex = tensor.dtype == IO_C64 || tensor.dtype == IO_C128;
    const size_t size = io_dtype_size(tensor.dtype);
    const size_t word = is_complex ? size / 2 : size > 0 ? size : 1;
    CHECK(tensor.data != NULL && (uintptr_t)tensor.data % word == 0, "%s: misaligned",
          layout);
    for (size_t i = 0; first >= 0 && i < (size > 0 ? size : 1); i++)
        CHECK(((const unsigned char *)tensor.data)[i] == (size_t)first + i,
              "%s: byte %zu is %d", layout, i, ((const unsigned char *)tensor.data)[i]);
    io_tensor_close(&tensor);
}

void files_expect_refusal(const char *spec, const void *bytes, size_t n, long long byte,
                          const char *reason)
{
    struct io_tensor tensor;
    struct io_error err = {""};
    const int header = n < 12 ? 0 : n < 90 ? (int)n - 8 : 82;
    const char *const text = header > 0 ? (const char *)bytes + 8 : "";

    CHECK(files_open(&tensor, spec, bytes, n, 0, &err) == -1, "\"%.*s\" opened, not %s",
          header, text, reason);
    const char *const fault =
        files_message_fault(err.message, file_of(spec), byte, reason);
    CHECK(fault == NULL, "\"%.*s\": %s: %s", header, text, fault, err.message);
    CHECK(strstr(err.message, ": byte ") != NULL, "%s", err.message);
    io_tensor_close(&tensor);
}

int files_change_bytes(const char *spec, unsigned char *bytes, size_t n, size_t header,
                       const unsigned char *others, size_t count)
{
    int refused = 0;

    for (size_t at = 0; at < header * count; at++) {
        struct io_tensor tensor;
        struct io_error err = {""};
        const unsigned char kept = bytes[at / count];
        bytes[at / count] = others[at % count];
        const int status = files_open(&tensor, spec, bytes, n, 0, &err);
        bytes[at / count] = kept;
        if (status != 0 &&
            files_message_fault(err.message, file_of(spec), -1, ": byte ") != NULL)
            test_fail(__FILE__, __LINE__, "one good line", "%s", err.message);
        refused += status != 0;
        io_tensor_close(&tensor);
    }
    return refused;
}

int files_open_huge(struct io_tensor *tensor, const char *spec, const void *bytes,
                    size_t n)
{
    struct io_error err = {""};
    struct timespec before, after;

    files_write(file_of(spec), bytes, n);
    if (truncate(files_path(file_of(spec)), (off_t)n + 10000000000) != 0) {
        test_skip("this file system has no file of 10 GB");
        return 0;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    const int status = io_tensor_open(tensor, files_path(spec), 0, &err);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    const double seconds = (double)(after.tv_sec - before.tv_sec) +
                           1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    if (status == 0 && tensor->copy == NULL && seconds <= 0.05 &&
        ((const float *)tensor->data)[2499999999] == 0.0f)
        return 1;
    test_fail(__FILE__, __LINE__, "opened at once", "%s: %.3f s%s", err.message, seconds,
              tensor->copy != NULL ? ", copied" : "");
    return 0;
}

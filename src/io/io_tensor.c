/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "io/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".safetensors"

/* The data of tensors without elements. */
static const uint64_t nothing;

size_t io_path_length(const char *spec)
{
    static const char mark[] = SUFFIX ":";
    const char *last = NULL;

    for (const char *at = strstr(spec, mark); at != NULL; at = strstr(at + 1, mark))
        last = at;
    return last != NULL ? (size_t)(last - spec) + sizeof SUFFIX - 1 : strlen(spec);
}

int io_spec_split(const char *spec, char **path, const char **name, struct io_error *err)
{
    const size_t n = io_path_length(spec), suffix = sizeof SUFFIX - 1;

    if (spec[n] == '\0' && n >= suffix && strcmp(spec + n - suffix, SUFFIX) == 0)
        return io_fail(err, spec, -1, "name a tensor in it, as FILE.safetensors:NAME");
    *path = malloc(n + 1);
    if (*path == NULL)
        return io_fail(err, spec, -1, "out of memory");
    memcpy(*path, spec, n);
    (*path)[n] = '\0';
    *name = spec[n] != '\0' ? spec + n + 1 : NULL;
    return 0;
}

int io_map_file(const char *path, void **map, size_t *size)
{
    /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;

    struct stat status;
    int failure = 0;
    *map = NULL;
    *size = 0;
    if (fstat(fd, &status) != 0) {
        failure = errno;
    } else if (!S_ISREG(status.st_mode)) {
        failure = S_ISDIR(status.st_mode) ? EISDIR : ESPIPE;
    } else if ((uintmax_t)status.st_size > SIZE_MAX) {
        failure = EFBIG;
    } else if (status.st_size > 0) {
        *size = (size_t)status.st_size;
        *map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (*map == MAP_FAILED)
            failure = errno;
    }
    close(fd);
    errno = failure;
    return failure == 0 ? 0 : -1;
}

static int find(const struct io_tensor *tensor, const char *path, const char *name,
                int v2_is_bf16, struct io_layout *layout, struct io_error *err)
{
    if (name == NULL)
        return io_npy_parse(tensor->map, tensor->map_size, path, v2_is_bf16, layout, err);

    json_t *const header = io_safetensors_load(tensor->map, tensor->map_size, path, err);
    if (header == NULL)
        return -1;
    const int status = io_safetensors_find(header, tensor->map, path, name, layout, err);
    json_decref(header);
    return status;
}

/* Copies words of `word` bytes, each reversed. */
static void copy_reversed(unsigned char *to, const unsigned char *from, size_t bytes,
                          size_t word)
{
    for (size_t at = 0; at < bytes; at += word)
        for (size_t i = 0; i < word; i++)
            to[at + i] = from[at + word - 1 - i];
}

/*
 * Points tensor->data to the payload, or to a copy if byte order or alignment require it.
 */
static int set_data(struct io_tensor *tensor, const struct io_layout *layout,
                    const char *path, struct io_error *err)
{
    const size_t word = (size_t)io_dtype_info(layout->dtype)->word;
    const size_t bytes = (size_t)layout->bytes;
    const unsigned char *const payload =
        (const unsigned char *)tensor->map + layout->offset;
    const int is_reversed = layout->is_big_endian && word > 1;

    if (bytes == 0) {
        tensor->data = &nothing;
        return 0;
    }
    if (!is_reversed && (uintptr_t)payload % word == 0) {
        tensor->data = payload;
        return 0;
    }
    tensor->copy = malloc(bytes);
    if (tensor->copy == NULL)
        return io_fail(err, path, layout->offset,
                       "out of memory for %zu bytes of converted data", bytes);
    if (is_reversed)
        copy_reversed(tensor->copy, payload, bytes, word);
    else
        memcpy(tensor->copy, payload, bytes);
    tensor->data = tensor->copy;
    return 0;
}

int io_tensor_open(struct io_tensor *tensor, const char *spec, int v2_is_bf16,
                   struct io_error *err)
{
    char *path;
    const char *name;
    struct io_layout layout;

    *tensor = (struct io_tensor){.data = NULL};
    if (io_spec_split(spec, &path, &name, err) != 0)
        return -1;
    tensor->name = strdup(spec);
    if (tensor->name == NULL) {
        io_fail(err, path, -1, "out of memory");
        goto fail;
    }
    if (io_map_file(path, &tensor->map, &tensor->map_size) != 0) {
        tensor->map = NULL;
        io_fail(err, path, -1, "cannot open: %s",
                errno == ESPIPE ? "not a regular file" : strerror(errno));
        goto fail;
    }
    if (find(tensor, path, name, v2_is_bf16, &layout, err) != 0 ||
        set_data(tensor, &layout, path, err) != 0)
        goto fail;
    tensor->dtype = layout.dtype;
    tensor->ndim = layout.ndim;
    memcpy(tensor->size, layout.size, sizeof tensor->size);
    memcpy(tensor->stride, layout.stride, sizeof tensor->stride);
    free(path);
    return 0;
fail:
    free(path);
    io_tensor_close(tensor);
    return -1;
}

void io_tensor_close(struct io_tensor *tensor)
{
    if (tensor->map != NULL)
        munmap(tensor->map, tensor->map_size);
    free(tensor->copy);
    free(tensor->name);
    *tensor = (struct io_tensor){.data = NULL};
}

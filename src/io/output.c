/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700
#define _DARWIN_C_SOURCE
#include "io/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The outputs that share one file; `name` is NULL for a .npy file. */
struct group {
    struct io_output *output[IO_MAX_OUTPUTS];
    const char *name[IO_MAX_OUTPUTS];
    struct io_layout layout[IO_MAX_OUTPUTS];
    int count;
};

/* Reserves the bytes of a new file; returns 0 or an errno value. */
static int reserve_bytes(int fd, size_t size)
{
#ifdef __APPLE__
    /* No posix_fallocate here: F_PREALLOCATE reserves, ftruncate sets the size. */
    fstore_t store = {.fst_flags = F_ALLOCATEALL,
                      .fst_posmode = F_PEOFPOSMODE,
                      .fst_length = (off_t)size};

    return fcntl(fd, F_PREALLOCATE, &store) == -1 || ftruncate(fd, (off_t)size) != 0
               ? errno
               : 0;
#else
    return posix_fallocate(fd, 0, (off_t)size);
#endif
}

static size_t directory_length(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* Sets the name of a temporary file beside file->path; -1: the path is too long. */
static int set_temporary_name(struct io_outputs_file *file, int number)
{
    const size_t directory = directory_length(file->path);
    const size_t left = sizeof file->temp - directory;

    if (directory >= sizeof file->temp - 64)
        return -1;
    memcpy(file->temp, file->path, directory);
    snprintf(file->temp + directory, left, ".attend-%ld-%d.tmp", (long)getpid(), number);
    return 0;
}

static int stat_directory(const char *path, struct stat *status)
{
    char *const copy = strdup(path);

    if (copy == NULL)
        return -1;
    copy[directory_length(path)] = '\0';
    const int result = stat(copy[0] != '\0' ? copy : ".", status);
    free(copy);
    return result;
}

int io_is_same_path(const char *a, const char *b)
{
    struct stat at, bt;

    if (strcmp(a, b) == 0)
        return 1;
    if (strcmp(a + directory_length(a), b + directory_length(b)) != 0)
        return 0;
    return stat_directory(a, &at) == 0 && stat_directory(b, &bt) == 0 &&
           at.st_dev == bt.st_dev && at.st_ino == bt.st_ino;
}

static int is_written_name(const struct group *group, const char *name)
{
    for (int i = 0; i < group->count; i++)
        if (strcmp(group->name[i], name) == 0)
            return 1;
    return 0;
}

/* Fails if an older .safetensors file has a tensor that its replacement lacks. */
static int check_holds_no_more(const char *path, const struct group *group,
                               struct io_error *err)
{
    void *map;
    size_t size;
    int status = 0;

    if (io_map_file(path, &map, &size) != 0)
        return errno == ENOENT
                   ? 0
                   : io_fail(err, path, -1, "cannot read what it would replace: %s",
                             strerror(errno));
    if (size == 0)
        return 0;
    struct io_error why;
    json_t *const header = io_safetensors_load(map, size, path, &why);
    if (header == NULL) {
        status = io_fail(err, path, -1,
                         "exists and is not a valid .safetensors file; "
                         "it is not replaced");
    } else {
        const char *key;
        json_t *value;
        json_object_foreach (header, key, value) {
            if (is_written_name(group, key))
                continue;
            char shown[64];
            io_quote(shown, sizeof shown, key, strlen(key));
            status = io_fail(err, path, -1,
                             "exists and also holds '%s'; it is not replaced", shown);
            break;
        }
    }
    json_decref(header);
    munmap(map, size);
    return status;
}

const char *io_refusal(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return errno == ENOENT ? NULL : strerror(errno);
    if (!S_ISREG(status.st_mode))
        return S_ISDIR(status.st_mode) ? strerror(EISDIR) : "not a regular file";
    return access(path, W_OK) != 0 ? strerror(errno) : NULL;
}

static int check_target(const char *path, const struct group *group, struct io_error *err)
{
    const char *const reason = io_refusal(path);

    if (reason != NULL)
        return io_fail(err, path, -1, "cannot write: %s", reason);
    return group->name[0] != NULL ? check_holds_no_more(path, group, err) : 0;
}

/* A new file under a temporary name, `size` bytes long, mapped. */
static int create_file(struct io_outputs_file *file, size_t size, struct io_error *err)
{
    int failure = EEXIST;

    for (int number = 0; number < 1000 && failure == EEXIST; number++) {
        if (set_temporary_name(file, number) != 0)
            return io_fail(err, file->path, -1, "cannot write: %s",
                           strerror(ENAMETOOLONG));
        /* Set before the file exists, so that a signal in between removes it. */
        atomic_store(&file->is_live, 1);
        file->fd = open(file->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        failure = file->fd >= 0 ? 0 : errno;
        if (failure != 0)
            atomic_store(&file->is_live, 0);
    }
    struct stat older;
    if (failure == 0 && stat(file->path, &older) == 0 &&
        fchmod(file->fd, older.st_mode & 0777) != 0)
        failure = errno; /* keeps the permissions of the older file */
    /* Space is reserved now: a full disk met through the mapping would be SIGBUS. */
    if (failure == 0)
        failure = reserve_bytes(file->fd, size);
    if (failure == 0) {
        void *const map =
            mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
        if (map != MAP_FAILED) {
            file->map = map;
            file->map_size = size;
        } else {
            failure = errno;
        }
    }
    if (failure != 0)
        return io_fail(err, file->path, -1, "cannot write: %s", strerror(failure));
    return 0;
}

/* Maps the file that another process has created under file->temp. */
static int open_file(struct io_outputs_file *file, size_t size, struct io_error *err)
{
    struct stat status;
    int failure = 0;

    atomic_store(&file->is_live, 1);
    file->fd = open(file->temp, O_RDWR | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &status) != 0)
        failure = errno;
    else if ((uintmax_t)status.st_size != size)
        failure = ESTALE;
    if (failure == 0) {
        void *const map =
            mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
        if (map != MAP_FAILED) {
            file->map = map;
            file->map_size = size;
        } else {
            failure = errno;
        }
    }
    return failure == 0
               ? 0
               : io_fail(err, file->path, -1, "cannot write: %s", strerror(failure));
}

/* The bytes before the payloads, which the caller frees; sets the layouts' offsets. */
static unsigned char *make_header(struct group *group, const char *path, size_t *size,
                                  struct io_error *err)
{
    struct io_layout *layouts[IO_MAX_OUTPUTS];
    unsigned char *header;

    for (int i = 0; i < group->count; i++)
        layouts[i] = &group->layout[i];
    if (group->name[0] == NULL) {
        header = io_npy_header(layouts[0], size);
        if (header != NULL)
            layouts[0]->offset = (int64_t)*size;
    } else {
        header = io_safetensors_header(layouts, group->name, group->count, size);
    }
    if (header == NULL)
        io_fail(err, path, -1,
                "cannot write its header: out of memory, or a name not in UTF-8");
    return header;
}

/* `is_there`: another process has created it. */
static int prepare_file(struct io_outputs_file *file, struct group *group, int is_there,
                        struct io_error *err)
{
    size_t size;
    unsigned char *const header = make_header(group, file->path, &size, err);

    if (header == NULL)
        return -1;
    int64_t total = (int64_t)size;
    int status = 0;
    for (int i = 0; i < group->count && status == 0; i++)
        if (__builtin_add_overflow(total, group->layout[i].bytes, &total) ||
            total > PTRDIFF_MAX)
            status = io_fail(err, file->path, -1, "cannot write: %s", strerror(EFBIG));
    if (status == 0 && !is_there)
        status = check_target(file->path, group, err);
    if (status == 0)
        status = is_there ? open_file(file, (size_t)total, err)
                          : create_file(file, (size_t)total, err);
    if (status == 0) {
        if (!is_there)
            memcpy(file->map, header, size);
        for (int i = 0; i < group->count; i++)
            group->output[i]->data = (unsigned char *)file->map + group->layout[i].offset;
    }
    free(header);
    return status;
}

/* Follows a link: its target is replaced, the link remains. */
static void follow_link(char **path)
{
    struct stat status;
    char *const target = lstat(*path, &status) == 0 && S_ISLNK(status.st_mode)
                             ? realpath(*path, NULL)
                             : NULL;

    if (target != NULL) {
        free(*path);
        *path = target;
    }
}

/* Adds an output to the group of its file, which is created if necessary. */
static int join_group(struct io_outputs *set, struct group *groups,
                      struct io_output *output, struct io_error *err)
{
    char *path;
    const char *name;
    struct io_layout layout = {.dtype = output->dtype, .ndim = output->ndim};

    if (io_spec_split(output->spec, &path, &name, err) != 0)
        return -1;
    follow_link(&path);
    int f = 0;
    while (f < set->count && !io_is_same_path(set->file[f].path, path))
        f++;
    if (f == IO_MAX_FILES) {
        free(path);
        return io_fail(err, output->spec, -1, "outputs go to more than %d files",
                       IO_MAX_FILES);
    }
    if (f == set->count) {
        set->file[f].path = path;
        set->file[f].fd = -1;
        set->count++;
    } else {
        free(path);
        path = set->file[f].path;
        if (name == NULL || is_written_name(&groups[f], name))
            return io_fail(err, output->spec, -1, "is the name of two outputs");
    }
    const size_t length = strlen(path);
    if (name == NULL && (length < 4 || strcmp(path + length - 4, ".npy") != 0))
        return io_fail(err, path, -1, "an output is FILE.npy or FILE.safetensors:NAME");
    if (name != NULL && (name[0] == '\0' || strcmp(name, "__metadata__") == 0))
        return io_fail(err, output->spec, -1, "this cannot be the name of a tensor");
    const struct io_dtype_info *const info = io_dtype_info(output->dtype);
    if ((name != NULL ? info->safetensors : info->npy) == NULL)
        return io_fail(err, path, -1, "%s cannot hold %s%s",
                       name != NULL ? ".safetensors" : ".npy", info->name,
                       name != NULL ? "" : "; write to FILE.safetensors:NAME");
    memcpy(layout.size, output->size, sizeof layout.size);
    const char *const reason = io_layout_fill(&layout, 0);
    if (reason != NULL)
        return io_fail(err, path, -1, "%s", reason);

    struct group *const group = &groups[f];
    group->output[group->count] = output;
    group->name[group->count] = name;
    group->layout[group->count++] = layout;
    return 0;
}

/* `owner` NULL: the files are new. */
static int prepare(struct io_outputs *set, struct io_output *outputs, int count,
                   const struct io_outputs *owner, struct io_error *err)
{
    if (count > IO_MAX_OUTPUTS)
        return io_fail(err, outputs[0].spec, -1, "more than %d outputs", IO_MAX_OUTPUTS);
    struct group *const groups = calloc(IO_MAX_FILES, sizeof *groups);
    if (groups == NULL)
        return io_fail(err, outputs[0].spec, -1, "out of memory");

    int status = 0;
    set->count = 0;
    for (int i = 0; i < count && status == 0; i++)
        status = join_group(set, groups, &outputs[i], err);
    for (int f = 0; f < set->count && status == 0; f++) {
        if (owner != NULL)
            memcpy(set->file[f].temp, owner->file[f].temp, sizeof set->file[f].temp);
        status = prepare_file(&set->file[f], &groups[f], owner != NULL, err);
    }
    free(groups);
    if (status != 0)
        io_outputs_abort(set);
    return status;
}

int io_outputs_prepare(struct io_outputs *set, struct io_output *outputs, int count,
                       struct io_error *err)
{
    return prepare(set, outputs, count, NULL, err);
}

int io_outputs_attach(struct io_outputs *set, struct io_output *outputs, int count,
                      const struct io_outputs *owner, struct io_error *err)
{
    return prepare(set, outputs, count, owner, err);
}

static void unmap_file(struct io_outputs_file *file)
{
    if (file->map != NULL)
        munmap(file->map, file->map_size);
    if (file->fd >= 0)
        close(file->fd);
    file->map = NULL;
    file->fd = -1;
}

int io_outputs_detach(struct io_outputs *set, struct io_error *err)
{
    int status = 0;

    for (int f = 0; f < set->count; f++) {
        struct io_outputs_file *const file = &set->file[f];

        if (file->map != NULL && msync(file->map, file->map_size, MS_SYNC) != 0 &&
            status == 0)
            status = io_fail(err, file->path, -1, "cannot write: %s", strerror(errno));
        atomic_store(&file->is_live, 0);
    }
    io_outputs_abort(set);
    return status;
}

int io_outputs_commit(struct io_outputs *set, struct io_error *err)
{
    int status = 0, renamed = 0;

    /*
     * Synced before the rename: after a crash the name must not refer to an incomplete
     * file.
     */
    for (int f = 0; f < set->count && status == 0; f++)
        if (fsync(set->file[f].fd) != 0)
            status =
                io_fail(err, set->file[f].path, -1, "cannot write: %s", strerror(errno));
    for (int f = 0; f < set->count; f++)
        unmap_file(&set->file[f]);
    while (renamed < set->count && status == 0) {
        struct io_outputs_file *const file = &set->file[renamed];
        if (rename(file->temp, file->path) != 0) {
            status = io_fail(err, file->path, -1, "cannot write: %s", strerror(errno));
        } else {
            atomic_store(&file->is_live, 0);
            renamed++;
        }
    }
    for (int f = 0; f < renamed && status != 0; f++)
        unlink(set->file[f].path);
    io_outputs_abort(set);
    return status;
}

void io_outputs_abort(struct io_outputs *set)
{
    io_outputs_unlink(set);
    for (int f = 0; f < set->count; f++) {
        unmap_file(&set->file[f]);
        free(set->file[f].path);
        set->file[f].path = NULL;
    }
    set->count = 0;
}

void io_outputs_unlink(struct io_outputs *set)
{
    for (int f = 0; f < IO_MAX_FILES; f++)
        if (atomic_exchange(&set->file[f].is_live, 0))
            unlink(set->file[f].temp);
}

/* SPDX-License-Identifier: MIT */
/* Outputs are written completely and together, or not at all. */
#include "files.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct io_outputs set;

/* A spec in the directory, valid until the sixteenth call after. */
static struct io_output make(const char *spec, enum io_dtype dtype, int ndim, int64_t n0,
                             int64_t n1)
{
    return (struct io_output){
        .spec = files_path(spec), .dtype = dtype, .ndim = ndim, .size = {n0, n1}};
}

static void fill(const struct io_output *output, size_t bytes, int first)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)output->data)[i] = (unsigned char)((size_t)first + i);
}

/* Prepares outputs, fills the first bytes of each, and commits; 0 after a failure. */
static int write_all(struct io_output *outputs, int count, size_t bytes, int first)
{
    struct io_error err = {""};
    int status = io_outputs_prepare(&set, outputs, count, &err);

    for (int x = 0; x < count && status == 0; x++)
        fill(&outputs[x], bytes, first);
    if (status == 0)
        status = io_outputs_commit(&set, &err);
    if (status != 0)
        test_fail(__FILE__, __LINE__, "written", "%s", err.message);
    return status == 0;
}

/* Opens the file and compares it with the data of fill(). */
static void expect_content(const char *spec, enum io_dtype dtype, int ndim, size_t bytes,
                           int first)
{
    struct io_tensor tensor;
    struct io_error err = {""};

    CHECK(io_tensor_open(&tensor, files_path(spec), 0, &err) == 0, "%s", err.message);
    CHECK(tensor.dtype == dtype && tensor.ndim == ndim, "%s: %s, %d axes", spec,
          io_dtype_name(tensor.dtype), tensor.ndim);
    CHECK(tensor.copy == NULL, "%s was not aligned", spec);
    for (size_t i = 0; i < bytes; i++)
        CHECK(((const unsigned char *)tensor.data)[i] ==
                  (unsigned char)((size_t)first + i),
              "%s: byte %zu", spec, i);
    io_tensor_close(&tensor);
}

static void expect_refusal(struct io_output *outputs, int count, const char *reason)
{
    struct io_error err = {""};
    const int before = files_count(0);

    CHECK(io_outputs_prepare(&set, outputs, count, &err) == -1, "%s: prepared", reason);
    CHECK(strstr(err.message, reason) != NULL, "'%s' is not in: %s", reason, err.message);
    CHECK(strchr(err.message, '\n') == NULL, "%s", err.message);
    CHECK(files_count(0) == before, "%s: a file was left behind", reason);
    CHECK(set.count == 0, "%s: the set is not empty", reason);
}

TEST(npy_is_written_and_read_back)
{
    static const enum io_dtype dtypes[] = {IO_F64, IO_F32, IO_F16, IO_BOOL};
    struct io_error err = {""};

    for (int d = 0; d < 4; d++) {
        for (int ndim = 0; ndim <= 2; ndim++) {
            struct io_output output = make("a.npy", dtypes[d], ndim, 3, 5);
            const size_t bytes = io_dtype_size(dtypes[d]) * (ndim == 0   ? 1
                                                             : ndim == 1 ? 3
                                                                         : 15);
            CHECK(write_all(&output, 1, bytes, 7), "%d axes", ndim);
            expect_content("a.npy", dtypes[d], ndim, bytes, 7);
            CHECK(files_count(0) == 1, "%d files", files_count(0));
        }
    }
    struct io_output empty = make("a.npy", IO_F32, 2, 0, 5);
    CHECK(io_outputs_prepare(&set, &empty, 1, &err) == 0, "%s", err.message);
    CHECK(empty.data != NULL, "no data");
    CHECK(io_outputs_commit(&set, &err) == 0, "%s", err.message);
    expect_content("a.npy", IO_F32, 2, 0, 0);
    files_count(1);
}

TEST(outputs_may_share_a_safetensors_file)
{
    struct io_error err = {""};
    struct io_output outputs[] = {
        make("a.safetensors:o:\"\n", IO_BF16, 1, 3, 0),
        make("./a.safetensors:lse", IO_F32, 2, 2, 2),
        make("b.npy", IO_F64, 1, 1, 0),
        make("a.safetensors:p", IO_F64, 1, 2, 0),
    };

    for (int again = 0; again < 2; again++) {
        CHECK(io_outputs_prepare(&set, outputs, 4, &err) == 0, "%s", err.message);
        fill(&outputs[0], 6, 1);
        fill(&outputs[1], 16, 2);
        fill(&outputs[2], 8, 3);
        fill(&outputs[3], 16, 4);
        CHECK(io_outputs_commit(&set, &err) == 0, "%s", err.message);
        outputs[0].spec = files_path("a.safetensors:o:\"\n");
        outputs[1].spec = files_path("./a.safetensors:lse");
        outputs[2].spec = files_path("b.npy");
        outputs[3].spec = files_path("a.safetensors:p");
    }
    expect_content("a.safetensors:o:\"\n", IO_BF16, 1, 6, 1);
    expect_content("a.safetensors:lse", IO_F32, 2, 16, 2);
    expect_content("b.npy", IO_F64, 1, 8, 3);
    expect_content("a.safetensors:p", IO_F64, 1, 16, 4);
    CHECK(files_count(1) == 2, "not two files");
}

static void refuse_one(const char *spec, enum io_dtype dtype, int ndim, int64_t n0,
                       int64_t n1, const char *reason)
{
    struct io_output output = make(spec, dtype, ndim, n0, n1);

    expect_refusal(&output, 1, reason);
}

static void refuse_second(const char *first, const char *second, const char *reason)
{
    struct io_output outputs[] = {make(first, IO_F32, 1, 3, 0),
                                  make(second, IO_F32, 1, 3, 0)};

    expect_refusal(outputs, 2, reason);
}

TEST(what_cannot_be_written_is_refused)
{
    struct io_output outputs[IO_MAX_OUTPUTS + 1];

    refuse_one("a.npy", IO_BF16, 1, 3, 0,
               ".npy cannot hold bfloat16; write to FILE.safetensors:NAME");
    refuse_one("a.safetensors:t", IO_C128, 1, 3, 0,
               ".safetensors cannot hold complex128");
    refuse_one("a.txt", IO_F32, 1, 3, 0, "FILE.npy or FILE.safetensors:NAME");
    refuse_one("a.safetensors", IO_F32, 1, 3, 0, "FILE.safetensors:NAME");
    refuse_one("a.safetensors:", IO_F32, 1, 3, 0, "cannot be the name");
    refuse_one("a.safetensors:__metadata__", IO_F32, 1, 3, 0, "cannot be the name");
    refuse_one("a.safetensors:\xff", IO_F32, 1, 3, 0, "UTF-8");
    refuse_one("a.npy", IO_F32, 2, (int64_t)1 << 62, 4, "more elements");
    refuse_one("a.npy", IO_BOOL, 1, (int64_t)1 << 59, 0, "cannot write: ");
    refuse_second("a.npy", "./a.npy", "two outputs");
    refuse_second("a.safetensors:t", "a.safetensors:t", "two outputs");
    refuse_second("a.npy", "none/b.npy", "none/b.npy: cannot write: No such file");
    outputs[0] = make("a.npy", IO_F32, 1, 3, 0);
    outputs[1] = (struct io_output){.spec = "/proc/b.npy", .dtype = IO_F32};
    expect_refusal(outputs, 2, "/proc/b.npy: cannot write: ");
    CHECK(mkdir(files_path("d.npy"), 0777) == 0, "mkdir");
    refuse_second("a.npy", "d.npy", "d.npy: cannot write: Is a directory");
    refuse_second("a.npy", "d.npy/x/y.npy", "cannot write: No such file");
    files_count(1);
    files_write("f", "", 0);
    refuse_second("a.npy", "f/y.npy", "cannot write: Not a directory");
    for (int i = 0; i < IO_MAX_FILES + 1; i++) {
        char name[16];

        snprintf(name, sizeof name, "%d.npy", i);
        outputs[i] = make(name, IO_F32, 1, 3, 0);
    }
    expect_refusal(outputs, IO_MAX_FILES + 1, "more than 8 files");
    for (int i = 0; i < IO_MAX_OUTPUTS + 1; i++)
        outputs[i] = make("a.npy", IO_F32, 1, 3, 0);
    expect_refusal(outputs, IO_MAX_OUTPUTS + 1, "more than 32 outputs");
    files_count(1);
}

TEST(abort_leaves_the_old_and_nothing_new)
{
    struct io_error err = {""};
    struct io_output output = make("a.npy", IO_F32, 1, 3, 0);

    CHECK(write_all(&output, 1, 12, 5), "the old");
    CHECK(io_outputs_prepare(&set, &output, 1, &err) == 0, "%s", err.message);
    fill(&output, 12, 9);
    CHECK(files_count(0) == 2, "%d files under way", files_count(0));
    io_outputs_abort(&set);
    io_outputs_abort(&set);
    CHECK(files_count(0) == 1, "%d files", files_count(0));
    expect_content("a.npy", IO_F32, 1, 12, 5);
    files_count(1);
}

/* The second rename fails: the first file must be removed. */
TEST(a_failed_commit_leaves_nothing)
{
    struct io_error err = {""};
    struct io_output outputs[] = {make("a.npy", IO_F32, 1, 3, 0),
                                  make("b.npy", IO_F32, 1, 3, 0)};

    CHECK(io_outputs_prepare(&set, outputs, 2, &err) == 0, "%s", err.message);
    CHECK(mkdir(files_path("b.npy"), 0777) == 0, "mkdir");
    CHECK(io_outputs_commit(&set, &err) == -1, "committed");
    CHECK(strstr(err.message, "b.npy: cannot write: ") != NULL, "%s", err.message);
    CHECK(files_count(1) == 1, "more than the directory is left");
}

/* --q m.safetensors:q --out m.safetensors:o must not destroy the model. */
TEST(a_safetensors_file_with_more_in_it_is_kept)
{
    struct io_output outputs[] = {make("a.safetensors:x", IO_F32, 1, 1, 0),
                                  make("a.safetensors:y", IO_F32, 1, 1, 0)};

    CHECK(write_all(outputs, 2, 0, 0), "two tensors");
    outputs[0] = make("a.safetensors:x", IO_F32, 1, 1, 0);
    expect_refusal(outputs, 1, "also holds 'y'");
    files_write("a.safetensors", "junk", 4);
    expect_refusal(outputs, 1, "not a valid .safetensors file");
    files_write("a.safetensors", "", 0);
    CHECK(write_all(outputs, 1, 0, 0), "in place of an empty file");
    files_count(1);
}

TEST(an_open_input_may_be_replaced)
{
    struct io_error err = {""};
    struct io_tensor input;
    struct io_output output = make("a.npy", IO_F32, 1, 3, 0);

    CHECK(write_all(&output, 1, 12, 1), "the input");
    CHECK(io_tensor_open(&input, files_path("a.npy"), 0, &err) == 0, "%s", err.message);
    output = make("a.npy", IO_F32, 1, 3, 0);
    CHECK(write_all(&output, 1, 12, 100), "the output");
    CHECK(*(const unsigned char *)input.data == 1, "the input changed");
    io_tensor_close(&input);
    expect_content("a.npy", IO_F32, 1, 12, 100);
    files_count(1);
}

static void on_signal(int number)
{
    io_outputs_unlink(&set);
    _exit(number);
}

TEST(a_signal_handler_can_clean_up)
{
    struct io_error err = {""};
    struct io_output outputs[] = {make("a.npy", IO_F32, 1, 3, 0),
                                  make("a.safetensors:t", IO_F32, 1, 3, 0)};
    int status;

    fflush(stdout);
    const pid_t child = fork();
    CHECK(child >= 0, "fork");
    if (child == 0) {
        signal(SIGINT, on_signal);
        if (io_outputs_prepare(&set, outputs, 2, &err) != 0 || files_count(0) != 2)
            _exit(0);
        raise(SIGINT);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child, "waitpid");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == SIGINT, "status %d", status);
    CHECK(files_count(0) == 0, "%d files left", files_count(0));
}

/* A stale temporary file of an earlier process with this number is not touched. */
TEST(mode_and_link_of_the_old_file_stay)
{
    struct io_output output = make("link.npy", IO_F32, 1, 4, 0);
    struct stat status;

    files_write("private.npy", "", 0);
    CHECK(chmod(files_path("private.npy"), 0600) == 0, "chmod");
    CHECK(symlink("private.npy", files_path("link.npy")) == 0, "symlink");
    CHECK(write_all(&output, 1, 16, 7), "through the link");
    CHECK(lstat(files_path("link.npy"), &status) == 0 && S_ISLNK(status.st_mode),
          "the link became a file");
    CHECK(stat(files_path("private.npy"), &status) == 0 &&
              (status.st_mode & 0777) == 0600,
          "mode %o", (unsigned)status.st_mode & 0777u);
    expect_content("private.npy", IO_F32, 1, 16, 7);
    files_count(1);
}

TEST(a_stale_temporary_file_is_no_obstacle)
{
    struct io_output output = make("a.npy", IO_F32, 1, 3, 0);
    char name[64];

    snprintf(name, sizeof name, ".attend-%ld-0.tmp", (long)getpid());
    files_write(name, "stale", 5);
    CHECK(write_all(&output, 1, 0, 0), "beside a stale file");
    CHECK(files_count(1) == 2, "not two files");
}

int main(void) { return files_main(); }

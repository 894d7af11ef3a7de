/* SPDX-License-Identifier: MIT */
/* `attend page`: writes the page of the laboratory, which `make page` has built. */
#define _POSIX_C_SOURCE 200809L

#include "shared/commands.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shared/flags.h"
#include "shared/text_file.h"

static const char help_text[] =
    "usage: attend page [-o FILE]\n"
    "\n"
    "Writes the page of the laboratory: one file that any browser opens, from disk or\n"
    "from any server, without a network.  The engine runs in it as WebAssembly.  It has\n"
    "a playground for queries and keys, the exercise question by question with plots\n"
    "that follow sliders, the statements of the sheets, a form that grades answers, and\n"
    "statistics of the heads of your own tensors.\n"
    "\n"
    "The page is built by 'make page', which needs emscripten, and installed by 'make\n"
    "install' where it was built.\n"
    "\n"
    "options:\n"
    "@21 output help\n"
    "\n"
    "example:\n"
    "  attend page -o attend.html && xdg-open attend.html\n";

enum { PATH_SIZE = 4096 };

/* Paths of the page relative to the program: installed, and in the build. */
static const char *const places[] = {"/../share/attend/attend.html", "/../attend.html"};

/* Opens the page that belongs to this program; NULL: there is none. */
static FILE *open_page(void)
{
    char path[PATH_SIZE + 64];
    const ssize_t length = readlink("/proc/self/exe", path, PATH_SIZE);
    FILE *page = NULL;

    if (length <= 0) /* the system has no path of the running program */
        return fopen(ATTEND_PAGE_FILE, "rb");
    path[length] = '\0';
    char *const slash = strrchr(path, '/');
    for (size_t x = 0; slash && !page && x < sizeof places / sizeof places[0]; x++) {
        strcpy(slash, places[x]);
        page = fopen(path, "rb");
    }
    return page;
}

static int copy(FILE *from, FILE *to)
{
    char bytes[1 << 14];
    size_t count;

    while ((count = fread(bytes, 1, sizeof bytes, from)) > 0)
        if (fwrite(bytes, 1, count, to) != count)
            return -1;
    return ferror(from) ? -1 : 0;
}

static int write_page(const char *path, FILE *page)
{
    tool_text file;
    int status = tool_text_open("page", "-o", path, &file);

    if (status)
        return status;
    if (copy(page, file.stream))
        status = tool_fail("page", TOOL_FAILED, "'%s' could not be written", path);
    else
        status = tool_text_commit("page", &file);
    tool_text_discard(&file);
    if (!status)
        printf("the page: %s\n", path);
    return status ? status : tool_finish_output("page", TOOL_OK);
}

int cmd_page(int argc, char **argv)
{
    const char *path = "attend.html";
    const struct tool_flag flags[] = {
        FLAG_LINE(const char *, "output", tool_read_text, &path, .letter = 'o',
                  .takes = "FILE", .help = "where to write it (attend.html)"),
    };
    int status = tool_read_flags("page", argc, argv, FLAG_TABLE(flags), help_text);

    if (status)
        return status;
    FILE *const page = open_page();
    if (!page)
        return tool_fail("page", TOOL_FAILED,
                         "no page was built: type 'make page' where attend was built "
                         "(it needs emscripten), then 'make install' if it is installed");
    status = write_page(path, page);
    fclose(page);
    return status;
}

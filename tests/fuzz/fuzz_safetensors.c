/* SPDX-License-Identifier: MIT */
/*
 * Fuzz the .safetensors reader.  Tensors of a file that loads must lie inside it and
 * together have exactly the bytes after the header.
 */
#include "io/formats.h"

#include <string.h>

#include "demand.h"

static void check_message(const struct io_error *err)
{
    demand(strncmp(err->message, "f.safetensors: byte ", 20) == 0, "file and offset");
    for (const char *c = err->message; *c != '\0'; c++)
        demand(*c >= 0x20 && *c < 0x7f, "printable ASCII, one line");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct io_error err = {""};
    json_t *const header = io_safetensors_load(data, size, "f.safetensors", &err);

    if (header == NULL) {
        check_message(&err);
        return 0;
    }
    struct io_layout layout;
    uint64_t length, total = 0;
    const char *name;
    json_t *value;
    memcpy(&length, data, sizeof length);
    json_object_foreach (header, name, value) {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        demand(io_safetensors_find(header, data, "f.safetensors", name, &layout, &err) ==
                   0,
               "every tensor is found");
        demand((uint64_t)layout.offset >= 8 + length, "after the header");
        demand((uint64_t)layout.offset + (uint64_t)layout.bytes <= size, "inside");
        total += (uint64_t)layout.bytes;
    }
    demand(8 + length + total == size, "tensors tile the file");
    if (io_safetensors_find(header, data, "f.safetensors", "no\x01ne", &layout, &err) !=
        0)
        check_message(&err);
    json_decref(header);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "base/struct_size.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"

/* Larger than any struct: a size above is not initialised memory. */
enum { SIZE_MOST = 4096 };

static size_t size_of(const void *given)
{
    size_t size;

    memcpy(&size, given, sizeof size);
    return size;
}

static attend_status check_size(const struct struct_sizes *s, size_t size,
                                attend_error *err)
{
    const size_t own = s->size[s->count - 1];
    bool known = size > own && size <= SIZE_MOST;

    for (size_t x = 0; x < s->count; x++)
        known = known || size == s->size[x];
    if (!known && size < s->size[0])
        return attendi_fail(err, ATTEND_EINVAL,
                            "%s.struct_size (%zu) is below %zu, the first size", s->name,
                            size, s->size[0]);
    if (!known)
        return attendi_fail(err, ATTEND_EINVAL,
                            "%s.struct_size (%zu) is not the size of any header; "
                            "this library has %zu",
                            s->name, size, own);
    return ATTEND_OK;
}

attend_status attendi_struct_read(const struct struct_sizes *s, const void *given,
                                  void *own, attend_error *err)
{
    const size_t size = size_of(given), own_size = s->size[s->count - 1];
    const unsigned char *const bytes = given;
    TRY(check_size(s, size, err));
    for (size_t at = own_size; at < size; at++)
        if (bytes[at] != 0)
            return attendi_fail(err, ATTEND_EUNSUPPORTED,
                                "%s has byte %zu of %zu set, a field that this library "
                                "(%s) lacks",
                                s->name, at, size, attend_version());
    memcpy((char *)own + sizeof size, bytes + sizeof size,
           (size < own_size ? size : own_size) - sizeof size);
    return ATTEND_OK;
}

attend_status attendi_struct_write(const struct struct_sizes *s, const void *own,
                                   void *given, attend_error *err)
{
    const size_t size = size_of(given), own_size = s->size[s->count - 1];
    TRY(check_size(s, size, err));
    memset((char *)given + sizeof size, 0, size - sizeof size);
    memcpy((char *)given + sizeof size, (const char *)own + sizeof size,
           (size < own_size ? size : own_size) - sizeof size);
    return ATTEND_OK;
}

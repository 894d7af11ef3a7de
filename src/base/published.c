/* SPDX-License-Identifier: MIT */
#include "base/published.h"

#include <stddef.h>

#include "base/base.h"
#include "base/struct_size.h"

/* The 0.1 size of a struct is the offset of its first later field. */
#define SIZE_BEFORE(type, field) offsetof(type, field)

#define PUBLISHED(kind, text, ...)                                                       \
    static const size_t kind##_size[] = {__VA_ARGS__};                                   \
    static const struct struct_sizes kind##_sizes = {text, ARRAY_LEN(kind##_size),       \
                                                     kind##_size};

PUBLISHED(options, "options", SIZE_BEFORE(attend_options, order),
          SIZE_BEFORE(attend_options, device), SIZE_BEFORE(attend_options, cancelled),
          sizeof(attend_options))
PUBLISHED(rule, "rule", SIZE_BEFORE(attend_rule, first_query), sizeof(attend_rule))
PUBLISHED(io, "io", sizeof(attend_io))
PUBLISHED(stats, "stats", SIZE_BEFORE(attend_stats, raw), sizeof(attend_stats))
PUBLISHED(inspection, "inspection", sizeof(attend_inspection))
PUBLISHED(head, "head", sizeof(attend_head))
PUBLISHED(isa, "isa", sizeof(attend_isa))

attend_status attendi_options_read(const attend_options *given, attend_options *own,
                                   attend_error *err)
{
    *own = attend_options_default();
    return given ? attendi_struct_read(&options_sizes, given, own, err) : ATTEND_OK;
}

attend_status attendi_rule_read(const attend_rule *given, attend_rule *own,
                                attend_error *err)
{
    *own = attend_rule_default();
    return given ? attendi_struct_read(&rule_sizes, given, own, err) : ATTEND_OK;
}

attend_status attendi_io_read(const attend_io *given, attend_io *own, attend_error *err)
{
    *own = attend_io_default();
    return attendi_struct_read(&io_sizes, given, own, err);
}

/* A struct of 0.1 has no size of summaries: it stays 0. */
attend_status attendi_stats_request_read(const attend_stats *given, attend_stats *own,
                                         attend_error *err)
{
    *own = attend_stats_default();
    own->summary_stride = own->summary_kinds = 0;
    return attendi_struct_read(&stats_sizes, given, own, err);
}

attend_status attendi_inspection_read(const attend_inspection *given,
                                      attend_inspection *own, attend_error *err)
{
    *own = attend_inspection_default();
    return attendi_struct_read(&inspection_sizes, given, own, err);
}

attend_status attendi_head_load(const attend_head *given, attend_head *own,
                                attend_error *err)
{
    *own = (attend_head){.struct_size = sizeof *own};
    return attendi_struct_read(&head_sizes, given, own, err);
}

attend_status attendi_head_store(const attend_head *own, attend_head *given,
                                 attend_error *err)
{
    return attendi_struct_write(&head_sizes, own, given, err);
}

attend_status attendi_isa_store(const attend_isa *own, attend_isa *given)
{
    return attendi_struct_write(&isa_sizes, own, given, NULL);
}

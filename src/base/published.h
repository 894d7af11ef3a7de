/* SPDX-License-Identifier: MIT */
/*
 * Published sizes of the public structs that grow.  A new field is appended, fills whole
 * 8 bytes, never padding, and means "none" at 0; the former size is added here. tests/abi
 * asserts the offsets of 0.1.
 */
#ifndef ATTEND_BASE_PUBLISHED_H
#define ATTEND_BASE_PUBLISHED_H

#include "attend/attend.h"
#include "attend/stats.h"

/* Copy the caller's struct into *own; missing fields have their defaults. */
attend_status attendi_options_read(const attend_options *given, attend_options *own,
                                   attend_error *err); /* given may be NULL */
attend_status attendi_rule_read(const attend_rule *given, attend_rule *own,
                                attend_error *err); /* given may be NULL */
attend_status attendi_io_read(const attend_io *given, attend_io *own, attend_error *err);
attend_status attendi_stats_request_read(const attend_stats *given, attend_stats *own,
                                         attend_error *err);
attend_status attendi_inspection_read(const attend_inspection *given,
                                      attend_inspection *own, attend_error *err);
attend_status attendi_head_load(const attend_head *given, attend_head *own,
                                attend_error *err);

/* Fill the caller's struct, up to its size. */
attend_status attendi_head_store(const attend_head *own, attend_head *given,
                                 attend_error *err);
attend_status attendi_isa_store(const attend_isa *own, attend_isa *given);

#endif

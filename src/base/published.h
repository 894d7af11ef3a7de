/* SPDX-License-Identifier: MIT */
/*
 * The sizes that each growing struct of the public headers has had.  A field is added at
 * the end, fills whole 8 bytes, never padding, and means "none" at 0; its new size is
 * added here.  tests/abi holds the offsets of 0.1.
 */
#ifndef ATTEND_BASE_PUBLISHED_H
#define ATTEND_BASE_PUBLISHED_H

#include "attend/attend.h"
#include "attend/stats.h"

/* Each copies the caller's struct into *own, with defaults for what it lacks. */
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

/* These fill the caller's struct, as much as it has. */
attend_status attendi_head_store(const attend_head *own, attend_head *given,
                                 attend_error *err);
attend_status attendi_isa_store(const attend_isa *own, attend_isa *given);

#endif

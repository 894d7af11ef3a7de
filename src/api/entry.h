/* SPDX-License-Identifier: MIT */
/*
 * Entry and exit of a public call that takes a context: one call at a time, in the
 * default floating-point environment.
 */
#ifndef ATTEND_API_ENTRY_H
#define ATTEND_API_ENTRY_H

#include "base/error.h"
#include "core/context.h"

/* EINVAL without a context, EBUSY while another call uses it. */
attend_status attendi_enter(attend_context *ctx, attend_error *err);

/* After a successful attendi_enter(); returns `status`. */
attend_status attendi_leave(attend_context *ctx, attend_status status);

#endif

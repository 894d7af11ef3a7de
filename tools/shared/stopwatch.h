/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_STOPWATCH_H
#define TOOLS_STOPWATCH_H

/* Seconds of CLOCK_MONOTONIC. */
double tool_seconds(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Ending long work on request, with what is done so far. */
#define _POSIX_C_SOURCE 200809L

#include "commands.h"

volatile sig_atomic_t tool_stop;

static void on_signal(int number)
{
    (void)number;
    tool_stop = 1;
}

void tool_catch_stop(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

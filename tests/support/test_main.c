/* SPDX-License-Identifier: MIT */
/* main() of every test program without its own. */
#include "problems.h"

int main(int argc, char **argv)
{
    if (test_state.before)
        test_state.before();
    test_each(test_run, argc > 1 ? argv[1] : "");
    if (test_state.after)
        test_state.after();
    return split_finish();
}

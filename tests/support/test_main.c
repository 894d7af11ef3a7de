/* SPDX-License-Identifier: MIT */
/* main() of every test program without its own. */
#include "test.h"

int main(int argc, char **argv)
{
    test_each(test_run, argc > 1 ? argv[1] : "");
    return test_finish();
}

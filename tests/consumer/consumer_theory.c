/* SPDX-License-Identifier: MIT */
/* Exit status 0 if two keys with equal scores share the weight. */
#include <attend/theory.h>

#include <stdio.h>

int main(void)
{
    const double weight = attend_theory_copy_weight(2, 0);

    printf("weight: %g\n", weight);
    return weight == 0.5 ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* The element type bf16, with scores and sums in f32: template_params.h. */
#define ELEMENT_BF16
#include "cpu/isa/element_f32.h"

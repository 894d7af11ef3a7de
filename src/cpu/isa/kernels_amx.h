/* SPDX-License-Identifier: MIT */
/* Not a header: all kernels of a translation unit with bf16 products on tile registers.
 */
#include "cpu/isa/template_params.h"

#include "cpu/exp2_tmpl.h"
#include "cpu/state_tmpl.h"
#include "cpu/lanes_tmpl.h"
#include "cpu/mask_tmpl.h"
#include "cpu/finish_tmpl.h"
#include "cpu/pairs_bf16.h"
#include "cpu/products_amx.h"
#include "cpu/layout_amx.h"
#include "cpu/stats_tmpl.h"
#include "cpu/partial_tmpl.h"
#include "cpu/wide_scores_tmpl.h"
#include "cpu/wide_weights_tmpl.h"
#include "cpu/beside_amx.h"
#include "cpu/block_amx.h"
#include "cpu/wide_tmpl.h"
#include "cpu/narrow_amx.h"
#include "cpu/narrow_tmpl.h"
#include "cpu/forward_tmpl.h"
/* Scores of the second pass come from products that write them in one piece. */
#define NO_SECOND_PASS

#include "cpu/isa/kernels_table.h"

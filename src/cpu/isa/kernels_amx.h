/* SPDX-License-Identifier: MIT */
/* Not a header: all kernels of a translation unit with bf16 products on tile registers.
 */
#include "cpu/isa/template_params.h"

#include "cpu/simd/exp2_tmpl.h"
#include "cpu/item/state_tmpl.h"
#include "cpu/simd/lanes_tmpl.h"
#include "cpu/item/mask_tmpl.h"
#include "cpu/item/finish_tmpl.h"
#include "cpu/simd/pairs_bf16.h"
#include "cpu/amx/products_amx.h"
#include "cpu/amx/pack_amx.h"
#include "cpu/stats/stats_tmpl.h"
#include "cpu/amx/stats_values_amx.h"
#include "cpu/stats/stats_scores_tmpl.h"
#include "cpu/stats/stats_weights_tmpl.h"
#include "cpu/stats/stats_combine_tmpl.h"
#include "cpu/stats/stats_noise_tmpl.h"
#include "cpu/stats/stats_block_tmpl.h"
#include "cpu/item/partial_tmpl.h"
#include "cpu/prefill/prefill_scores_tmpl.h"
#include "cpu/prefill/prefill_weights_tmpl.h"
#include "cpu/amx/interleave_amx.h"
#include "cpu/amx/prefill_amx.h"
#include "cpu/prefill/prefill_tmpl.h"
#include "cpu/amx/decode_amx.h"
#include "cpu/decode/decode_tmpl.h"
#include "cpu/item/forward_tmpl.h"
/* Scores of the inspection pass come from products that write them in one piece. */
#define NO_SECOND_PASS

#include "cpu/isa/kernels_table.h"

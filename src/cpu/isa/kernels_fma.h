/* SPDX-License-Identifier: MIT */
/* Not a header: all kernels of a translation unit whose products are multiply-adds. */
#include "cpu/isa/template_params.h"

#include "cpu/simd/exp2_tmpl.h"
#include "cpu/item/state_tmpl.h"
#include "cpu/simd/lanes_tmpl.h"
#include "cpu/item/mask_tmpl.h"
#include "cpu/item/finish_tmpl.h"
#include "cpu/prefill/products_fma_tmpl.h"
#include "cpu/prefill/products_tmpl.h"
#include "cpu/stats/stats_values_fma_tmpl.h"
#include "cpu/stats/stats_tmpl.h"
#include "cpu/stats/stats_scores_tmpl.h"
#include "cpu/stats/stats_weights_tmpl.h"
#include "cpu/stats/stats_combine_tmpl.h"
#include "cpu/stats/stats_noise_tmpl.h"
#include "cpu/stats/stats_block_tmpl.h"
#include "cpu/item/partial_tmpl.h"
#include "cpu/prefill/prefill_scores_tmpl.h"
#include "cpu/prefill/prefill_weights_tmpl.h"
#include "cpu/prefill/prefill_block_tmpl.h"
#include "cpu/prefill/prefill_tmpl.h"
#include "cpu/decode/decode_fma_tmpl.h"
#include "cpu/decode/decode_products_tmpl.h"
#include "cpu/decode/decode_stats_tmpl.h"
#include "cpu/decode/decode_tmpl.h"
#include "cpu/item/forward_tmpl.h"
#include "cpu/stats/inspect_tmpl.h"
#ifdef ELEMENT_F64
#include "cpu/merge/merge_tmpl.h"
#endif

#include "cpu/isa/kernels_table.h"

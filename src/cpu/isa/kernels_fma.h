/* SPDX-License-Identifier: MIT */
/* Not a header: all kernels of a translation unit whose products are multiply-adds. */
#include "cpu/isa/template_params.h"

#include "cpu/exp2_tmpl.h"
#include "cpu/state_tmpl.h"
#include "cpu/lanes_tmpl.h"
#include "cpu/mask_tmpl.h"
#include "cpu/finish_tmpl.h"
#include "cpu/products_fma_tmpl.h"
#include "cpu/products_tmpl.h"
#include "cpu/multiply_fma_tmpl.h"
#include "cpu/stats_tmpl.h"
#include "cpu/partial_tmpl.h"
#include "cpu/wide_scores_tmpl.h"
#include "cpu/wide_weights_tmpl.h"
#include "cpu/block_tmpl.h"
#include "cpu/wide_tmpl.h"
#include "cpu/narrow_fma_tmpl.h"
#include "cpu/narrow_products_tmpl.h"
#include "cpu/narrow_stats_tmpl.h"
#include "cpu/narrow_tmpl.h"
#include "cpu/forward_tmpl.h"
#include "cpu/second_tmpl.h"
#ifdef ELEMENT_F64
#include "cpu/merge_tmpl.h"
#endif

#include "cpu/isa/kernels_table.h"

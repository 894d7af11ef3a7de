/* SPDX-License-Identifier: MIT */
/*
 * Fuzz the reader of documents and formulas: passages in order and inside the source,
 * every formula read or refused with a reason, trees that are trees, the same again.
 */
#include <string.h>

#include "lab/reading/document.h"
#include "lab/reading/formula.h"

#include "demand.h"

static void check_passages(const struct lab_document *document)
{
    int line = 1;
    for (int p = 0; p < document->count; p++) {
        const struct lab_passage *const passage = &document->passage[p];
        demand(passage->begin <= passage->end && passage->end <= document->size,
               "inside the source");
        demand(passage->line >= line && passage->last_line >= passage->line, "lines");
        demand(!p || passage->begin >= passage[-1].begin, "in order");
        demand(passage->sentence < p, "a sentence before its formulas");
        demand(memchr(passage->question, 0, sizeof passage->question) &&
                   memchr(passage->label, 0, sizeof passage->label),
               "words end");
        if (passage->sentence >= 0)
            demand(document->passage[passage->sentence].kind == LAB_PASSAGE_SENTENCE,
                   "a sentence");
        line = passage->line;
    }
}

/* Every node is reached once at most. */
static void walk(const struct lab_formula *formula, int node, char *seen)
{
    demand(node >= 0 && node < formula->nodes, "an index of a node");
    demand(!seen[node], "a tree");
    seen[node] = 1;
    for (int c = formula->node[node].child; c >= 0; c = formula->node[c].next)
        walk(formula, c, seen);
}

static void check_formula(const struct lab_formula *formula, size_t end)
{
    char seen[LAB_FORMULA_NODES] = {0};

    demand(formula->nodes <= LAB_FORMULA_NODES, "nodes");
    demand(formula->chains <= LAB_FORMULA_CHAINS, "chains");
    for (int c = 0; c < formula->chains; c++) {
        const int root = formula->chain[c].root;
        demand(formula->node[root].kind == LAB_NODE_CHAIN, "a chain");
        demand(formula->node[root].child >= 0, "a chain of something");
        walk(formula, root, seen);
    }
    for (int n = 0; n < formula->nodes; n++) {
        demand(formula->node[n].end <= end, "a node inside the formula");
        demand(memchr(formula->node[n].name, 0, sizeof formula->node[n].name) != NULL,
               "a name ends");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct lab_formula formula, again;
    char *const source = malloc(size + 1);
    struct lab_document document;

    if (!source)
        return 0;
    memcpy(source, data, size);
    source[size] = 0;
    const unsigned repairs = lab_formula_repairs(source, size);
    if (!lab_document_open(&document, source, size))
        check_passages(&document);
    for (int p = 0; p < document.count; p++) {
        const struct lab_passage *const passage = &document.passage[p];
        if (passage->kind != LAB_PASSAGE_FORMULA)
            continue;
        const int failed =
            lab_formula_read(source, passage->begin, passage->end, repairs, &formula);
        demand(!failed == !*formula.why, "a reason");
        demand(formula.failed <= passage->end, "a place");
        if (!failed)
            check_formula(&formula, passage->end);
        demand(lab_formula_read(source, passage->begin, passage->end, repairs, &again) ==
                   failed,
               "the same again");
    }
    lab_document_close(&document);
    lab_formula_read(source, 0, size, ~0u, &formula);
    if (!*formula.why)
        check_formula(&formula, size);
    free(source);
    return 0;
}

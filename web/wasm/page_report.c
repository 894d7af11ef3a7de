/* SPDX-License-Identifier: MIT */
#include "page_report.h"

#include <emscripten.h>
#include <stdlib.h>

#include "lab/figures/text.h"

/* clang-format off: the bodies are JavaScript */
EM_JS(void, page_report_row, (const char *json), {
    if (Module.onRow)
        Module.onRow(UTF8ToString(json));
})
EM_JS(void, page_report_progress, (double done, double total), {
    if (Module.onProgress)
        Module.onProgress(done, total);
})
/* clang-format on */

static struct lab_json json;
static char *text;

struct lab_json *page_begin(void)
{
    free(text);
    text = NULL;
    lab_json_open(&json, LAB_JSON_EXACT);
    json.prose = lab_text_prose;
    lab_json_begin(&json, '{');
    return &json;
}

const char *page_end(void)
{
    lab_json_end(&json, '}');
    text = lab_json_close(&json);
    return text;
}

const char *page_refuse(const char *why)
{
    lab_json_put(page_begin(), "error:s", why);
    return page_end();
}

/* SPDX-License-Identifier: MIT */
#include "page_report.h"

#include <emscripten.h>

#include "page_json.h"

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

const char *page_refuse(const char *why)
{
    page_json_open();
    page_json_begin('{');
    page_json_text_of("error", why);
    page_json_end('}');
    return page_json_close();
}

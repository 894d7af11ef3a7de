/* SPDX-License-Identifier: MIT */
#ifndef PAGE_ANSWERS_H
#define PAGE_ANSWERS_H

/* The entry "parts": what is asked for, part by part. */
void page_parts_put(void);

#endif

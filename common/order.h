/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orders for qsort and bsearch. */
#ifndef GL_COMMON_ORDER_H
#define GL_COMMON_ORDER_H

/* Of doubles, ascending. */
int gl_compare_doubles(const void *a, const void *b);

/* Of texts (const char *), byte by byte: the same in every locale. */
int gl_compare_texts(const void *a, const void *b);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/order.h"

#include <string.h>

int gl_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int gl_compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/prices.h"

#include <string.h>

static bool is_part(const char *part, const char *kind, const char *name)
{
    size_t length = 0;
    while (kind[length] != '\0' && kind[length] == part[length])
        length++;
    if (kind[length] != '\0')
        return false;
    if (name == NULL)
        return part[length] == '\0';
    return part[length] == '.' && strcmp(part + length + 1, name) == 0;
}

const gl_price *gl_price_find(const gl_price_list *list, const char *kind, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_part(list->prices[i].part, kind, name))
            return &list->prices[i];
    return NULL;
}

double gl_price_rate(const gl_price_list *list, const char *currency)
{
    if (currency == NULL || strcmp(currency, list->currency) == 0)
        return 1;
    for (size_t i = 0; i < list->exchange_count; i++)
        if (strcmp(list->exchange[i].currency, currency) == 0)
            return list->exchange[i].rate;
    return 0;
}

const char *gl_confidence_name(gl_confidence confidence)
{
    static const char *const names[GL_CONFIDENCE_COUNT] = {"high", "medium", "low", "own"};
    return names[confidence];
}

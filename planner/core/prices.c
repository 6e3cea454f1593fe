/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/prices.h"

#include "common/units.h"

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

/* A quote this many times above or below the price that it replaces is mostly one in thousands, or
 * in cents. */
static const double FAR_FROM_BASE = 10;

const char *gl_price_doubt(const gl_price *price, gl_arena *arena)
{
    double ratio = price->typical / price->base_typical;
    if (!price->quoted || !(price->base_typical > 0) ||
        !(ratio > FAR_FROM_BASE || ratio < 1 / FAR_FROM_BASE))
        return NULL;
    return gl_arena_printf(arena,
                           "%s is quoted at %s, where the list that it replaces has %s: is it "
                           "meant for a %s?",
                           price->part, gl_money_text(price->typical, arena),
                           gl_money_text(price->base_typical, arena),
                           price->unit[0] != '\0' ? price->unit : "piece");
}

const char *gl_confidence_name(gl_confidence confidence)
{
    static const char *const names[GL_CONFIDENCE_COUNT] = {"high", "medium", "low", "own"};
    return names[confidence];
}

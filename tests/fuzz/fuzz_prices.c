/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A price list from memory, through kinds, names and ranges: what is loaded is in range. */
#include "planner/input/price_file.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No file is opened but the bundled list. */
static bool opens_nothing(const gl_yaml_tree *tree)
{
    const gl_yaml_node *base = gl_yaml_find(tree, "prices.base");
    if (base == NULL || base->kind != GL_YAML_SCALAR)
        return true;
    return strcmp(base->text, "none") == 0 || strcmp(base->text, "standard") == 0;
}

static void check(const gl_price_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const gl_price *price = &list->prices[i];
        if (price->part == NULL || price->source == NULL || price->date == NULL)
            abort();
        if (!isnan(price->typical) &&
            !(price->minimum <= price->low && price->low <= price->typical &&
              price->typical <= price->high && price->high <= price->maximum))
            abort();
    }
    for (size_t i = 0; i < list->exchange_count; i++)
        if (!(list->exchange[i].rate > 0 && isfinite(list->exchange[i].rate)))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree;
    gl_error err;
    if (gl_yaml_parse("fuzz.yaml", (const char *)data, size, arena, &tree, &err) &&
        tree.root->kind == GL_YAML_MAPPING && gl_yaml_find(&tree, "prices") != NULL &&
        opens_nothing(&tree)) {
        gl_diagnostics diagnostics = {0};
        const gl_price_list *list = gl_prices_tree_load(&tree, arena, &diagnostics);
        if (list != NULL)
            check(list);
        else if (diagnostics.count == 0)
            abort();
    }
    gl_arena_destroy(arena);
    return 0;
}

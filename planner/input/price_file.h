/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Price lists: data/prices/NAME.yaml, a file of one's own over it, or fields in a cluster
 * description. */
#ifndef GL_INPUT_PRICE_FILE_H
#define GL_INPUT_PRICE_FILE_H

#include "planner/core/prices.h"
#include "planner/input/fields.h"

/* What stands at the top of a list. */
typedef struct gl_price_document {
    const char *name, *currency, *base;
    double spread[GL_CONFIDENCE_COUNT];
} gl_price_document;

/*
 * Loads a list by its file or bundled name. What a list says goes over its base part by part and
 * field by field; a part that gets a new price loses the range and the source of the old one. NULL
 * after a diagnosis.
 */
const gl_price_list *gl_prices_load(const char *name, gl_arena *arena, gl_diagnostics *diagnostics);

/* The same from a document that is there already, at its key `prices`. */
const gl_price_list *gl_prices_tree_load(const gl_yaml_tree *tree, gl_arena *arena,
                                         gl_diagnostics *diagnostics);

/* The file of a list; NULL when there is none of this name. */
const char *gl_prices_find(const char *name, gl_arena *arena);

/* The fields of a list and of its parts, for the schema. */
const gl_field *gl_prices_schema(gl_arena *arena);

#endif

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

/* What may stand behind the dot of a part's name. */
typedef enum gl_part_names {
    GL_PART_ALONE,  /* nothing: "fibre" */
    GL_PART_GPU,    /* a name of data/gpus */
    GL_PART_LINK,   /* a name of data/links */
    GL_PART_REGION, /* a region or route, as cluster descriptions name them */
    GL_PART_FIXED   /* one of `fixed` */
} gl_part_names;

/* A kind of part: what its name may be and which figures make sense. */
typedef struct gl_part_kind {
    const char *name; /* "switch"; NULL ends the table */
    gl_part_names names;
    const char *const *fixed;   /* names beside those; NULL-terminated, or NULL */
    double maximum;             /* of its price, in its currency; 0: by the term of its name */
    const char *const *figures; /* of gl_part_fields, beside price and texts; NULL-terminated */
    const char *meaning;
} gl_part_kind;

extern const gl_part_kind gl_part_kinds[];

/* The field that says what a term is and may be: that of the cluster description. NULL: no term. */
const gl_field *gl_term_field(const char *term);

/*
 * Loads a list by its file or bundled name. What a list says goes over its base part by part and
 * field by field; a part that gets a new price loses the range and the source of the old one. A
 * part that neither the base nor the catalogue of GPUs and links has is taken for a misspelt one
 * unless it says `new: true`. NULL after a diagnosis.
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

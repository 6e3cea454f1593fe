/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Field tables: one row per YAML field drives loading, checking, --set, `gpulink-plan schema`, the
 * echo in JSON and docs/config.md. Paths are dotted and flat ("model.attention.q_lora").
 */
#ifndef GL_INPUT_FIELDS_H
#define GL_INPUT_FIELDS_H

#include "common/table.h"
#include "planner/input/yaml_tree.h"

typedef enum gl_field_type {
    GL_FIELD_INT,     /* int */
    GL_FIELD_INT64,   /* int64_t */
    GL_FIELD_REAL,    /* double, a quantity of `dimension` (GL_NUMBER: a bare number) */
    GL_FIELD_BOOL,    /* bool: true or false, nothing else */
    GL_FIELD_CHOICE,  /* int-sized enum: index into `choices` */
    GL_FIELD_DTYPE,   /* gl_dtype; `choices` are the names allowed, "none" among them or not */
    GL_FIELD_TEXT,    /* const char * */
    GL_FIELD_TEXTS,   /* const char *const *, NULL-terminated: a sequence of texts */
    GL_FIELD_ORDER,   /* gl_axis[GL_ORDER_MAX]: "tp-cp-dp-pp" */
    GL_FIELD_FIGURE,  /* gl_figure: {value, low, high, source} of `dimension` */
    GL_FIELD_SPECIAL, /* read by the document's loader, listed for schema and key checks */
    GL_FIELD_TYPE_COUNT
} gl_field_type;

typedef struct gl_field {
    const char *path; /* "parallel.tp"; NULL ends a table */
    gl_field_type type;
    gl_dimension dimension;
    double minimum, maximum; /* inclusive; both 0: no limit; a minimum of GL_ABOVE_ZERO: above 0 */
    bool required;
    const char *initial;        /* default as text for the schema; "" or NULL = none */
    const char *word;           /* a word accepted instead of a quantity ("all"), or NULL … */
    double word_value;          /* … and what it means */
    const char *const *choices; /* NULL-terminated */
    const char *doc;            /* one sentence */
    size_t offset;              /* in the target struct */
} gl_field;

#define GL_ABOVE_ZERO 1e-300

/* A field given on the command line: --set key=value, or one value of a sweep. */
typedef struct gl_setting {
    const char *key, *value;
    const char *option; /* "--set" or "--sweep", for messages */
} gl_setting;

/*
 * Loads a document into `target`, which holds the defaults: unknown keys, wrong types, missing
 * units, values out of range and missing required fields are diagnosed with position and path ("did
 * you mean" for keys and choices); fields that were diagnosed keep their default. Returns true when
 * nothing was diagnosed.
 *
 * The text and source of a gl_figure are as written; its kind is ABSENT until the catalogue has
 * looked the source up. SPECIAL fields are checked for a value only, whatever is in it.
 */
bool gl_fields_load(const gl_field *fields, const gl_yaml_tree *tree, gl_arena *arena, void *target,
                    gl_diagnostics *diagnostics);

/* The same fields, none of them required: for parts of a document. */
const gl_field *gl_fields_optional(const gl_field *fields, gl_arena *arena);

/* Reads the text of a SPECIAL field: NULL when the field is absent or was diagnosed. */
const char *gl_fields_text(const gl_yaml_tree *tree, const char *path, gl_diagnostics *diagnostics);

/* The field with this path; NULL when there is none. */
const gl_field *gl_fields_find(const gl_field *fields, const char *path);

/* Would the field load this value? `scalar` is a node without parts. */
bool gl_field_takes(const gl_field *field, const gl_yaml_node *scalar);

/* Is `value` within the field's limits? If not, `range` (of `size` bytes) says which are. */
bool gl_field_in_range(const gl_field *field, double value, char *range, size_t size);

/* Where a path stands in the document, or the nearest part of it that is there. */
gl_mark gl_fields_mark(const gl_yaml_tree *tree, const char *path);

/* The value of a field as a table cell (SI), for the JSON echo. SPECIAL fields give empty cells. */
gl_cell gl_field_cell(const gl_field *field, const void *target, gl_arena *arena);

/* The schema as a table: field, type, unit, allowed, default, meaning. */
gl_table *gl_fields_schema(const gl_field *fields, const char *name, gl_arena *arena);

extern const gl_field gl_model_fields[];    /* target: gl_workload */
extern const gl_field gl_cluster_fields[];  /* target: gl_cluster (input/cluster_file.h) */
extern const gl_field gl_gpu_fields[];      /* target: gl_gpu */
extern const gl_field gl_link_fields[];     /* target: gl_link */
extern const gl_field gl_overlap_fields[];  /* target: gl_overlap_taxes */
extern const gl_field gl_prices_fields[];   /* input/price_file.h */
extern const gl_field gl_part_fields[];     /* of one part in it */
extern const gl_field gl_exchange_fields[]; /* of one rate in it */

#endif

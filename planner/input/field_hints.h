/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was probably meant by a field that there is not: the field of that name in another section
 * or in the other description, or the one that frameworks call so ("seq_len", "n_gpus"). Only for
 * messages: nothing but the field's own path is ever accepted.
 */
#ifndef GL_INPUT_FIELD_HINTS_H
#define GL_INPUT_FIELD_HINTS_H

#include "planner/input/fields.h"

/* What frameworks call a field, or the value of one. */
typedef struct gl_synonym {
    const char *name;  /* as normalised: lower case, without '-' and '_' */
    const char *paths; /* of a name: what it means, several with commas; of a value: its field */
    const char *value; /* of a value: what is written here instead */
} gl_synonym;

/* What is said of a name that no field stands for: how the planner knows it, or that it does not.
 */
typedef struct gl_advice {
    const char *name; /* as normalised, in any section; or with dots: the path itself */
    const char *text;
} gl_advice;

extern const gl_advice gl_field_advices[];

/* For tests: every path of them is a field's. End with a NULL name. */
extern const gl_synonym gl_field_synonyms[], gl_value_synonyms[];

/*
 * "; did you mean 'cluster.nodes'?" for the unknown key `path` of a document with these fields, in
 * `out` of `size` bytes, which is returned; empty when nothing is likely. Several fields of the
 * same name are all named, unless only some of them take `value` (a node of the document; NULL: not
 * known). Fields of the document itself come before those of the other
 * description (a cluster's for a model, a model's for a cluster). A path of that other description
 * is said to belong to it. Of a name that stands for no field but for something that is known
 * (gl_field_advices), that is said.
 */
const char *gl_field_hint(const gl_field *fields, const char *path, const gl_yaml_node *value,
                          char *out, size_t size);

/* The same where that finds nothing, with slips in the name: "layrs" is 'model.layers'. */
const char *gl_field_hint_nearest(const gl_field *fields, const char *path,
                                  const gl_yaml_node *value, char *out, size_t size);

/* "; did you mean '3'?" for a value that the field does not take, by what frameworks call it or the
 * nearest of its names; ";" when nothing is known. */
const char *gl_value_hint(const gl_field *field, const char *value, char *out, size_t size);

#endif

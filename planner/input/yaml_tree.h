/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * YAML (and so JSON) files as a tree of marked nodes. The only code that speaks libyaml.
 *
 * Limits: file 4 MiB, depth 64, 100,000 nodes, scalars 64 KiB. Refused with position: tabs used as
 * indentation, duplicate keys, keys that are not plain text, merge keys, aliases that form cycles
 * or expand beyond the node limit, a second document, NUL bytes and binary files, an empty file.
 */
#ifndef GL_INPUT_YAML_TREE_H
#define GL_INPUT_YAML_TREE_H

#include "common/arena.h"
#include "common/error.h"

typedef enum gl_yaml_kind { GL_YAML_SCALAR, GL_YAML_SEQUENCE, GL_YAML_MAPPING } gl_yaml_kind;

typedef struct gl_yaml_node {
    gl_yaml_kind kind;
    gl_mark mark;
    const char *key; /* in its mapping; NULL elsewhere */
    gl_mark key_mark;
    const char *text;                  /* scalar */
    bool quoted;                       /* scalar in quotes: text, never a number or bool */
    struct gl_yaml_node *first, *next; /* children in order; next sibling */
} gl_yaml_node;

typedef struct gl_yaml_tree {
    const char *file; /* as in messages */
    gl_yaml_node *root;
} gl_yaml_tree;

/* Reads a file ("-" = standard input); a directory, missing or unreadable file is an error that
 * says so (GL_ERROR_INPUT; reading itself failing is GL_ERROR_SYSTEM). */
bool gl_yaml_load(const char *path, gl_arena *arena, gl_yaml_tree *tree, gl_error *err);

/* The same from memory; `name` stands for the file in messages. */
bool gl_yaml_parse(const char *name, const char *text, size_t length, gl_arena *arena,
                   gl_yaml_tree *tree, gl_error *err);

/* Sets "a.b.c" to a value given on the command line (itself parsed as YAML, so "{a: 1}" works),
 * creating mappings on the way; its mark's file is "--set a.b.c=value" when `option` is "--set". */
bool gl_yaml_set(gl_yaml_tree *tree, gl_arena *arena, const char *option, const char *path,
                 const char *value, gl_error *err);

/* Sets "a.b.c" to a plain scalar that stands at `mark`, creating mappings on the way: for documents
 * that are made of something else than YAML. What is there already is replaced. */
bool gl_yaml_put(gl_yaml_tree *tree, gl_arena *arena, const gl_mark *mark, const char *path,
                 const char *value, gl_error *err);

/* Puts every scalar and sequence of mapping `from` into `into`, which keeps what `from` does not
 * have. Nodes are copied, with their marks. */
void gl_yaml_merge(gl_yaml_node *into, gl_arena *arena, const gl_yaml_node *from);

/* Was the node set by gl_yaml_set? File names in it are seen from where the user stands, not from
 * the document. */
bool gl_yaml_is_setting(const gl_yaml_node *node);

/* Child of a mapping by key; NULL when absent. */
const gl_yaml_node *gl_yaml_get(const gl_yaml_node *mapping, const char *key);

/* Node at a dotted path from the root; NULL when absent. */
const gl_yaml_node *gl_yaml_find(const gl_yaml_tree *tree, const char *path);

#endif

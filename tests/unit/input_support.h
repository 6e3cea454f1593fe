/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of planner/input share: documents as text, expectations on diagnostics. */
#ifndef TESTS_INPUT_SUPPORT_H
#define TESTS_INPUT_SUPPORT_H

#include "tests/support.h"

#include "planner/input/cluster_file.h"
#include "planner/input/huggingface.h"
#include "planner/input/model_file.h"

#include <stdlib.h>

/* What loading one document gave. */
typedef struct outcome {
    gl_arena *arena;
    gl_yaml_tree tree;
    gl_workload workload;
    gl_texts warnings;
    gl_diagnostics diagnostics;
    bool ok;
} outcome;

static inline void outcome_free(outcome *o)
{
    gl_arena_destroy(o->arena);
}

/* Loads a model description, with at most one setting ("key", "value" or NULLs). */
static inline outcome load_model_with(const char *text, const char *key, const char *value)
{
    outcome o = {.arena = gl_arena_create()};
    gl_error err;
    o.ok = gl_yaml_parse("m.yaml", text, strlen(text), o.arena, &o.tree, &err) &&
           (key == NULL || gl_yaml_set(&o.tree, o.arena, "--set", key, value, &err));
    if (!o.ok)
        o.diagnostics.items[o.diagnostics.count++] = err;
    else
        o.ok =
            gl_model_tree_load(&o.tree, false, o.arena, &o.workload, &o.warnings, &o.diagnostics);
    return o;
}

static inline outcome load_model(const char *text)
{
    return load_model_with(text, NULL, NULL);
}

static inline void print_outcome(const outcome *o)
{
    char text[1400];
    for (size_t i = 0; i < o->diagnostics.count; i++)
        fprintf(stderr, "  %s\n", gl_error_text(&o->diagnostics.items[i], text, sizeof text));
    for (size_t i = 0; i < o->warnings.count; i++)
        fprintf(stderr, "  warning: %s\n", o->warnings.items[i]);
}

/* One of the diagnostics reads exactly `expected` ("file:line:column: path: message"), or begins
 * with it when it ends in "…". */
#define assert_problem(o, expected) assert_problem_at((o), (expected), __FILE__, __LINE__)

static inline bool text_matches(const char *text, const char *expected)
{
    size_t length = strlen(expected), ellipsis = strlen("…");
    if (length >= ellipsis && strcmp(expected + length - ellipsis, "…") == 0)
        return strncmp(text, expected, length - ellipsis) == 0;
    return strcmp(text, expected) == 0;
}

static inline void assert_problem_at(const outcome *o, const char *expected, const char *file,
                                     int line)
{
    char text[1400];
    for (size_t i = 0; i < o->diagnostics.count; i++)
        if (text_matches(gl_error_text(&o->diagnostics.items[i], text, sizeof text), expected))
            return;
    fprintf(stderr, "%s:%d: expected: %s\nfound:\n", file, line, expected);
    print_outcome(o);
    _fail(file, line);
}

/* Loading the text gives exactly this problem and no other. */
#define assert_refused(text, expected) assert_refused_at((text), (expected), __FILE__, __LINE__)

static inline void assert_refused_at(const char *text, const char *expected, const char *file,
                                     int line)
{
    outcome o = load_model(text);
    assert_problem_at(&o, expected, file, line);
    if (o.diagnostics.count != 1 || o.ok) {
        print_outcome(&o);
        _fail(file, line);
    }
    outcome_free(&o);
}

#define assert_loaded(o) assert_loaded_at((o), __FILE__, __LINE__)

static inline void assert_loaded_at(const outcome *o, const char *file, int line)
{
    if (o->ok && o->diagnostics.count == 0)
        return;
    print_outcome(o);
    _fail(file, line);
}

static inline bool has_warning(const outcome *o, const char *fragment)
{
    for (size_t i = 0; i < o->warnings.count; i++)
        if (strstr(o->warnings.items[i], fragment) != NULL)
            return true;
    return false;
}

/* A small architecture that all degrees of 4 divide. Lines 1 to 9; then the caller's lines. */
#define ARCHITECTURE                                                                               \
    "model:\n"                                                                                     \
    "  layers: 8\n"                                                                                \
    "  hidden: 1024\n"                                                                             \
    "  heads: 16\n"                                                                                \
    "  kv_heads: 8\n"                                                                              \
    "  ffn: 4096\n"                                                                                \
    "  vocab: 32000\n"                                                                             \
    "  sequence: 2048\n"

#endif

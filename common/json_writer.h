/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small streaming JSON writer: fixed key order, two-space indentation, shortest round-trip
 * numbers, NaN and infinity as null, invalid UTF-8 replaced by U+FFFD. */
#ifndef GL_COMMON_JSON_WRITER_H
#define GL_COMMON_JSON_WRITER_H

#include "common/output.h"

#include <stdbool.h>
#include <stdint.h>

enum { GL_JSON_DEPTH_MAX = 16 };

typedef struct gl_json {
    gl_output *out;
    int depth;
    bool has_items[GL_JSON_DEPTH_MAX];
    bool after_key;
    int one_line_from; /* what lies so deep stays on one line; 0 = nothing does */
} gl_json;

void gl_json_begin(gl_json *json, gl_output *out);
void gl_json_object(gl_json *json);
void gl_json_array(gl_json *json);
void gl_json_end(gl_json *json, char bracket); /* '}' or ']' */
void gl_json_key(gl_json *json, const char *key);
void gl_json_text(gl_json *json, const char *text); /* NULL = null */
void gl_json_integer(gl_json *json, int64_t value);
void gl_json_real(gl_json *json, double value);
void gl_json_bool(gl_json *json, bool value);
void gl_json_null(gl_json *json);

#endif

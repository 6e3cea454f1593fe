/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is wrong with a configuration in JSON that YAML, which is laxer, can read. */
#ifndef GL_INPUT_JSON_CHECK_H
#define GL_INPUT_JSON_CHECK_H

#include "common/arena.h"
#include "common/error.h"

/* For messages about a file that is not what was expected: false, with line and column, when its
 * name ends in .json, it begins with '{' and it is no valid JSON. What is no regular file is not
 * read again, and passes. */
bool gl_json_check(const char *file, gl_arena *arena, gl_error *err);

#endif

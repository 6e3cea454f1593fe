/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Row makers for field tables, so that a row reads as one line. `member` is a member of TARGET,
 * which the including file defines. */
#ifndef GL_INPUT_FIELD_ROWS_H
#define GL_INPUT_FIELD_ROWS_H

#include "planner/input/fields.h"

#include <math.h>
#include <stddef.h>

#define INT_ROW(name, member, low, high, default_text, sentence)                                   \
    {                                                                                              \
        .path = (name), .type = GL_FIELD_INT, .minimum = (low), .maximum = (high),                 \
        .initial = (default_text), .doc = (sentence), .offset = offsetof(TARGET, member)           \
    }

#define BOOL_ROW(name, member, default_text, sentence)                                             \
    {                                                                                              \
        .path = (name), .type = GL_FIELD_BOOL, .initial = (default_text), .doc = (sentence),       \
        .offset = offsetof(TARGET, member)                                                         \
    }

#define CHOICE_ROW(name, member, names, default_text, sentence)                                    \
    {                                                                                              \
        .path = (name), .type = GL_FIELD_CHOICE, .choices = (names), .initial = (default_text),    \
        .doc = (sentence), .offset = offsetof(TARGET, member)                                      \
    }

#define DTYPE_ROW(name, member, names, default_text, sentence)                                     \
    {                                                                                              \
        .path = (name), .type = GL_FIELD_DTYPE, .choices = (names), .initial = (default_text),     \
        .doc = (sentence), .offset = offsetof(TARGET, member)                                      \
    }

#define REAL_ROW(name, member, unit, low, high, default_text, sentence)                            \
    {                                                                                              \
        .path = (name), .type = GL_FIELD_REAL, .dimension = (unit), .minimum = (low),              \
        .maximum = (high), .initial = (default_text), .doc = (sentence),                           \
        .offset = offsetof(TARGET, member)                                                         \
    }

#define TEXT_ROW(name, member, default_text, sentence)                                             \
    {                                                                                              \
        .path = (name), .type = GL_FIELD_TEXT, .initial = (default_text), .doc = (sentence),       \
        .offset = offsetof(TARGET, member)                                                         \
    }

#define SPECIAL_ROW(name, needed, sentence)                                                        \
    {                                                                                              \
        .path = (name), .type = GL_FIELD_SPECIAL, .required = (needed), .doc = (sentence)          \
    }

#define FIGURE_ROW(name, member, unit, low, high, needed, sentence)                                \
    {                                                                                              \
        .path = (name), .type = GL_FIELD_FIGURE, .dimension = (unit), .minimum = (low),            \
        .maximum = (high), .required = (needed), .doc = (sentence),                                \
        .offset = offsetof(TARGET, member)                                                         \
    }

#endif

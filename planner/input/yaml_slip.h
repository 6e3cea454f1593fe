/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slips that libyaml tells of in its own words, and often a line too late. */
#ifndef GL_INPUT_YAML_SLIP_H
#define GL_INPUT_YAML_SLIP_H

#include "common/arena.h"

/*
 * What was probably slipped where libyaml found `problem` (its own words) in `text` of `length`
 * bytes, at line and column, both from 0 on: "; 'tp:4' in line 7 lacks a space after its colon".
 * To be put behind those words; "" when nothing is likely. In the arena, or constant.
 */
const char *gl_yaml_slip(const char *text, size_t length, const char *problem, size_t line,
                         size_t column, gl_arena *arena);

#endif

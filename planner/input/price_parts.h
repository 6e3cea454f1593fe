/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of parts (gl_part_kinds): which names there are, what a part of a kind may say. */
#ifndef GL_INPUT_PRICE_PARTS_H
#define GL_INPUT_PRICE_PARTS_H

#include "planner/input/price_file.h"

/* The kind with this name of `length` bytes; NULL when there is none. */
const gl_part_kind *gl_part_kind_find(const char *name, size_t length);

/* The limits of a part's price: the kind's, or those of the term that it states. */
gl_field gl_part_limits(const gl_part_kind *kind, const char *part);

/* The fields that a part may have, its prices with their limits, paths below `path`. */
const gl_field *gl_part_fields_of(const gl_part_kind *kind, const char *part, const char *path,
                                  gl_arena *arena);

/* Is the part's name one that its kind may have, with a dot where it needs one? If not, says so. */
bool gl_part_name_check(const char *part, const gl_mark *mark, gl_arena *arena,
                        gl_diagnostics *diagnostics);

/* Is it a name that the list so far, the kind or the catalogue has? If not, says so, with what may
 * have been meant. */
bool gl_part_known_check(const char *part, const gl_price_list *list, const gl_mark *mark,
                         gl_arena *arena, gl_diagnostics *diagnostics);

#endif

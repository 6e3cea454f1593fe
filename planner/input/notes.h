/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What loaders have to say: errors passed on to diagnostics, and warnings. */
#ifndef GL_INPUT_NOTES_H
#define GL_INPUT_NOTES_H

#include "common/arena.h"
#include "common/error.h"
#include "common/texts.h"

/* Adds an error that a lower layer set, as it is. Returns false always. */
bool gl_diagnose_error(gl_diagnostics *list, const gl_error *err);
#define gl_diagnose_error(...) gl_always_false(gl_diagnose_error(__VA_ARGS__))

/* Appends a warning "file:line:column: path: message"; mark and path may be NULL. */
void gl_warn(gl_texts *warnings, gl_arena *arena, const gl_mark *mark, const char *path,
             const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/notes.h"

#include <stdio.h>

bool(gl_diagnose_error)(gl_diagnostics *list, const gl_error *err)
{
    if (list->count == GL_DIAGNOSTICS_MAX)
        list->dropped++;
    else
        list->items[list->count++] = *err;
    return false;
}

void gl_warn(gl_texts *warnings, gl_arena *arena, const gl_mark *mark, const char *path,
             const char *format, ...)
{
    char message[512], text[1300];
    gl_error note;
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    gl_fail_at(&note, GL_ERROR_INPUT, mark, path, "%s", message);
    gl_error_text(&note, text, sizeof text);
    gl_texts_add(warnings, arena, gl_arena_strdup(arena, text));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/notes.h"

#include "common/text.h"

#include <stdio.h>
#include <string.h>

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

const char *gl_did_you_mean(const char *found, const char *const *candidates, size_t count,
                            char *text, size_t size)
{
    if (gl_guess(found, candidates, count, text, size)[0] == '\0')
        snprintf(text, size, ";");
    return text;
}

const char *gl_list_names(const char *const *names, size_t count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *separator = i > 0 ? ", " : "";
        if (used + strlen(separator) + strlen(names[i]) + sizeof ", …" > size) {
            snprintf(text + used, size - used, "%s…", separator);
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", separator, names[i]);
    }
    return text;
}

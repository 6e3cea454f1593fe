/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/command.h"

#include <stdio.h>

enum { ANSWER_MAX = 1 << 20 };

char *gl_command_output(gl_arena *arena, const char *command, size_t *length)
{
    /* The commands are constants. NOLINTNEXTLINE(cert-env33-c) */
    FILE *pipe = popen(gl_arena_printf(arena, "%s 2>/dev/null", command), "r");
    if (pipe == NULL)
        return NULL;
    char *text = gl_arena_alloc_raw(arena, ANSWER_MAX + 1, 1), drop[4096];
    *length = fread(text, 1, ANSWER_MAX, pipe);
    text[*length] = '\0';
    while (fread(drop, 1, sizeof drop, pipe) > 0)
        ;
    return pclose(pipe) == 0 && *length > 0 ? text : NULL;
}

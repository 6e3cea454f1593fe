/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/cli/messages.h"

#include "common/program.h"
#include "common/text.h"

#include <stdio.h>

int gl_cli_fail(const char *verb, const gl_error *err)
{
    return gl_program_fail("gpulink-plan", verb, err);
}

int gl_cli_fail_all(const gl_diagnostics *diagnostics)
{
    char text[2048];
    for (size_t i = 0; i < diagnostics->count; i++)
        gl_cli_note("%s", gl_error_text(&diagnostics->items[i], text, sizeof text));
    if (diagnostics->dropped > 0)
        fprintf(stderr, "gpulink-plan: \xe2\x80\xa6 and %zu more\n", diagnostics->dropped);
    return diagnostics->count > 0 ? (int)diagnostics->items[0].status : (int)GL_ERROR_INTERNAL;
}

/* Names and paths in it are the user's: what a terminal would obey is not passed on. */
__attribute__((format(printf, 2, 0))) static void say(const char *kind, const char *format,
                                                      va_list args)
{
    char text[8192], shown[8192];
    vsnprintf(text, sizeof text, format, args);
    fprintf(stderr, "gpulink-plan: %s%s\n", kind, gl_printable(text, shown, sizeof shown));
}

void gl_cli_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("warning: ", format, args);
    va_end(args);
}

void gl_cli_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("", format, args);
    va_end(args);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/status_line.h"

#include "common/clock.h"
#include "common/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What takes less is over before it is read. */
static const double first_s = 1, interval_s = 0.2;

gl_status_line gl_status_line_start(bool quiet)
{
    return (gl_status_line){.shows = !quiet && isatty(STDERR_FILENO),
                            .next_s = gl_monotonic_s() + first_s};
}

bool gl_status_line_is_due(gl_status_line *line)
{
    if (!line->shows)
        return false;
    double now_s = gl_monotonic_s();
    if (now_s < line->next_s)
        return false;
    line->next_s = now_s + interval_s;
    return true;
}

static size_t columns(void)
{
    struct winsize window;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 20 ? window.ws_col
                                                                                : 80;
}

/* A line that wraps could not be written over. */
static size_t cut(const char *text, size_t width)
{
    size_t length = 0;
    for (size_t used = 0; text[length] != '\0' && used < width; used++) {
        uint32_t character;
        int valid;
        length += gl_utf8_next(text + length, &character, &valid);
    }
    return length;
}

void gl_status_line_put(const char *text)
{
    fprintf(stderr, "\r%.*s\033[K", (int)cut(text, columns() - 1), text);
    fflush(stderr);
}

void gl_status_line_say(gl_status_line *line, const char *format, ...)
{
    char text[400];
    va_list args;
    if (!gl_status_line_is_due(line))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gl_status_line_put(text);
    line->shown = true;
}

void gl_status_line_clear(gl_status_line *line)
{
    if (line->shown)
        fputs("\r\033[K", stderr);
    line->shown = false;
}

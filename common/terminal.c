/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* 0: not stated. */
static long stated_width(void)
{
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    long width = text != NULL ? strtol(text, &end, 10) : 0;
    return text != NULL && end != text && *end == '\0' && width > 0 ? width : 0;
}

static long asked_width(void)
{
    struct winsize size;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int gl_terminal_width(bool standard_output)
{
    long width = stated_width();
    if (width == 0 && standard_output)
        width = asked_width();
    if (width == 0)
        return GL_WIDTH_DEFAULT;
    if (width < GL_WIDTH_MIN)
        return GL_WIDTH_MIN;
    return width > GL_WIDTH_MAX ? GL_WIDTH_MAX : (int)width;
}

const char *const gl_color_choices[] = {"auto", "always", "never", NULL};

bool gl_terminal_color(gl_color_choice choice, bool standard_output)
{
    if (choice != GL_COLOR_AUTO)
        return choice == GL_COLOR_ALWAYS;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return standard_output && isatty(STDOUT_FILENO) && (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

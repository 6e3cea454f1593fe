/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/progress.h"

#include "common/units.h"

#include <math.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

char *gl_progress_text(const gl_session_progress *p, char *text, size_t size)
{
    char message[40], rate[40], so_far[60] = "";
    gl_format_quantity(p->size_bytes, GL_BYTES, message, sizeof message);
    if (!isnan(p->busbw_bytes_per_s))
        snprintf(so_far, sizeof so_far, ", %s so far",
                 gl_format_quantity(p->busbw_bytes_per_s, GL_BYTES_PER_S, rate, sizeof rate));
    snprintf(text, size, "%s, %d ranks%s, %s%s, curve %d of %d, %.0f s left",
             gl_collective_name(p->curve->collective), p->curve->placement.ranks,
             p->curve->placement.concurrent_groups > 1 ? " in each group" : "", message, so_far,
             p->curves_done + 1, p->curves, p->left_s);
    return text;
}

static int columns(void)
{
    struct winsize window;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 20 ? window.ws_col
                                                                                : 80;
}

void gl_progress_show(const gl_session_progress *progress)
{
    char text[200];
    /* A line that wraps could not be written over. */
    fprintf(stderr, "\r%.*s\033[K", columns() - 1, gl_progress_text(progress, text, sizeof text));
    fflush(stderr);
}

void gl_progress_end(void)
{
    fputs("\r\033[K", stderr);
}

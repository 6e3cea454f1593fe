/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/progress.h"

#include "common/units.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

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

void gl_progress_show(const gl_session_progress *progress)
{
    char text[200];
    gl_status_line_put(gl_progress_text(progress, text, sizeof text));
}

void gl_progress_end(void)
{
    gl_status_line_clear(&(gl_status_line){.shown = true});
}

void gl_progress_file(gl_status_line *line, size_t number, size_t count, const char *path)
{
    static const off_t large_bytes = 20000000; /* takes about a second */
    struct stat info;
    if (stat(path, &info) == 0 && info.st_size > large_bytes)
        line->next_s = 0;
    gl_status_line_say(line, "file %zu of %zu: %s", number, count, path);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/cli/search_watch.h"

#include "common/interrupt.h"
#include "common/units.h"

#include <math.h>

gl_search_watch gl_search_watch_start(bool quiet)
{
    gl_interrupt_catch();
    return (gl_search_watch){.line = gl_status_line_start(quiet)};
}

bool gl_search_watch_look(void *watch, const gl_search_progress *progress)
{
    gl_search_watch *w = watch;
    char best[64] = "";
    if (!isinf(progress->best_s))
        gl_format_quantity(progress->best_s, GL_SECONDS, best, sizeof best);
    gl_status_line_say(&w->line, "%s%s%3.0f %% of %lld layouts%s%s", w->name != NULL ? w->name : "",
                       w->name != NULL ? ": " : "",
                       100 * (double)progress->done / (double)progress->total,
                       (long long)progress->total, best[0] != '\0' ? ", best so far " : "", best);
    return gl_interrupt_seen() == 0;
}

void gl_search_watch_clear(gl_search_watch *watch)
{
    gl_status_line_clear(&watch->line);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress of searches on a terminal, and their interruption: the first Ctrl-C (or SIGTERM) ends
 * the search with the best so far, the second the program. */
#ifndef GL_PLANNER_CLI_SEARCH_WATCH_H
#define GL_PLANNER_CLI_SEARCH_WATCH_H

#include "common/status_line.h"
#include "planner/core/search.h"

/* The option of commands that search. */
#define GL_JOBS_OPTION(TARGET, MEMBER)                                                             \
    {                                                                                              \
        .name = "jobs", .letter = 'j', .type = GL_OPTION_INTEGER, .value_name = "N",               \
        .help = "Threads (default: one for each core); the answer is the same.",                   \
        .offset = offsetof(TARGET, MEMBER), .minimum = 1, .maximum = 1024                          \
    }

typedef struct gl_search_watch {
    gl_status_line line;
    const char *name; /* of what is searched; NULL: there is but one search */
} gl_search_watch;

/* Catches signals. Shows progress when standard error is a terminal, unless `quiet`. */
gl_search_watch gl_search_watch_start(bool quiet);

/* For gl_search_options.watch, with the watch as context. */
bool gl_search_watch_look(void *watch, const gl_search_progress *progress);

/* Takes the line of progress away. */
void gl_search_watch_clear(gl_search_watch *watch);

#endif

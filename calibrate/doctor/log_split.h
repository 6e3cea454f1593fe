/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes physical lines apart: launchers' prefixes, several writers in one line, glued pieces. */
#ifndef GL_DOCTOR_LOG_SPLIT_H
#define GL_DOCTOR_LOG_SPLIT_H

#include "calibrate/doctor/log.h"

/* What one process said. */
typedef struct gl_log_piece {
    int host;                 /* index in log->hosts; −1 unknown */
    uint64_t thread, process; /* tell threads and processes apart */
    bool is_warning;
    bool is_cut; /* another piece begins in the same line: what stood behind may be elsewhere */
    char *start; /* of the prefix */
    char *text;  /* behind "NCCL INFO " */
} gl_log_piece;

/* The next piece in a line at or behind `from`; false when there is none. A piece ends where the
 * next one starts. `again`: there was one before it in this line. */
bool gl_log_split_next(gl_log *log, gl_arena *arena, char *line, char *from, bool again,
                       gl_log_piece *piece);

/* The index of a host, added when it is new; −1 when there are too many. */
int gl_log_host(gl_log *log, gl_arena *arena, const char *name, size_t length);

#endif

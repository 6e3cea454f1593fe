/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line on a terminal that says what is being measured, or read. */
#ifndef GL_CALIBRATE_PROGRESS_H
#define GL_CALIBRATE_PROGRESS_H

#include "calibrate/measure/session.h"
#include "common/status_line.h"

/* "all_reduce, 8 ranks, 64 MiB, 312 GB/s so far, curve 3 of 20, 85 s left". Returns `text`. */
char *gl_progress_text(const gl_session_progress *progress, char *text, size_t size);

/* Shows it on standard error, over the line before. */
void gl_progress_show(const gl_session_progress *progress);

/* Wipes the line, if there is one. */
void gl_progress_end(void);

/* "file 3 of 40: job.log", before it is read; of a large file at once. */
void gl_progress_file(gl_status_line *line, size_t number, size_t count, const char *path);

#endif

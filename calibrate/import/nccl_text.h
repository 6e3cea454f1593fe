/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parser of what nccl-tests and rccl-tests print, all layouts from 1.x on, line by line: with the
 * prefixes of launchers and log collectors, torn by NCCL_DEBUG lines, several runs in a row. It
 * only reads; what the runs are worth is judged in evaluate.h.
 */
#ifndef GL_CALIBRATE_NCCL_TEXT_H
#define GL_CALIBRATE_NCCL_TEXT_H

#include "calibrate/import/parsed.h"

typedef struct gl_nccl_text gl_nccl_text;

/* A parser that fills `file` (zeroed but for its arena). Lives in the file's arena. */
gl_nccl_text *gl_nccl_text_begin(gl_parsed_file *file);

/* Takes one line (terminated, without newline; it is changed). False past a limit. */
bool gl_nccl_text_line(gl_nccl_text *parser, char *line, int number, gl_error *err);

/* After the last line. */
bool gl_nccl_text_end(gl_nccl_text *parser, gl_error *err);

#endif

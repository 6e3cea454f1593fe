/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parser of the documents that nccl-tests writes with -J. A document that ends early (the run was
 * aborted before 2.18.4) gives its complete results. Of the environment only NCCL's variables are
 * kept.
 */
#ifndef GL_CALIBRATE_NCCL_JSON_H
#define GL_CALIBRATE_NCCL_JSON_H

#include "calibrate/import/parsed.h"

enum { GL_JSON_BYTES_MAX = 256 * 1024 * 1024 };

/* Adds the runs of the documents to `file` (zeroed but for its arena). `path` is for messages. */
bool gl_nccl_json_parse(const char *text, size_t length, const char *path, gl_parsed_file *file,
                        gl_error *err);

#endif

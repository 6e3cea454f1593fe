/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Puts runs of databases into another one. */
#ifndef GL_CALIBRATE_MERGE_H
#define GL_CALIBRATE_MERGE_H

#include "common/error.h"

#include <stddef.h>

typedef struct gl_merge_counts {
    size_t added, known;
} gl_merge_counts;

/* All of it in one transaction: a bad input leaves the output as it was. The output may be one of
 * the inputs. Ids are given anew. */
bool gl_merge_files(const char *const *inputs, size_t count, const char *output,
                    gl_merge_counts *counts, gl_error *err);

#endif

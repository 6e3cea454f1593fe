/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the bundled data (gpus, links, clusters, calibrations) lies. */
#ifndef GL_COMMON_DATADIR_H
#define GL_COMMON_DATADIR_H

#include "common/arena.h"
#include "common/error.h"

/*
 * Finds a bundled file: `folder` such as "clusters", `name` with or without its extension, such as
 * "yaml". Looked for in $GPULINK_DATA, beside the folder
 * of the running program or of the shared library (share/gpulink where it is installed, wherever
 * that was moved to; data in a build tree), in the prefix that was configured. Names with '/' or
 * ".." are never found. Returns the path in the arena, or NULL.
 */
const char *gl_datadir_find(gl_arena *arena, const char *folder, const char *name,
                            const char *extension);

/* All bundled names in a folder, without extension, sorted and distinct: for messages. */
const char *const *gl_datadir_list(gl_arena *arena, const char *folder, const char *extension,
                                   size_t *count);

#endif

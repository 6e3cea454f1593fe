/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that a program has read, whatever named them: the command line, or a description that
 * the command line names. An answer that is written over one of them would destroy it. */
#ifndef GL_COMMON_INPUTS_H
#define GL_COMMON_INPUTS_H

#include <sys/stat.h>

/* From now on files that are read are remembered, until they are forgotten. For programs, before
 * their first thread and from one thread; otherwise, as in the library, nothing is kept. */
void gl_inputs_remember(void);
void gl_inputs_forget(void);

/* `fd` was opened for reading as `path`. Only regular files count. */
void gl_inputs_note(int fd, const char *path);

/* The name under which the file `info` was read; NULL: it was not. */
const char *gl_inputs_find(const struct stat *info);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who measures into a database? A lock on one byte of the file, held as long as a session goes on.
 * The kernel drops it with the process, however that ends: a run that is "running" in a file that
 * nobody holds was interrupted. SQLite's own locks, which last for a transaction, stay free: others
 * can read, import and plan meanwhile.
 */
#ifndef GL_MEASURE_WRITE_LOCK_H
#define GL_MEASURE_WRITE_LOCK_H

#include "common/error.h"

/* Takes the lock; an absent file is created empty. `*lock` is a descriptor to release, or −1 when
 * `path` is nothing that can be locked (a folder, a path that is not there): opening it as a
 * database says what is wrong. Held by another process: GL_ERROR_INPUT. */
bool gl_write_lock_take(const char *path, int *lock, gl_error *err);

/* Releases after the database is closed: closing the file drops the locks of SQLite in it. */
void gl_write_lock_release(int lock);

/* Does another process measure into this file now? Only while this process has it not open. */
bool gl_write_lock_held(const char *path);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NCCL's variables, wherever they are said: what may be kept of them. Everything that reads an
 * environment or a line about one asks here, so that a secret is one everywhere.
 */
#ifndef GL_IMPORT_SETTING_H
#define GL_IMPORT_SETTING_H

#include "common/arena.h"

#include <stdbool.h>

/* Stands for the value of a secret. */
#define GL_SETTING_HIDDEN "(set)"

/* Is it NCCL's: NCCL_ and capitals, digits and '_', at most 100 in all? */
bool gl_setting_is_nccl(const char *name, size_t length);

/* Does its value name a machine (NCCL_COMM_ID, NCCL_HOSTID), or is it named like a password, a key
 * or a token? Such variables are not NCCL's own, but carry its prefix. */
bool gl_setting_is_secret(const char *name);

/* "NAME=value" for storing; NULL when `name` is none of NCCL's. Of a path its last part remains,
 * of several lines the first; a secret reads "(set)". At most 450 bytes, printable. */
const char *gl_setting_kept(gl_arena *arena, const char *name, size_t length, const char *value);

/* The same of all of `environment` (as environ), sorted, one a line. */
const char *gl_settings_kept(gl_arena *arena, const char *const *environment);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are given for texts and are none. */
#ifndef GL_CALIBRATE_NOT_TEXT_H
#define GL_CALIBRATE_NOT_TEXT_H

#include <stddef.h>

/* What the first bytes of a file say against reading it as text, and how to make a text of it: it
 * is empty, compressed, UTF-16 or binary. NULL: nothing does. */
const char *gl_not_text(const char *start, size_t length);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GL_COMMON_CLOCK_H
#define GL_COMMON_CLOCK_H

/* Seconds since some moment, by a clock that nobody sets. */
double gl_monotonic_s(void);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long work learns that it is to end early, with what it has. */
#ifndef GL_COMMON_INTERRUPT_H
#define GL_COMMON_INTERRUPT_H

/*
 * From now on the first SIGINT, SIGTERM or SIGHUP is only noted, and what was noted before is
 * forgotten; the second ends the process. What is ignored, as SIGHUP is under nohup, stays so.
 */
void gl_interrupt_catch(void);

/* The number of the signal that was noted, or 0. */
int gl_interrupt_seen(void);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A limit on waiting. A peer that is gone leaves NCCL waiting for ever, sometimes inside a call, so
 * a thread keeps the time: first it only says so (expired), for whoever polls; when nobody reacts,
 * the process is stuck inside NCCL or MPI, and the thread ends it with a message.
 */
#ifndef GL_MEASURE_NCCL_WATCHDOG_H
#define GL_MEASURE_NCCL_WATCHDOG_H

#include "common/error.h"

typedef struct gl_watchdog gl_watchdog;

gl_watchdog *gl_watchdog_start(void); /* NULL when no thread can be had: then nothing is limited */
void gl_watchdog_stop(gl_watchdog *dog);

/* Begins a wait of at most `limit_s`; `what` is borrowed until disarmed. */
void gl_watchdog_arm(gl_watchdog *dog, const char *what, double limit_s);
void gl_watchdog_kick(gl_watchdog *dog); /* there is progress: the limit begins anew */
void gl_watchdog_disarm(gl_watchdog *dog);
bool gl_watchdog_expired(gl_watchdog *dog);

#endif

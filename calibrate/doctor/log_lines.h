/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Single lines of NCCL and of nccl-tests into facts. */
#ifndef GL_DOCTOR_LOG_LINES_H
#define GL_DOCTOR_LOG_LINES_H

#include "calibrate/doctor/log_split.h"

typedef struct gl_log_place {
    const char *file;
    int line;
    const char *whole; /* the physical line */
} gl_log_place;

/* What one process said, ended with '\0'. */
void gl_log_read_piece(gl_log *log, gl_arena *arena, const gl_log_place *place,
                       const gl_log_piece *piece);

/* A line without NCCL's prefix. */
void gl_log_read_plain(gl_log *log, gl_arena *arena, const gl_log_place *place, const char *line);

/* Lines of the topology dump and of the search for rings (GRAPH); false when it is none. */
bool gl_log_read_graph(gl_log *log, gl_arena *arena, const gl_log_place *place,
                       const gl_log_piece *piece, const char *text);

/* "Channel 00/0 : …", "Ring 00 : …": between which ranks, over what. */
void gl_log_read_channel(gl_log *log, gl_arena *arena, const gl_log_place *place,
                         const gl_log_piece *piece, const char *text);

/* "comm 0x… rank 1 nRanks 16 …": which rank of which communicator it is, and where. */
void gl_log_read_communicator(gl_log *log, gl_arena *arena, const gl_log_place *place,
                              const gl_log_piece *piece, const char *text);

/* Of such a line: whether an init begins or completes. */
void gl_log_note_init(gl_log *log, gl_arena *arena, const gl_log_place *place,
                      const gl_log_piece *piece, const char *text, long rank, long ranks);
void gl_log_note_init_timings(gl_log *log, const gl_log_piece *piece);
void gl_log_note_init_stage(gl_log *log, gl_arena *arena, const gl_log_place *place,
                            const gl_log_piece *piece, gl_init_stage stage, const char *text);

/* A run of nccl-tests begins, and what hangs until then belongs to another; its results are there,
 * so that all of its inits completed, whatever lines were lost. */
void gl_log_begin_run(gl_log *log);
void gl_log_end_run(gl_log *log);

/* What a file says last. */
void gl_log_end_file(gl_log *log, const gl_log_piece *last);

/* The file ends inside a line: what it does not say proves nothing. */
void gl_log_forget_inits_of(gl_log *log, const char *file);

/* NICs, network plugins and GPUDirect RDMA (NET). */
void gl_log_read_net(gl_log *log, gl_arena *arena, const gl_log_place *place,
                     const gl_log_piece *piece, const char *text);

/* What a warning of NCCL is about: WARN_ERROR when it is of no known kind and speaks of an error,
 * else WARN. `where` holds the source file that warned, as NCCL puts it before "NCCL WARN". */
gl_said gl_log_warning_kind(const char *where, const char *text);

/* A failure in a line without NCCL's prefix: CUDA's words for a broken GPU, the kernel's, those of
 * nccl-tests, PyTorch and launchers; GL_SAID_COUNT when it is about something else. */
gl_said gl_log_plain_failure(const char *line);

/* Of a completion with an error its status; 0 when the line does not say it. */
int gl_log_completion_status(const char *text);

/* Of a line of NCCL about an asynchronous event of a NIC: is it a failure (PORT_ERROR) or harmless
 * (NIC_EVENT)? GL_SAID_COUNT when it is about no such event, or about one of neither kind. */
gl_said gl_log_nic_event(const char *text);

/* Counts a kind of line; the first one is quoted, and of some kinds the first of each host. */
void gl_log_say(gl_log *log, gl_arena *arena, const gl_log_place *place, const gl_log_piece *piece,
                gl_said what);

/* A rank of the largest communicator so far; NULL when it has none of this number, or there is no
 * more room to keep it. */
gl_log_rank *gl_log_rank_of(gl_log *log, long rank);

#endif

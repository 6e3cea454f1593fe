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

/* NICs, network plugins and GPUDirect RDMA (NET). */
void gl_log_read_net(gl_log *log, gl_arena *arena, const gl_log_place *place,
                     const gl_log_piece *piece, const char *text);

/* What a warning of NCCL is about; GL_SAID_WARN when it is of no known kind. */
gl_said gl_log_warning_kind(const char *text);

/* A broken GPU or NVLink in CUDA's words or the kernel's ("NVRM: Xid (PCI:0000:9d:00): 79, …"),
 * whoever prints them; GL_SAID_COUNT when the line is about something else. */
gl_said gl_log_gpu_failure(const char *text);

/* Of a line of NCCL about an asynchronous event of a NIC: is it a failure (PORT_ERROR) or harmless
 * (NIC_EVENT)? GL_SAID_COUNT when it is about no such event, or about one of neither kind. */
gl_said gl_log_nic_event(const char *text);

/* Counts a kind of line; the first one is quoted, and of some kinds the first of each host. */
void gl_log_say(gl_log *log, gl_arena *arena, const gl_log_place *place, const gl_log_piece *piece,
                gl_said what);

/* A rank of the largest communicator so far; NULL when it has none of this number, or there is no
 * more room to keep it. */
gl_log_rank *gl_log_rank_of(gl_log *log, long rank);

/* The integer behind a word in `text`, or `missing`. */
long gl_log_number_after(const char *text, const char *word, long missing);

#endif

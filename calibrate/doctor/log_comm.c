/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of NCCL about communicators: which rank is where, on which GPU. */
#include "calibrate/doctor/log_lines.h"

#include "calibrate/import/nccl_line.h"

#include <stdlib.h>
#include <string.h>

gl_log_rank *gl_log_rank_of(gl_log *log, long rank)
{
    return rank >= 0 && rank < log->ranks && (size_t)rank < log->rank_capacity
               ? &log->ranks_table[rank]
               : NULL;
}

static void forget_ranks(gl_log *log)
{
    for (size_t i = 0; i < log->rank_capacity; i++)
        log->ranks_table[i] = (gl_log_rank){.host = -1, .gpu = -1};
}

static void larger_communicator(gl_log *log, gl_arena *arena, long ranks)
{
    size_t wanted = ranks < GL_LOG_RANK_LIMIT ? (size_t)ranks : GL_LOG_RANK_LIMIT;
    size_t before = log->rank_capacity;
    if (wanted > before)
        log->ranks_table = gl_arena_grow(arena, log->ranks_table, &log->rank_capacity, wanted,
                                         sizeof *log->ranks_table);
    forget_ranks(log);
    log->ranks = (int)ranks;
    log->nodes = 0;
}

static void place_rank(gl_log *log, const gl_log_piece *piece, const char *text, long number)
{
    gl_log_rank *rank = gl_log_rank_of(log, number);
    if (rank == NULL || piece->host < 0)
        return;
    if (rank->host != -1 && rank->host != piece->host)
        log->is_ambiguous = true;
    rank->host = rank->host == -1 || rank->host == piece->host ? piece->host : -2;
    long gpu = gl_nccl_line_number(text, " nvmlDev ", gl_nccl_line_number(text, " cudaDev ", -1));
    if (gpu >= 0)
        rank->gpu = (int)gpu;
}

static void note_nodes(gl_log *log, gl_arena *arena, const gl_log_place *place,
                       const gl_log_piece *piece, const char *text, long ranks)
{
    long nodes = gl_nccl_line_number(text, " nNodes ", 0);
    long local = gl_nccl_line_number(text, " localRanks ", 0);
    long mnnvl = gl_nccl_line_number(text, " MNNVL ", -1);
    if (nodes < 1)
        return;
    if (ranks == log->ranks && nodes > log->nodes)
        log->nodes = (int)nodes;
    if (nodes > 1)
        gl_log_say(log, arena, place, piece, GL_SAID_MULTI_NODE);
    else if (ranks > 1)
        gl_log_say(log, arena, place, piece, GL_SAID_ONE_NODE);
    if (mnnvl == 1)
        gl_log_say(log, arena, place, piece, GL_SAID_MNNVL);
    else if (mnnvl == 0 && nodes > 1)
        gl_log_say(log, arena, place, piece, GL_SAID_NO_MNNVL);
    if (piece->host >= 0 && ranks == log->ranks && local > log->hosts[piece->host].local_ranks)
        log->hosts[piece->host].local_ranks = (int)local;
}

/* "busId 9d000" */
static void note_bus(gl_log *log, const char *text)
{
    const char *found = strstr(text, " busId ");
    if (found == NULL || log->bus_count == GL_LOG_BUS_LIMIT)
        return;
    uint64_t bus = strtoull(found + 7, NULL, 16);
    for (size_t i = 0; i < log->bus_count; i++)
        if (log->buses[i] == bus)
            return;
    log->buses[log->bus_count++] = bus;
}

/* "comm 0x… rank 1 nRanks 16 nNodes 2 localRanks 8 localRank 1 MNNVL 0", "… comm 0x… rank 0 nranks
 * 2 cudaDev 0 nvmlDev 0 busId 60 … Init COMPLETE" */
void gl_log_read_communicator(gl_log *log, gl_arena *arena, const gl_log_place *place,
                              const gl_log_piece *piece, const char *text)
{
    long rank = gl_nccl_line_number(text, " rank ", -1);
    long ranks = gl_nccl_line_number(text, " nRanks ", gl_nccl_line_number(text, " nranks ", 0));
    if (rank < 0 || ranks < 1 || rank >= ranks)
        return;
    if (ranks > 1)
        gl_log_say(log, arena, place, piece, GL_SAID_MANY_RANK_COMM);
    else if (strstr(text, "Init COMPLETE") != NULL) /* each communicator once */
        gl_log_say(log, arena, place, piece, GL_SAID_ONE_RANK_COMM);
    gl_log_note_init(log, arena, place, piece, text, rank, ranks);
    note_bus(log, text);
    if (ranks > 1 && log->ranks > 1 && ranks != log->ranks)
        log->is_ambiguous = true;
    if (ranks > log->ranks)
        larger_communicator(log, arena, ranks);
    if (ranks == log->ranks)
        place_rank(log, piece, text, rank);
    note_nodes(log, arena, place, piece, text, ranks);
}

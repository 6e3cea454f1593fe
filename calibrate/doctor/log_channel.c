/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of NCCL that say how two ranks talk. */
#include "calibrate/doctor/log_lines.h"

#include "common/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "0[101c0]" or "0" */
static const char *read_rank(const char *text, long *rank)
{
    char *end;
    *rank = strtol(text, &end, 10);
    if (end == text)
        return NULL;
    if (*end == '[') {
        const char *close = strchr(end, ']');
        return close != NULL ? close + 1 : NULL;
    }
    return end;
}

static bool same_host(const gl_log *log, long from, long to)
{
    if (from < 0 || to < 0 || from >= log->ranks || to >= log->ranks ||
        (size_t)(from > to ? from : to) >= log->rank_capacity)
        return false;
    int host = log->ranks_table[from].host;
    return host >= 0 && host == log->ranks_table[to].host;
}

typedef struct channel {
    long from, to;
    bool sends, receives;
    const char *via;
} channel;

/* The index behind the plugin's name: "IB/0/GDRDMA", "AWS Libfabric/1(3)/GDRDMA"; −1 none. */
static long nic_index(const char *net)
{
    const char *slash = strchr(net, '/');
    while (slash != NULL && !isdigit((unsigned char)slash[1]))
        slash = strchr(slash + 1, '/');
    return slash != NULL ? strtol(slash + 1, NULL, 10) : -1;
}

static void note_gdr(gl_log *log, gl_arena *arena, const gl_log_place *place,
                     const gl_log_piece *piece, const channel *c)
{
    bool gdr = strstr(c->via, "/GDRDMA") != NULL;
    gl_log_rank *rank = gl_log_rank_of(log, c->receives ? c->to : c->from);
    if (!gdr && piece->is_cut)
        return;
    gl_log_say(log, arena, place, piece,
               gdr           ? GL_SAID_GDR
               : c->receives ? GL_SAID_NO_GDR_RECEIVE
                             : GL_SAID_NO_GDR_SEND);
    if (rank == NULL)
        return;
    rank->gdr_receive += gdr && c->receives;
    rank->no_gdr_receive += !gdr && c->receives;
    if (!gdr && c->receives && rank->no_gdr_quote.text == NULL)
        rank->no_gdr_quote =
            gl_quote_make(arena, place->file, place->line, piece->start, strlen(piece->start));
}

static void note_nic(gl_log *log, gl_arena *arena, const gl_log_place *place,
                     const gl_log_piece *piece, const channel *c)
{
    long nic = nic_index(c->via + 4);
    if (nic < 0 || nic >= GL_LOG_NIC_LIMIT || piece->host < 0)
        return;
    gl_log_nccl_host *host = &log->hosts[piece->host];
    host->nics_used |= UINT64_C(1) << nic;
    gl_quote_once(&host->nic_quote, arena, place->file, place->line, piece->start);
    gl_log_rank *rank = gl_log_rank_of(log, c->receives ? c->to : c->from);
    const char *device = strchr(c->via + 4, '/');
    if (rank == NULL ||
        (device != NULL && strchr(device, '(') != NULL && strstr(device, "(PCI)") == NULL))
        return; /* relayed by another rank: that one's NIC */
    rank->nics |= UINT64_C(1) << nic;
    gl_quote_once(&rank->nic_quote, arena, place->file, place->line, piece->start);
}

static void read_net(gl_log *log, gl_arena *arena, const gl_log_place *place,
                     const gl_log_piece *piece, const channel *c)
{
    const char *name = c->via + 4, *relayed = strchr(name, '(');
    bool same = same_host(log, c->from, c->to);
    if (gl_starts_with(name, "Socket")) {
        gl_log_say(log, arena, place, piece, same ? GL_SAID_SOCKET_SAME : GL_SAID_SOCKET);
        return;
    }
    bool rdma = gl_starts_with(name, "IB") || strstr(name, "Libfabric") != NULL ||
                gl_starts_with(name, "gIB");
    if (!rdma) {
        gl_log_say(log, arena, place, piece, GL_SAID_NET_OTHER);
        return;
    }
    gl_log_say(log, arena, place, piece, same ? GL_SAID_RDMA_SAME : GL_SAID_NET_RDMA);
    if (relayed != NULL && isdigit((unsigned char)relayed[1]))
        gl_log_say(log, arena, place, piece, GL_SAID_PXN);
    note_gdr(log, arena, place, piece, c);
    note_nic(log, arena, place, piece, c);
}

static void note_shm_pair(gl_log *log, const channel *c)
{
    for (size_t i = 0; i < log->shm_pair_count && i < GL_LOG_PAIR_LIMIT; i++)
        if (log->shm_pairs[i].from == c->from && log->shm_pairs[i].to == c->to)
            return;
    if (log->shm_pair_count < GL_LOG_PAIR_LIMIT)
        log->shm_pairs[log->shm_pair_count] = (gl_log_pair){c->from, c->to};
    if (log->shm_pair_count <= GL_LOG_PAIR_LIMIT)
        log->shm_pair_count++;
}

/* Behind " -> ", as pages escape it, too; NULL when it is not there. */
static const char *skip_arrow(const char *text)
{
    return gl_starts_with(text, " -> ")      ? text + 4
           : gl_starts_with(text, " -&gt; ") ? text + 7
                                             : NULL;
}

/* "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0", "Ring 00 : 0[0] -> 1[1] via P2P/IPC" */
void gl_log_read_channel(gl_log *log, gl_arena *arena, const gl_log_place *place,
                         const gl_log_piece *piece, const char *text)
{
    channel c = {0};
    const char *at = strstr(text, " : ");
    if (at == NULL || (at = read_rank(at + 3, &c.from)) == NULL || (at = skip_arrow(at)) == NULL ||
        (at = read_rank(at, &c.to)) == NULL)
        return;
    c.sends = gl_starts_with(at, " [send]");
    c.receives = gl_starts_with(at, " [receive]");
    c.via = strstr(at, " via ");
    if (c.via == NULL)
        return;
    c.via += strlen(" via ");
    gl_log_say(log, arena, place, piece, GL_SAID_CHANNEL);
    if (gl_starts_with(c.via, "NET/")) {
        read_net(log, arena, place, piece, &c);
    } else if (gl_starts_with(c.via, "SHM/") || gl_starts_with(c.via, "direct shared memory")) {
        gl_log_say(log, arena, place, piece, GL_SAID_SHM);
        note_shm_pair(log, &c);
    } else if (gl_starts_with(c.via, "P2P/")) {
        gl_log_say(log, arena, place, piece, GL_SAID_P2P);
        if (gl_starts_with(c.via, "P2P/MNNVL"))
            gl_log_say(log, arena, place, piece, GL_SAID_MNNVL);
    }
}

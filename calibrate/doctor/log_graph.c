/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The topology as NCCL sees it, and what its search for rings found (NCCL_DEBUG_SUBSYS=GRAPH). */
#include "calibrate/doctor/log_lines.h"

#include "calibrate/import/nccl_line.h"
#include "common/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP_NONE, DUMP_TREE, DUMP_PATHS, DUMP_DONE };

#define MAX_BW_SLOW 6.0 /* GB/s: half of PCIe Gen3 x16 in NCCL's own count */
#define PCI_TINY    1.0 /* GB/s */

static const char *copy_id(gl_arena *arena, const char *text)
{
    char word[48], printable[48];
    size_t length = strcspn(text, " :(\r");
    snprintf(word, sizeof word, "%.*s", (int)(length < 40 ? length : 40), text);
    return gl_arena_strdup(arena, gl_printable(word, printable, sizeof printable));
}

/* ---- the tree ---- */

static void add_edge(gl_log_nccl_host *host, gl_arena *arena, const gl_log_place *place,
                     const gl_log_piece *piece, const char *target, double gb_per_s)
{
    if (host->dump_gpu == NULL || host->edge_count == GL_LOG_EDGE_LIMIT)
        return;
    if (host->edges == NULL)
        host->edges = GL_ARENA_NEW(arena, gl_log_edge, GL_LOG_EDGE_LIMIT);
    const char *to = gl_starts_with(target, "GPU/")   ? copy_id(arena, target + 4)
                     : gl_starts_with(target, "NVS/") ? "NVS"
                                                      : NULL;
    if (to == NULL)
        return;
    for (size_t i = 0; i < host->edge_count; i++)
        if (strcmp(host->edges[i].from, host->dump_gpu) == 0 &&
            strcmp(host->edges[i].to, to) == 0) {
            host->edges[i].gb_per_s += gb_per_s; /* one of several switches */
            return;
        }
    host->edges[host->edge_count++] =
        (gl_log_edge){.from = host->dump_gpu,
                      .to = to,
                      .gb_per_s = gb_per_s,
                      .quote = gl_quote_make(arena, place->file, place->line, piece->start,
                                             strlen(piece->start))};
}

static void add_gpu(gl_log_nccl_host *host, gl_arena *arena, const gl_log_place *place,
                    const gl_log_piece *piece, const char *id, double gb_per_s)
{
    if (host->gpu_count == GL_LOG_GPU_LIMIT)
        return;
    if (host->gpus == NULL)
        host->gpus = GL_ARENA_NEW(arena, gl_log_gpu, GL_LOG_GPU_LIMIT);
    host->gpus[host->gpu_count++] =
        (gl_log_gpu){.bus = copy_id(arena, id),
                     .gb_per_s = gb_per_s,
                     .quote = gl_quote_make(arena, place->file, place->line, piece->start,
                                            strlen(piece->start))};
}

/* "+ PCI[48.0] - GPU/0-60 (0)", "+ NVL[370.8] - NVS/0-0" */
static void read_branch(gl_log *log, gl_arena *arena, const gl_log_place *place,
                        const gl_log_piece *piece, const char *text)
{
    const char *open = strchr(text, '['), *target = strstr(text, "] - ");
    if (open == NULL || target == NULL || target < open)
        return;
    target += strlen("] - ");
    double gb_per_s = strtod(open + 1, NULL);
    bool gpu = gl_starts_with(target, "GPU/");
    if (gl_starts_with(text, "+ NVL["))
        gl_log_say(log, arena, place, piece, GL_SAID_NVLINK_IN_DUMP);
    if (gl_starts_with(text, "+ PCI[") && gb_per_s > 0 && gb_per_s < PCI_TINY &&
        (gpu || gl_starts_with(target, "PCI/")))
        gl_log_say(log, arena, place, piece, GL_SAID_PCI_TINY);
    if (piece->host < 0)
        return;
    gl_log_nccl_host *host = &log->hosts[piece->host];
    if (host->dump_state != DUMP_TREE || host->dump_owner != piece->thread)
        return;
    if (gpu && gl_starts_with(text, "+ PCI["))
        add_gpu(host, arena, place, piece, target + strlen("GPU/"), gb_per_s);
    if (gl_starts_with(text, "+ PCI[") || gl_starts_with(text, "+ C2C["))
        host->dump_gpu = gpu && gl_starts_with(text, "+ PCI[") ? copy_id(arena, target + 4)
                         : gpu                                 ? host->dump_gpu
                         : gl_starts_with(text, "+ PCI[")      ? NULL
                                                               : host->dump_gpu;
    else if (gl_starts_with(text, "+ NVL["))
        add_edge(host, arena, place, piece, target, gb_per_s);
}

static void read_system(gl_log *log, gl_arena *arena, const gl_log_place *place,
                        const gl_log_piece *piece, const char *text)
{
    const char *bw = strstr(text, "maxBw "), *old = strstr(text, "maxWidth ");
    double gb_per_s = bw != NULL ? strtod(bw + 6, NULL) : old != NULL ? strtod(old + 9, NULL) : 0;
    gl_log_say(log, arena, place, piece, GL_SAID_DUMP);
    if (gb_per_s > 0 && gb_per_s < MAX_BW_SLOW)
        gl_log_say(log, arena, place, piece, GL_SAID_DUMP_SLOW);
    if (piece->host >= 0 && log->hosts[piece->host].dump_state == DUMP_NONE) {
        log->hosts[piece->host].dump_state = DUMP_TREE;
        log->hosts[piece->host].dump_owner = piece->thread;
    }
}

/* ---- paths between pairs ---- */

static int rank_of_type(const char *type)
{
    static const char *const types[] = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                        "PXN", "P2C", "PHB", "SYS", "NET", "DIS"};
    for (int i = 0; i < (int)(sizeof types / sizeof *types); i++)
        if (strncmp(type, types[i], 3) == 0)
            return i;
    return -1;
}

enum { TYPE_C2C = 3, TYPE_PIX = 4, TYPE_PHB = 8, TYPE_SYS = 9 };

static void note_gpu_pair(gl_log *log, gl_arena *arena, const gl_log_place *place,
                          const gl_log_piece *piece, int type)
{
    if (type == TYPE_SYS)
        gl_log_say(log, arena, place, piece, GL_SAID_GPU_SYS_GPU);
    else if (type >= TYPE_PIX && type <= TYPE_PHB)
        gl_log_say(log, arena, place, piece, GL_SAID_GPU_PCI_GPU);
}

/* "GPU/0-60 :GPU/0-60 (0/5000.0/LOC) GPU/0-70 (2/370.8/NVL) NET/0-0 (3/1.2/PHB)" */
static void read_paths(gl_log *log, gl_arena *arena, const gl_log_place *place,
                       const gl_log_piece *piece, const char *text)
{
    int nearest = 100;
    for (const char *c = strchr(text, ':'); c != NULL; c = strchr(c, ')')) {
        c += 1 + strspn(c + 1, " ");
        const char *open = strchr(c, '('), *close = strchr(c, ')');
        if (open == NULL || close == NULL || close - open < 5)
            break;
        int type = rank_of_type(close - 3);
        if (gl_starts_with(c, "GPU/"))
            note_gpu_pair(log, arena, place, piece, type);
        else if (gl_starts_with(c, "NET/") && type >= 0 && type < nearest)
            nearest = type;
        c = close;
    }
    if (nearest <= TYPE_SYS)
        gl_log_say(log, arena, place, piece,
                   nearest == TYPE_SYS ? GL_SAID_GPU_SYS_NET : GL_SAID_GPU_NEAR_NET);
}

/* "Pattern 4, crossNic 0, nChannels 12, bw 30.0/30.0, type NVL/PIX, sameChannels 1": pattern 4 is
 * the ring; the first type is that between GPUs, the second that to the NIC. */
static void read_pattern(gl_log *log, gl_arena *arena, const gl_log_place *place,
                         const gl_log_piece *piece, const char *text)
{
    const char *type = strstr(text, " type ");
    if (type == NULL || !gl_starts_with(text, "Pattern 4") ||
        gl_nccl_line_number(text, "nChannels ", 0) < 1)
        return;
    type += strlen(" type ");
    int between = rank_of_type(type), to_nic = type[3] == '/' ? rank_of_type(type + 4) : -1;
    if (between == 1 || between == 2)
        gl_log_say(log, arena, place, piece, GL_SAID_RING_NVLINK);
    else if (between == TYPE_SYS)
        gl_log_say(log, arena, place, piece, GL_SAID_RING_SYS);
    else if (between >= TYPE_PIX && between <= TYPE_PHB)
        gl_log_say(log, arena, place, piece, GL_SAID_RING_PCIE);
    if (to_nic == TYPE_SYS)
        gl_log_say(log, arena, place, piece, GL_SAID_RING_NET_SYS);
}

bool gl_log_read_graph(gl_log *log, gl_arena *arena, const gl_log_place *place,
                       const gl_log_piece *piece, const char *text)
{
    text += strspn(text, " ");
    if (gl_starts_with(text, "+ ")) {
        read_branch(log, arena, place, piece, text);
    } else if (gl_starts_with(text, "=== System")) {
        read_system(log, arena, place, piece, text);
    } else if (gl_starts_with(text, "=====")) {
        if (piece->host >= 0 && log->hosts[piece->host].dump_state == DUMP_TREE &&
            log->hosts[piece->host].dump_owner == piece->thread)
            log->hosts[piece->host].dump_state = DUMP_PATHS;
    } else if (gl_starts_with(text, "GPU/") && strchr(text, '(') != NULL) {
        /* The paths of one rank are those of all on its host. */
        if (piece->host < 0 || log->hosts[piece->host].dump_owner == 0 ||
            log->hosts[piece->host].dump_owner == piece->thread)
            read_paths(log, arena, place, piece, text);
    } else if (gl_starts_with(text, "Pattern ")) {
        read_pattern(log, arena, place, piece, text);
    } else {
        return false;
    }
    return true;
}

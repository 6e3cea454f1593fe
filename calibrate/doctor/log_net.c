/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NICs, network plugins, GPUDirect RDMA. */
#include "calibrate/doctor/log_lines.h"

#include "calibrate/import/nccl_line.h"
#include "common/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gl_log_nic *nic_of(gl_log_nccl_host *host, gl_arena *arena, long index)
{
    if (index < 0 || index >= GL_LOG_NIC_LIMIT)
        return NULL;
    if (host->nics == NULL)
        host->nics = GL_ARENA_NEW(arena, gl_log_nic, GL_LOG_NIC_LIMIT);
    return &host->nics[index];
}

static const char *copy(gl_arena *arena, const char *text, size_t length)
{
    char word[64], printable[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), text);
    return gl_arena_strdup(arena, gl_printable(word, printable, sizeof printable));
}

/* "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB …": how many devices. */
static int read_ib_list(gl_log *log, gl_arena *arena, const gl_log_place *place,
                        const gl_log_piece *piece, const char *text)
{
    int count = 0;
    gl_log_nccl_host *host = piece->host >= 0 ? &log->hosts[piece->host] : NULL;
    bool is_whole = strstr(text, "; OOB ") != NULL; /* else the line may be torn */
    /* Each rank repeats it. */
    bool known = host == NULL || (host->nics_listed != 0 && (host->is_list_whole || !is_whole));
    if (host != NULL)
        host->is_list_whole = host->is_list_whole || is_whole;
    for (const char *c = strchr(text, '['); c != NULL && *c != ';'; c = strpbrk(c + 1, "[;")) {
        char *end;
        long index = strtol(c + 1, &end, 10);
        if (end == c + 1 || *end != ']')
            continue;
        count++;
        const char *name = end + 1, *slash = name + strcspn(name, "/ ;");
        gl_log_nic *nic = known ? NULL : nic_of(host, arena, index);
        if (nic == NULL)
            continue;
        nic->name = copy(arena, name, (size_t)(slash - name));
        nic->layer = gl_starts_with(slash, "/IB") ? 'I' : gl_starts_with(slash, "/Ro") ? 'E' : 0;
        nic->quote =
            gl_quote_make(arena, place->file, place->line, piece->start, strlen(piece->start));
        host->nics_listed |= UINT64_C(1) << index;
    }
    return count;
}

/* Behind "[0] ": "dev:mlx5_0:1/IB", "mlx5_0:uverbs0:1/IB". */
static const char *device_name(gl_arena *arena, const char *open)
{
    const char *name = open + strcspn(open, " ");
    name += strspn(name, " ");
    if (gl_starts_with(name, "dev:"))
        name += strlen("dev:");
    return copy(arena, name, strcspn(name, ":/ "));
}

/* "NET/IB: [0] dev:mlx5_0:1/IB provider=Mlx5 speed=400000 …" (Mbit/s) */
static void read_ib_device(gl_log *log, gl_arena *arena, const gl_log_place *place,
                           const gl_log_piece *piece, const char *text)
{
    const char *open = strchr(text, '['), *speed = strstr(text, "speed=");
    if (open == NULL || speed == NULL || piece->host < 0 || !isdigit((unsigned char)open[1]))
        return;
    gl_log_nic *nic = nic_of(&log->hosts[piece->host], arena, strtol(open + 1, NULL, 10));
    double megabits = strtod(speed + 6, NULL);
    if (nic != NULL && nic->bytes_per_s <= 0 && megabits > 0 && megabits < 1e8) {
        nic->bytes_per_s = megabits * 1e6 / 8;
        nic->speed_quote =
            gl_quote_make(arena, place->file, place->line, piece->start, strlen(piece->start));
        if (nic->name == NULL)
            nic->name = device_name(arena, open);
        gl_quote_once(&nic->quote, arena, place->file, place->line, piece->start);
    }
}

/* "NET/IB : Made virtual device [8] name=mlx5_0+mlx5_1 speed=800000 ndevs=2" */
static void read_merged(gl_log *log, const gl_log_piece *piece, const char *text)
{
    const char *open = strchr(text, '[');
    if (open == NULL || piece->host < 0)
        return;
    long index = strtol(open + 1, NULL, 10), members = gl_nccl_line_number(text, "ndevs=", 1);
    gl_log_nccl_host *host = &log->hosts[piece->host];
    if (index < 0 || index >= GL_LOG_NIC_LIMIT || members < 1 || members > GL_LOG_NIC_LIMIT ||
        (host->nics_merged >> index & 1) != 0)
        return;
    host->nics_merged |= UINT64_C(1) << index;
    host->merged_members += (int)members;
}

/* An interface of InfiniBand that carries IP, or several in a bond. */
static bool names_ipoib(const char *list)
{
    for (const char *c = strchr(list, ']'); c != NULL; c = strchr(c + 1, ']'))
        if ((c[1] == 'i' && c[2] == 'b') || gl_starts_with(c + 1, "bond"))
            return true;
    return false;
}

static void read_gdr(gl_log *log, gl_arena *arena, const gl_log_place *place,
                     const gl_log_piece *piece, const char *text)
{
    const char *gdr = strstr(text, "GPU Direct RDMA ");
    if (gdr == NULL)
        return;
    bool on = gl_starts_with(gdr + 16, "Enabled"), off = gl_starts_with(gdr + 16, "Disabled");
    bool pair = strstr(gdr, " for GPU ") != NULL, hca = strstr(gdr, " for HCA ") != NULL;
    if (pair && off && strstr(gdr, "distance") != NULL)
        gl_log_say(log, arena, place, piece, GL_SAID_GDR_TOO_FAR);
    else if (pair && on)
        gl_log_say(log, arena, place, piece, GL_SAID_GDR_PAIR_ON);
    else if (hca && on)
        gl_log_say(log, arena, place, piece, GL_SAID_HCA_GDR_ON);
    else if (off && (hca || strstr(gdr, "no module") != NULL))
        gl_log_say(log, arena, place, piece, GL_SAID_HCA_GDR_OFF);
}

static bool is_plugin_error(const char *text)
{
    /* A symbol of another version that is not found is no error: the next one is tried. */
    static const char *const words[] = {"dlopen", "Failed to open lib", "cannot open shared object",
                                        "undefined symbol", "initialization failed"};
    if (strstr(text, "libnccl-net.so: cannot open shared object") != NULL)
        return false; /* no plugin is installed: normal */
    if (gl_starts_with(text, "dlvsym failed"))
        return false; /* an old library lacks what is tried next */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]) != NULL)
            return true;
    return false;
}

void gl_log_read_net(gl_log *log, gl_arena *arena, const gl_log_place *place,
                     const gl_log_piece *piece, const char *text)
{
    if (strstr(text, "GPU Direct RDMA ") != NULL) {
        read_gdr(log, arena, place, piece, text);
    } else if (strstr(text, "NET/IB : Made virtual device") != NULL ||
               strstr(text, "Made virtual device [") != NULL) {
        read_merged(log, piece, text);
    } else if (gl_starts_with(text, "NET/IB : No device found")) {
        gl_log_say(log, arena, place, piece, GL_SAID_NO_IB);
    } else if (gl_starts_with(text, "NET/IB : Using ") || gl_starts_with(text, "NET/IB: Using ") ||
               (gl_starts_with(text, "NET/IB") && strstr(text, " Using [") != NULL)) {
        if (read_ib_list(log, arena, place, piece, text) > 0)
            gl_log_say(log, arena, place, piece, GL_SAID_IB_LIST);
    } else if (gl_starts_with(text, "NET/IB") && strstr(text, "speed=") != NULL) {
        read_ib_device(log, arena, place, piece, text);
    } else if (gl_starts_with(text, "NET/Socket : Using ") && names_ipoib(text)) {
        gl_log_say(log, arena, place, piece, GL_SAID_SOCKET_IPOIB);
    } else if (gl_starts_with(text, "NET/") || strstr(text, "ibv") != NULL) {
        gl_said event = gl_log_nic_event(text);
        if (event != GL_SAID_COUNT)
            gl_log_say(log, arena, place, piece, event);
        else if (is_plugin_error(text))
            gl_log_say(log, arena, place, piece, GL_SAID_PLUGIN_ERROR);
    }
}

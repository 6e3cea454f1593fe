/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/log_lines.h"

#include "calibrate/import/nccl_line.h"
#include "common/hash.h"
#include "common/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines that a rule quotes of one host among several. */
static bool is_asked_of_hosts(gl_said what)
{
    static const gl_said asked[] = {
        GL_SAID_SHM,         GL_SAID_SOCKET,         GL_SAID_USING_SOCKET,   GL_SAID_USING_OTHER,
        GL_SAID_NO_IB,       GL_SAID_IB_LIST,        GL_SAID_PLUGIN_ERROR,   GL_SAID_GDR_TOO_FAR,
        GL_SAID_RING_NVLINK, GL_SAID_RING_PCIE,      GL_SAID_RING_SYS,       GL_SAID_RING_NET_SYS,
        GL_SAID_GPU_SYS_NET, GL_SAID_NVLS_INCAPABLE, GL_SAID_NO_GDR_RECEIVE, GL_SAID_NVLS_CAPABLE,
        GL_SAID_HCA_GDR_OFF};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (asked[i] == what)
            return true;
    return false;
}

void gl_log_say(gl_log *log, gl_arena *arena, const gl_log_place *place, const gl_log_piece *piece,
                gl_said what)
{
    bool is_first = log->said[what].count++ == 0, is_first_of_host = false;
    gl_host_said *said = piece->host >= 0 ? log->hosts[piece->host].said : NULL;
    if (said != NULL && said->count[what] < UINT32_MAX)
        is_first_of_host = said->count[what]++ == 0 && is_asked_of_hosts(what);
    if (!is_first && !is_first_of_host)
        return;
    gl_quote quote =
        gl_quote_make(arena, place->file, place->line, piece->start, strlen(piece->start));
    if (is_first)
        log->said[what].first = quote;
    if (is_first_of_host) {
        said->first[what] = GL_ARENA_NEW(arena, gl_quote, 1);
        *said->first[what] = quote;
    }
}

static void say_plain(gl_log *log, gl_arena *arena, const gl_log_place *place, gl_said what)
{
    if (log->said[what].count++ == 0)
        log->said[what].first =
            gl_quote_make(arena, place->file, place->line, place->whole, strlen(place->whole));
}

/* `piece` NULL: a line without NCCL's prefix. Completions are also counted by their status. */
static void say_failure(gl_log *log, gl_arena *arena, const gl_log_place *place,
                        const gl_log_piece *piece, gl_said what, const char *text)
{
    if (piece != NULL)
        gl_log_say(log, arena, place, piece, what);
    else
        say_plain(log, arena, place, what);
    if (what != GL_SAID_LINK_ERROR)
        return;
    gl_said_line *line = &log->completions[gl_log_completion_status(text)];
    line->count++;
    gl_quote_once(&line->first, arena, place->file, place->line,
                  piece != NULL ? piece->start : place->whole);
}

/* ---- algorithms ---- */

static void read_choice(gl_log *log, gl_arena *arena, const gl_log_place *place,
                        const gl_log_piece *piece, const char *text)
{
    const double large = 16.0 * 1024 * 1024;
    gl_nccl_choice choice;
    if (!gl_nccl_line_choice(text, &choice))
        return;
    /* A torn line may hold the beginning of the name. */
    if (choice.algorithm == GL_NCCL_NVLS || choice.algorithm == GL_NCCL_NVLS_TREE ||
        gl_starts_with(choice.algorithm_text, "NVLS"))
        gl_log_say(log, arena, place, piece, GL_SAID_NVLS_CHOSEN);
    else if (choice.collective == GL_ALL_REDUCE && choice.size_bytes >= large)
        gl_log_say(log, arena, place, piece, GL_SAID_NVLS_PASSED_BY);
}

/* "24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels, …" */
static void read_channel_counts(gl_log *log, gl_arena *arena, const gl_log_place *place,
                                const gl_log_piece *piece, const char *text)
{
    const char *nvls = strstr(text, " nvls channels");
    if (strstr(text, " coll channels") == NULL || nvls == NULL)
        return;
    while (nvls > text && isdigit((unsigned char)nvls[-1]))
        nvls--;
    gl_log_say(log, arena, place, piece,
               strtol(nvls, NULL, 10) > 0 ? GL_SAID_NVLS_CHANNELS : GL_SAID_NO_NVLS_CHANNELS);
}

static void read_nvls(gl_log *log, gl_arena *arena, const gl_log_place *place,
                      const gl_log_piece *piece, const char *text)
{
    if (gl_starts_with(text, "NVLS comm "))
        gl_log_say(log, arena, place, piece, GL_SAID_NVLS_COMM);
    else if (strstr(text, "multicast support is not available") != NULL)
        gl_log_say(log, arena, place, piece, GL_SAID_NVLS_INCAPABLE);
    else if (strstr(text, "multicast support is available") != NULL)
        gl_log_say(log, arena, place, piece, GL_SAID_NVLS_CAPABLE);
}

/* "MNNVL busId 0x60 fabric UUID 0.0 cliqueId 0x0 state 3 healthMask 0x0": state 3 is "completed".
 */
static void read_fabric(gl_log *log, gl_arena *arena, const gl_log_place *place,
                        const gl_log_piece *piece, const char *text)
{
    const char *uuid = strstr(text, "fabric UUID ");
    if (uuid == NULL)
        return;
    uuid += strlen("fabric UUID ");
    if (strspn(uuid, "0x.") == strcspn(uuid, " "))
        return; /* a GPU on its own board */
    gl_log_say(log, arena, place, piece, GL_SAID_FABRIC);
    if (gl_nccl_line_number(text, " state ", 3) != 3)
        gl_log_say(log, arena, place, piece, GL_SAID_FABRIC_BAD);
}

/* ---- settings and files ---- */

static void read_setting(gl_log *log, gl_arena *arena, const gl_log_place *place,
                         const gl_log_piece *piece, const char *text)
{
    gl_nccl_said_setting said;
    char value[201], printable[201];
    if (!gl_nccl_line_setting(text, &said) || said.value_length == 0)
        return; /* also torn off, or set to nothing */
    size_t length = said.value_length < sizeof value ? said.value_length : sizeof value - 1;
    snprintf(value, sizeof value, "%.*s", (int)length, said.value);
    gl_log_add_setting(
        log, arena, piece->host, gl_arena_strndup(arena, said.name, said.name_length),
        gl_printable(value, printable, sizeof printable),
        gl_quote_make(arena, place->file, place->line, piece->start, strlen(piece->start)));
}

/* A host's own version of something; "" when it names several: then it ran several programs. */
static void note_version(gl_arena *arena, const gl_log_place *place, const char *start,
                         const char *version, const char **known, gl_quote *quote)
{
    if (*known == NULL) {
        *known = version;
        *quote = gl_quote_make(arena, place->file, place->line, start, strlen(start));
    } else if (strcmp(*known, version) != 0) {
        *known = "";
    }
}

/* `piece` NULL: NCCL printed it without saying where. */
static void read_version(gl_log *log, gl_arena *arena, const gl_log_place *place,
                         const gl_log_piece *piece, const char *text)
{
    const char *version = gl_nccl_line_version(text);
    if (version == NULL)
        return;
    const char *start = piece != NULL ? piece->start : text;
    size_t length = strcspn(version, "+ \r");
    gl_log_nccl_host *host = piece != NULL && piece->host >= 0 ? &log->hosts[piece->host] : NULL;
    bool again = strlen(log->version) == length && strncmp(log->version, version, length) == 0;
    if (again && (host == NULL || host->version != NULL) &&
        (host == NULL || strcmp(host->version, log->version) == 0))
        return; /* every rank repeats it */
    version = gl_nccl_line_word(arena, version, "+ \r");
    if (log->version[0] == '\0') {
        log->version = version;
        log->version_quote = gl_quote_make(arena, place->file, place->line, start, strlen(start));
    } else if (!again && host == NULL) {
        gl_quote_once(&log->other_version_quote, arena, place->file, place->line, start);
    }
    if (host != NULL)
        note_version(arena, place, start, version, &host->version, &host->version_quote);
}

/* "cudaDriverVersion 12040" */
static void read_driver(gl_log *log, gl_arena *arena, const gl_log_place *place,
                        const gl_log_piece *piece, const char *text)
{
    if (piece->host < 0)
        return;
    gl_log_nccl_host *host = &log->hosts[piece->host];
    const char *version = text + strlen("cudaDriverVersion ");
    size_t length = strspn(version, "0123456789");
    if (length == 0 || (host->driver != NULL && strlen(host->driver) == length &&
                        strncmp(host->driver, version, length) == 0))
        return;
    note_version(arena, place, piece->start, gl_arena_strndup(arena, version, length),
                 &host->driver, &host->driver_quote);
}

/* ---- CPUs ---- */

/* Masks until 2.26, lists since. */
static gl_cpus_form form_of_cpus(const gl_log *log)
{
    char *end;
    long major = strtol(log->version, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    if (major == 0)
        return GL_CPUS_EITHER;
    return major > 2 || minor >= 27 ? GL_CPUS_LIST : GL_CPUS_MASK;
}

/* The set that begins at `text`. */
static bool read_cpus(const gl_log *log, const char *text, gl_cpus *cpus)
{
    text += strspn(text, " ");
    size_t length = strspn(text, "0123456789abcdefABCDEF,-");
    return gl_cpus_parse(text, length, form_of_cpus(log), cpus) && gl_cpus_count(cpus) > 0;
}

static bool read_cpus_behind(const gl_log *log, const char *text, const char *words, gl_cpus *cpus)
{
    const char *found = strstr(text, words);
    return found != NULL && read_cpus(log, found + strlen(words), cpus);
}

/* "Setting affinity for GPU 0 to ffff"; since 2.27 "… to 0-15,32-47"; since 2.28
 * "ncclTopoGetCpuAffinity: Affinity for GPU 1 is 0-15. (GPU affinity = 0-31 ; CPU affinity = 0-15)"
 * or "… is empty, ignoring. (…)". "CPU affinity" is that of the process. */
static void read_affinity(gl_log *log, gl_arena *arena, const gl_log_place *place,
                          const gl_log_piece *piece, const char *text)
{
    gl_cpus gpu, process;
    long index = gl_nccl_line_number(text, "ffinity for GPU ", -1);
    bool known = read_cpus_behind(log, text, "; CPU affinity = ", &process);
    if (strstr(text, " is empty, ignoring") != NULL && known &&
        read_cpus_behind(log, text, "(GPU affinity = ", &gpu)) /* it has CPUs that were lost */
        gl_log_say(log, arena, place, piece, GL_SAID_CPUS_DISJOINT);
    if (!known && !read_cpus_behind(log, text, " to ", &process) &&
        !read_cpus_behind(log, text, " is ", &process))
        return;
    if (gl_cpus_count(&process) == 1)
        gl_log_say(log, arena, place, piece, GL_SAID_ONE_CPU);
    if (index < 0 || index >= GL_LOG_AFFINITY_LIMIT || piece->host > 0 ||
        log->affinities[index].quote.text != NULL)
        return;
    log->affinities[index] = (gl_log_affinity){.cpus = process};
    gl_quote_once(&log->affinities[index].quote, arena, place->file, place->line, piece->start);
}

/* ---- lines ---- */

static void read_n(gl_log *log, gl_arena *arena, const gl_log_place *place,
                   const gl_log_piece *piece, const char *text)
{
    if (gl_starts_with(text, "NCCL_")) {
        read_setting(log, arena, place, piece, text);
    } else if (gl_starts_with(text, "NCCL version ")) {
        read_version(log, arena, place, piece, text);
    } else if (gl_starts_with(text, "NVLS ")) {
        read_nvls(log, arena, place, piece, text);
    } else {
        gl_log_read_net(log, arena, place, piece, text);
    }
}

static void read_u(gl_log *log, gl_arena *arena, const gl_log_place *place,
                   const gl_log_piece *piece, const char *text)
{
    if (gl_starts_with(text, "Using network ")) {
        gl_log_note_init_stage(log, arena, place, piece, GL_INIT_NETWORK, text);
        bool socket = gl_starts_with(text + 14, "Socket");
        gl_log_say(log, arena, place, piece, socket ? GL_SAID_USING_SOCKET : GL_SAID_USING_OTHER);
        if (!gl_starts_with(text + 14, log->network) || log->network[0] == '\0')
            log->network = gl_nccl_line_word(arena, text + 14, "\r");
    } else if (gl_starts_with(text, "Using tuner plugin")) {
        gl_log_say(log, arena, place, piece, GL_SAID_TUNER);
    }
}

/* NCCL 2.4: "CUDA Dev 0[0], IB NIC distance :  PIX SYS". */
static void read_distance(gl_log *log, gl_arena *arena, const gl_log_place *place,
                          const gl_log_piece *piece, const char *text)
{
    static const char words[] = "IB NIC distance :";
    const char *found = strstr(text, words);
    if (found == NULL)
        return;
    bool near = strstr(found, "PIX") != NULL || strstr(found, "PXB") != NULL ||
                strstr(found, "PHB") != NULL || strstr(found, "NODE") != NULL;
    if (near || strstr(found, "SYS") != NULL)
        gl_log_say(log, arena, place, piece, near ? GL_SAID_GPU_NEAR_NET : GL_SAID_GPU_SYS_NET);
}

static void read_rest(gl_log *log, gl_arena *arena, const gl_log_place *place,
                      const gl_log_piece *piece, const char *text)
{
    const char *comm = strstr(text, "comm 0x");
    if (comm != NULL)
        gl_log_read_communicator(log, arena, place, piece, text);
    else if (strstr(text, "ffinity for GPU ") != NULL)
        read_affinity(log, arena, place, piece, text);
    else if (isdigit((unsigned char)text[0]))
        read_channel_counts(log, arena, place, piece, text);
    if (strstr(text, "ibv_") != NULL || strstr(text, "libibverbs") != NULL)
        gl_log_read_net(log, arena, place, piece, text);
}

void gl_log_read_piece(gl_log *log, gl_arena *arena, const gl_log_place *place,
                       const gl_log_piece *piece)
{
    const char *text = piece->text;
    if (piece->is_warning) {
        say_failure(log, arena, place, piece, gl_log_warning_kind(piece->start, text), text);
        return;
    }
    if (gl_log_read_graph(log, arena, place, piece, text))
        return;
    text += strspn(text, " ");
    switch (*text) {
    case 'C':
        if (gl_starts_with(text, "Channel ")) {
            gl_log_read_channel(log, arena, place, piece, text);
            return;
        }
        if (gl_starts_with(text, "CUDA Dev "))
            read_distance(log, arena, place, piece, text);
        if (gl_starts_with(text, "Connected all rings, use ring PXN ") &&
            gl_nccl_line_number(text, " GDR ", 1) == 0)
            gl_log_say(log, arena, place, piece, GL_SAID_RING_GDR_OFF);
        break;
    case 'R':
        if (gl_starts_with(text, "Ring "))
            gl_log_read_channel(log, arena, place, piece, text);
        break;
    case 'T':
        if (gl_starts_with(text, "Trees ["))
            gl_log_note_init_stage(log, arena, place, piece, GL_INIT_TREES, text);
        if (gl_starts_with(text, "Tree") || gl_starts_with(text, "TOPO"))
            return;
        if (gl_starts_with(text, "TUNER/Plugin: Using "))
            gl_log_say(log, arena, place, piece, GL_SAID_TUNER);
        break;
    case 'N':
        read_n(log, arena, place, piece, text);
        return;
    case 'U':
        read_u(log, arena, place, piece, text);
        return;
    case 'I':
        if (gl_starts_with(text, "Init timings"))
            gl_log_note_init_timings(log, piece);
        break;
    case 'L':
        if (gl_starts_with(text, "Loading topology file"))
            gl_log_say(log, arena, place, piece, GL_SAID_TOPO_FILE);
        break;
    case 'G':
        if (gl_starts_with(text, "GPU Direct RDMA"))
            gl_log_read_net(log, arena, place, piece, text);
        break;
    case 'c':
        if (gl_starts_with(text, "cudaDriverVersion "))
            read_driver(log, arena, place, piece, text);
        break;
    case 'M':
        if (gl_starts_with(text, "MNNVL busId "))
            read_fabric(log, arena, place, piece, text);
        break;
    default:
        break;
    }
    if (gl_starts_with(text, "Could not open XML topology"))
        gl_log_say(log, arena, place, piece, GL_SAID_TOPO_FILE_BAD);
    if (strstr(text, " -> Algo ") != NULL)
        read_choice(log, arena, place, piece, text);
    else
        read_rest(log, arena, place, piece, text);
}

/* ---- nccl-tests ---- */

/* The same GPU for two ranks of one list. MIG devices share the bus of their GPU. */
static void note_listed(gl_log *log, gl_arena *arena, const gl_log_place *place, int host,
                        const char *device, const char *name)
{
    const char *bus = strchr(device, '[');
    if (host < 0 || bus == NULL || strstr(name, "MIG") != NULL)
        return;
    uint64_t key = gl_hash_add((uint64_t)host + 1, bus, strcspn(bus, "]"));
    for (size_t i = 0; i < log->listed_count; i++)
        if (log->listed[i] == key) {
            say_plain(log, arena, place, GL_SAID_GPU_TWICE);
            return;
        }
    if (log->listed_count < GL_LOG_LISTED_LIMIT)
        log->listed[log->listed_count++] = key;
}

/* "#  Rank  0 Group  0 Pid    625 on         vm device  0 [0000:00:06] NVIDIA H200" */
static bool read_device(gl_log *log, gl_arena *arena, const gl_log_place *place, const char *line)
{
    const char *rank = strstr(line, "Rank "), *on = strstr(line, " on ");
    const char *device = strstr(line, " device ");
    if (rank == NULL || on == NULL || device == NULL || on < rank || device < on ||
        strstr(line, " Pid ") == NULL)
        return false;
    long number = strtol(rank + 5, NULL, 10);
    say_plain(log, arena, place, number == 0 ? GL_SAID_RANK_0 : GL_SAID_OTHER_RANK);
    if (number == 0)
        log->listed_count = 0;
    const char *name = strchr(device, ']');
    if (name == NULL)
        return true;
    name += 1 + strspn(name + 1, " ");
    if (log->gpu[0] == '\0' && *name != '\0')
        log->gpu = gl_nccl_line_word(arena, name, "\r");
    on += 4 + strspn(on + 4, " ");
    int host = gl_log_host(log, arena, on, strcspn(on, " "));
    if (host >= 0 && log->hosts[host].gpu[0] == '\0')
        log->hosts[host].gpu = gl_nccl_line_word(arena, name, "\r");
    note_listed(log, arena, place, host, device, name);
    return true;
}

/* ---- other programs, and the kernel ---- */

/* What PyTorch quotes behind "Last error:", in a line of its own: the words of a warning. */
static gl_said last_error_kind(const char *line)
{
    const char *text = gl_starts_with(line, "[") ? strstr(line, "]: ") : NULL;
    text = text != NULL ? text + strlen("]: ") : line;
    text += strspn(text, " \r");
    if (*text == '\0' || gl_starts_with(text, "Traceback"))
        return GL_SAID_COUNT;
    gl_said what = gl_log_warning_kind("", text);
    return what == GL_SAID_WARN ? GL_SAID_WARN_ERROR : what;
}

/* "mlx5_core 0000:1a:00.0 ens1np0: Link down": the last word on a device counts. */
static void note_port(gl_log *log, gl_arena *arena, const gl_log_place *place, const char *line,
                      bool is_down)
{
    static const char driver[] = "mlx5_core ";
    const char *device = strstr(line, driver);
    bool is_up = device != NULL && !is_down &&
                 (strstr(device, "ink up") != NULL || strstr(device, "Link UP") != NULL ||
                  strstr(device, "able plugged") != NULL);
    if (device == NULL || (!is_down && !is_up))
        return;
    char name[sizeof log->ports->device];
    device += strlen(driver);
    snprintf(name, sizeof name, "%.*s", (int)(strspn(device, "0123456789abcdef:.") % 16), device);
    size_t i = 0;
    while (i < log->port_count && strcmp(log->ports[i].device, name) != 0)
        i++;
    if (i == GL_LOG_PORT_LIMIT)
        return;
    log->port_count += i == log->port_count;
    memcpy(log->ports[i].device, name, sizeof name);
    if (is_up)
        log->ports[i].down = (gl_quote){0};
    else
        gl_quote_once(&log->ports[i].down, arena, place->file, place->line, place->whole);
}

void gl_log_read_plain(gl_log *log, gl_arena *arena, const gl_log_place *place, const char *line)
{
    const char *version;
    if (strchr(line, 'R') != NULL && read_device(log, arena, place, line))
        return;
    if (strstr(line, "# nThread ") != NULL)
        gl_log_begin_run(log);
    else if (strstr(line, "# Avg bus bandwidth") != NULL)
        gl_log_end_run(log);
    if ((version = strstr(line, "NCCL version ")) != NULL) {
        log->nccl_lines += gl_nccl_line_version(version) != NULL;
        read_version(log, arena, place, NULL, version);
    }
    gl_said failure = gl_log_plain_failure(line);
    if (failure == GL_SAID_COUNT && log->is_last_error)
        failure = last_error_kind(line);
    log->is_last_error = strstr(line, "Last error:") != NULL;
    if (failure == GL_SAID_PORT_DOWN || failure == GL_SAID_COUNT) {
        note_port(log, arena, place, line, failure == GL_SAID_PORT_DOWN);
        return;
    }
    log->failure_lines++;
    say_failure(log, arena, place, NULL, failure, line);
}

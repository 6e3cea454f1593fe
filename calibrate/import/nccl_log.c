/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/nccl_log.h"

#include "calibrate/import/prefix.h"
#include "calibrate/import/setting.h"
#include "common/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gl_nccl_log_begin(gl_nccl_log *log)
{
    memset(log, 0, sizeof *log);
    log->nccl_version = log->cuda_version = log->network = "";
}

/* ---- the prefix ---- */

static bool is_known_host(const gl_nccl_log *log, const char *name, size_t length)
{
    for (size_t i = 0; i < log->host_count; i++)
        if (strlen(log->hosts[i].name) == length && memcmp(log->hosts[i].name, name, length) == 0)
            return true;
    return false;
}

/* Length of a table value at the start of `text`: "-1", "N/A", "21.14", "1.7e+07"; 0 if none. */
static size_t value_length(const char *text, size_t length)
{
    size_t n = 0;
    if (length >= 3 && memcmp(text, "N/A", 3) == 0)
        return 3;
    while (n < length && (isdigit((unsigned char)text[n]) || (n == 0 && text[n] == '-') ||
                          (n > 0 && text[n] == '.')))
        n++;
    return n;
}

/* How many bytes of "-1node01" belong to a torn row. A known host decides; else a host is taken to
 * begin with a letter, and to be glued only where a row can end there. */
static size_t glued_length(const gl_nccl_log *log, const char *token, size_t length, bool after_row)
{
    if (is_known_host(log, token, length))
        return 0;
    size_t numeric = value_length(token, length);
    for (size_t n = numeric; n > 0; n--)
        if (n < length && is_known_host(log, token + n, length - n))
            return n;
    return after_row && numeric < length && isalpha((unsigned char)token[numeric]) ? numeric : 0;
}

/* NCCL_DEBUG_TIMESTAMP_* puts "[2026-11-30 02:26:33] " before the host. */
static size_t without_timestamp(const char *line, size_t head)
{
    size_t end = gl_prefix_blanks_back(line, head);
    if (end == 0 || line[end - 1] != ']')
        return head;
    size_t open = end - 1;
    while (open > 0 && line[open] != '[')
        open--;
    return line[open] == '[' && isdigit((unsigned char)line[open + 1]) && end - open > 8 ? open
                                                                                         : head;
}

bool gl_nccl_log_split(const gl_nccl_log *log, const char *line, size_t *head, const char **host,
                       size_t *host_length, const char **text)
{
    const char *mark = strstr(line, "NCCL INFO ");
    if (mark == NULL)
        mark = strstr(line, "NCCL WARN ");
    if (mark == NULL)
        return false;
    size_t at = gl_prefix_host_end(line, (size_t)(mark - line));
    size_t token = gl_prefix_word_back(line, at);
    size_t length = gl_prefix_host_length(line + token, at - token);
    if (length == 0)
        return false;
    bool after_row = gl_prefix_blanks_back(line, token) > 0;
    size_t glued = glued_length(log, line + token, length, after_row);
    *head = without_timestamp(line, token + glued);
    *host = line + token + glued;
    *host_length = length - glued;
    *text = mark + strlen("NCCL INFO ");
    return true;
}

/* ---- settings ---- */

void gl_nccl_log_environment(gl_nccl_log *log, gl_arena *arena, const char *name, const char *value)
{
    const char *kept = gl_setting_kept(arena, name, strlen(name), value);
    if (kept == NULL || log->environment_count == GL_NCCL_LOG_ENVIRONMENT_MAX)
        return;
    for (size_t i = 0; i < log->environment_count; i++)
        if (strcmp(log->environment[i], kept) == 0)
            return;
    log->environment[log->environment_count++] = kept;
}

static void read_setting(gl_nccl_log *log, gl_arena *arena, const char *text)
{
    gl_nccl_said_setting said;
    if (gl_nccl_line_setting(text, &said) && said.by_environment)
        gl_nccl_log_environment(log, arena, gl_arena_strndup(arena, said.name, said.name_length),
                                gl_arena_strndup(arena, said.value, said.value_length));
}

/* ---- single facts ---- */

static void read_version(gl_nccl_log *log, gl_arena *arena, const char *text)
{
    const char *version = gl_nccl_line_version(text);
    if (version == NULL)
        return;
    log->nccl_version = gl_nccl_line_word(arena, version, "+ ");
    const char *cuda = strstr(version, "+cuda");
    if (cuda != NULL)
        log->cuda_version = gl_nccl_line_word(arena, cuda + 5, " ");
}

/* "comm 0x… rank 1 nRanks 16 nNodes 2 localRanks 8 …": the largest communicator counts. */
static void read_communicator(gl_nccl_log *log, const char *text)
{
    int nodes = (int)gl_nccl_line_number(text, " nNodes ", 0);
    int ranks = (int)gl_nccl_line_number(text, " nRanks ", 0);
    if (nodes > 0 && ranks >= log->ranks) {
        log->ranks = ranks;
        log->nodes = nodes;
    }
}

static gl_nccl_log_host *find_host(gl_nccl_log *log, gl_arena *arena, const char *name)
{
    for (size_t i = 0; i < log->host_count; i++)
        if (strcmp(log->hosts[i].name, name) == 0)
            return &log->hosts[i];
    if (log->host_count == GL_NCCL_LOG_HOSTS_MAX || name[0] == '\0')
        return NULL;
    gl_nccl_log_host *host = &log->hosts[log->host_count++];
    host->name = gl_arena_strdup(arena, name);
    host->nics = 0;
    return host;
}

/* "IB/0/GDRDMA", "IBext_v8/3", "AWS Libfabric/1", "Socket/0" after "via NET/". */
static void read_net_channel(gl_nccl_log *log, gl_arena *arena, gl_nccl_log_host *host,
                             const char *text)
{
    const char *slash = strchr(text, '/');
    while (slash != NULL && !isdigit((unsigned char)slash[1]))
        slash = strchr(slash + 1, '/');
    size_t length = slash != NULL ? (size_t)(slash - text) : strcspn(text, "/(");
    if (slash != NULL && host != NULL) {
        long nic = strtol(slash + 1, NULL, 10);
        if (nic >= 0 && nic < GL_NCCL_LOG_NICS_MAX)
            host->nics |= UINT64_C(1) << nic;
    }
    if (length >= 2 && strncmp(text, "IB", 2) == 0) {
        log->channels.net_ib++;
    } else if (length == 6 && strncmp(text, "Socket", 6) == 0) {
        log->channels.net_socket++;
    } else {
        log->channels.net_other++;
        if (log->channels.other_network == NULL)
            log->channels.other_network = gl_arena_strndup(arena, text, length < 60 ? length : 60);
    }
}

/* "Channel 00/0 : 0[0] -> 1[1] via P2P/IPC", "Ring 00 : 0[0] -> 1[1] via direct shared memory" */
static void read_channel(gl_nccl_log *log, gl_arena *arena, gl_nccl_log_host *host,
                         const char *text)
{
    const char *via = strstr(text, " via ");
    if (via == NULL || strstr(text, "->") == NULL)
        return;
    via += strlen(" via ");
    if (gl_starts_with(via, "NET/")) {
        read_net_channel(log, arena, host, via + 4);
    } else if (gl_starts_with(via, "SHM") || gl_starts_with(via, "direct shared memory")) {
        log->channels.shm++;
    } else if (gl_starts_with(via, "P2P")) {
        log->channels.p2p++;
        log->channels.mnnvl += gl_starts_with(via, "P2P/MNNVL");
    }
}

/* "Pattern 4, crossNic 0, nChannels 12, bw 30.0/30.0, type NVL/PIX, sameChannels 1": the first of
 * the two types is that between GPUs of a node. Pattern 4 is the ring. */
static void read_pattern(gl_nccl_log *log, const char *text)
{
    static const struct {
        const char *name;
        int path;
    } types[] = {{"NVL", GL_NCCL_PATH_NVLINK}, {"NVB", GL_NCCL_PATH_NVLINK},
                 {"PIX", GL_NCCL_PATH_PCIE},   {"PXB", GL_NCCL_PATH_PCIE},
                 {"PHB", GL_NCCL_PATH_PCIE},   {"P2C", GL_NCCL_PATH_PCIE},
                 {"SYS", GL_NCCL_PATH_PCIE}};
    const char *type = strstr(text, " type ");
    if (type == NULL)
        return;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (gl_starts_with(type + 6, types[i].name))
            *(gl_starts_with(text, "Pattern 4") ? &log->ring_paths : &log->other_paths) |=
                types[i].path;
}

/* "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB …" */
static void read_ib_list(gl_nccl_log *log, const char *text)
{
    for (const char *c = strchr(text, '['); c != NULL && *c != ';'; c = strchr(c + 1, '[')) {
        char *end;
        long index = strtol(c + 1, &end, 10);
        if (end == c + 1 || *end != ']' || index < 0 || index >= GL_NCCL_LOG_NICS_MAX)
            continue;
        size_t length = strcspn(end, " ;");
        if (length > 3 && strncmp(end + length - 3, "/IB", 3) == 0)
            log->ib_nics |= UINT64_C(1) << index;
        else if (length > 5 && strncmp(end + length - 5, "/RoCE", 5) == 0)
            log->roce_nics |= UINT64_C(1) << index;
    }
}

static void read_choice(gl_nccl_log *log, const char *text)
{
    gl_nccl_choice choice;
    if (!gl_nccl_line_choice(text, &choice))
        return;
    if (choice.algorithm >= 0)
        log->algorithms[choice.collective] |= 1u << choice.algorithm;
    if (choice.protocol >= 0)
        log->protocols[choice.collective] |= 1u << choice.protocol;
}

void gl_nccl_log_line(gl_nccl_log *log, gl_arena *arena, const char *host_name, const char *text)
{
    gl_nccl_log_host *host = find_host(log, arena, host_name);
    log->line_count++;
    while (*text == ' ')
        text++;
    switch (*text) {
    case 'N':
        read_version(log, arena, text);
        read_setting(log, arena, text);
        if (gl_starts_with(text, "NET/IB : Using "))
            read_ib_list(log, text);
        break;
    case 'C':
    case 'R':
        read_channel(log, arena, host, text);
        break;
    case 'P':
        if (gl_starts_with(text, "Pattern "))
            read_pattern(log, text);
        break;
    case 'U':
        if (gl_starts_with(text, "Using network "))
            log->network = gl_nccl_line_word(arena, text + 14, " ");
        break;
    case '+':
        log->nvlink_in_dump = log->nvlink_in_dump || gl_starts_with(text, "+ NVL[");
        break;
    case 'c':
        if (gl_starts_with(text, "comm "))
            read_communicator(log, text);
        break;
    default:
        break;
    }
    read_choice(log, text);
}

/* ---- conclusions ---- */

static const char *name_of_bits(uint32_t bits, const char *const *names, int count)
{
    if (bits == 0)
        return "";
    for (int i = 0; i < count; i++)
        if (bits == 1u << i)
            return names[i];
    return names[count];
}

/* The value of NAME in the environment, or NULL. */
static const char *setting_of(const gl_nccl_log *log, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < log->environment_count; i++)
        if (strncmp(log->environment[i], name, length) == 0 && log->environment[i][length] == '=')
            return log->environment[i] + length + 1;
    return NULL;
}

/* A setting such as NCCL_ALGO=Ring forces one choice; lists and exclusions ("^Tree") do not. */
static const char *forced(const gl_nccl_log *log, const char *variable, const char *const *names,
                          int count)
{
    const char *value = setting_of(log, variable);
    if (value == NULL || isdigit((unsigned char)value[0]))
        return "";
    int found = gl_nccl_name_find(value, strlen(value), names, count);
    return found >= 0 ? names[found] : "";
}

const char *gl_nccl_log_algorithm(const gl_nccl_log *log, gl_collective collective)
{
    uint32_t bits = log->algorithms[collective] | log->algorithms[GL_COLLECTIVE_COUNT];
    return bits != 0 ? name_of_bits(bits, gl_nccl_algorithms, GL_NCCL_ALGORITHMS)
                     : forced(log, "NCCL_ALGO", gl_nccl_algorithms, GL_NCCL_ALGORITHMS);
}

const char *gl_nccl_log_protocol(const gl_nccl_log *log, gl_collective collective)
{
    uint32_t bits = log->protocols[collective] | log->protocols[GL_COLLECTIVE_COUNT];
    return bits != 0 ? name_of_bits(bits, gl_nccl_protocols, GL_NCCL_PROTOCOLS)
                     : forced(log, "NCCL_PROTO", gl_nccl_protocols, GL_NCCL_PROTOCOLS);
}

static uint64_t nics_of_all_hosts(const gl_nccl_log *log)
{
    uint64_t nics = 0;
    for (size_t i = 0; i < log->host_count; i++)
        nics |= log->hosts[i].nics;
    return nics;
}

/* InfiniBand or Ethernet below NET/IB: by the link layer of the devices in use. */
static gl_transport ib_or_roce(const gl_nccl_log *log, const char **why)
{
    uint64_t used = nics_of_all_hosts(log);
    uint64_t listed = log->ib_nics | log->roce_nics;
    uint64_t seen = (used & listed) != 0 ? used & listed : listed;
    bool ib = (seen & log->ib_nics) != 0, roce = (seen & log->roce_nics) != 0;
    if (ib && roce) {
        *why = "NET/IB channels over InfiniBand and Ethernet devices both";
        return GL_TRANSPORT_UNKNOWN;
    }
    *why = roce ? "NET/IB channels over RoCE devices" : "NET/IB channels";
    return roce ? GL_TRANSPORT_NET_ROCE : GL_TRANSPORT_NET_IB;
}

/* P2P alone does not say NVLink: PCIe peer-to-peer prints the same. */
static gl_transport p2p_wire(const gl_nccl_log *log, const char **why)
{
    int paths = log->ring_paths != 0 ? log->ring_paths : log->other_paths;
    if (log->channels.mnnvl > 0) {
        *why = "P2P/MNNVL channels";
        return GL_TRANSPORT_NVLINK;
    }
    if (paths == GL_NCCL_PATH_NVLINK || (paths == 0 && log->nvlink_in_dump)) {
        *why = "P2P channels and NVLink paths in the graph";
        return GL_TRANSPORT_NVLINK;
    }
    if (paths == GL_NCCL_PATH_PCIE) {
        *why = "P2P channels and PCIe paths in the graph";
        return GL_TRANSPORT_PCIE_P2P;
    }
    *why = "P2P channels, which NVLink and PCIe both print (NCCL_DEBUG_SUBSYS=INIT,GRAPH tells)";
    return GL_TRANSPORT_UNKNOWN;
}

static gl_transport by_network_name(const gl_nccl_log *log, const char **why)
{
    if (strcmp(log->network, "Socket") == 0) {
        *why = "\"Using network Socket\" and more than one node";
        return GL_TRANSPORT_NET_SOCKET;
    }
    if (gl_starts_with(log->network, "IB"))
        return ib_or_roce(log, why);
    return GL_TRANSPORT_UNKNOWN;
}

gl_transport gl_nccl_log_transport(const gl_nccl_log *log, int nodes, const char **why)
{
    const gl_nccl_log_channels *seen = &log->channels;
    *why = "";
    if (seen->net_other > 0 || (seen->net_ib > 0 && seen->net_socket > 0)) {
        *why = seen->net_other > 0 ? "channels through a network plugin that does not say its wire"
                                   : "NET/IB and NET/Socket channels both";
        return GL_TRANSPORT_UNKNOWN;
    }
    if (seen->net_ib > 0)
        return ib_or_roce(log, why);
    if (seen->net_socket > 0) {
        *why = "NET/Socket channels";
        return GL_TRANSPORT_NET_SOCKET;
    }
    if (nodes > 1)
        return seen->mnnvl > 0 ? p2p_wire(log, why) : by_network_name(log, why);
    if (seen->shm > 0) { /* the slowest link of a ring is its speed */
        *why = seen->p2p > 0 ? "SHM and P2P channels" : "SHM channels";
        return GL_TRANSPORT_SHM;
    }
    return seen->p2p > 0 ? p2p_wire(log, why) : GL_TRANSPORT_UNKNOWN;
}

int gl_nccl_log_nics(const gl_nccl_log *log)
{
    int most = 0;
    for (size_t i = 0; i < log->host_count; i++) {
        int count = 0;
        for (uint64_t bits = log->hosts[i].nics; bits != 0; bits &= bits - 1)
            count++;
        most = count > most ? count : most;
    }
    return most;
}

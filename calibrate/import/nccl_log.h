/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What NCCL_DEBUG lines say about a run. Only positive statements are kept: NCCL_DEBUG_SUBSYS hides
 * lines, so the absence of one proves nothing.
 */
#ifndef GL_CALIBRATE_NCCL_LOG_H
#define GL_CALIBRATE_NCCL_LOG_H

#include "calibrate/import/nccl_line.h"
#include "common/arena.h"
#include "common/calibration.h"

#include <stdbool.h>
#include <stdint.h>

enum { GL_NCCL_LOG_NICS_MAX = 64, GL_NCCL_LOG_HOSTS_MAX = 256, GL_NCCL_LOG_ENVIRONMENT_MAX = 200 };

/* Sets of graph path types, of algorithms and of protocols, as bits. */
enum { GL_NCCL_PATH_NVLINK = 1, GL_NCCL_PATH_PCIE = 2 };

/* How ranks are joined, from channel lines. */
typedef struct gl_nccl_log_channels {
    size_t p2p, mnnvl, shm, net_ib, net_socket, net_other;
    const char *other_network; /* name of a plugin that tells no transport; NULL */
} gl_nccl_log_channels;

typedef struct gl_nccl_log_host {
    const char *name;
    uint64_t nics; /* indices that its channel lines name */
} gl_nccl_log_host;

typedef struct gl_nccl_log {
    size_t line_count;
    const char *nccl_version, *cuda_version; /* "" unknown */
    int nodes, ranks;                        /* of the communicator; 0 unknown */
    gl_nccl_log_channels channels;
    int ring_paths,
        other_paths;     /* GL_NCCL_PATH_… of the search's ring pattern, of other patterns */
    bool nvlink_in_dump; /* the topology dump has a link with NVLink bandwidth */
    const char *network; /* "Using network NAME"; "" unknown */
    uint64_t ib_nics, roce_nics; /* by index in the "Using" list */
    uint32_t algorithms[GL_COLLECTIVE_COUNT + 1], protocols[GL_COLLECTIVE_COUNT + 1];
    /* the last is for lines that name no collective */
    gl_nccl_log_host hosts[GL_NCCL_LOG_HOSTS_MAX];
    size_t host_count;
    const char *environment[GL_NCCL_LOG_ENVIRONMENT_MAX]; /* NAME=value, in order of appearance */
    size_t environment_count;
} gl_nccl_log;

void gl_nccl_log_begin(gl_nccl_log *log);

/*
 * Takes one line. `host` is the host of its prefix ("" when there was none), `text` what follows
 * "NCCL INFO " or "NCCL WARN ".
 */
void gl_nccl_log_line(gl_nccl_log *log, gl_arena *arena, const char *host, const char *text);

/* Adds NAME=value as far as gl_setting_kept allows. */
void gl_nccl_log_environment(gl_nccl_log *log, gl_arena *arena, const char *name,
                             const char *value);

/*
 * Finds NCCL's prefix `HOST:PID:TID [n] NCCL INFO ` in a line. Returns false when there is none.
 * `*head` is how many bytes stand before it (a torn row may be glued to the host), `*host` and
 * `*host_length` where the host is, `*text` what follows. Host names of earlier lines in `log`
 * decide where a glued number ends and the host begins.
 */
bool gl_nccl_log_split(const gl_nccl_log *log, const char *line, size_t *head, const char **host,
                       size_t *host_length, const char **text);

/* "ring", "mixed" or "": of the bits for a collective (and those of unnamed ones). */
const char *gl_nccl_log_algorithm(const gl_nccl_log *log, gl_collective collective);
const char *gl_nccl_log_protocol(const gl_nccl_log *log, gl_collective collective);

/* The transport that the lines prove, UNKNOWN when they prove none; `*why` says what was seen ("P2P
 * channels and an NVLink graph") and is static text. `nodes` is the number of hosts, 0 unknown. */
gl_transport gl_nccl_log_transport(const gl_nccl_log *log, int nodes, const char **why);

/* NICs that the busiest host uses; 0 unknown. */
int gl_nccl_log_nics(const gl_nccl_log *log);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What logs of NCCL (2.4 to 2.30, NCCL_DEBUG=INFO) say, of all ranks of a job, in bounded memory.
 *
 * Only what lines say is kept, with the first line of each kind as its proof. Whether a kind of
 * line could have been there at all (NCCL_DEBUG_SUBSYS) is for the rules to consider.
 */
#ifndef GL_DOCTOR_LOG_H
#define GL_DOCTOR_LOG_H

#include "calibrate/doctor/cpus.h"
#include "calibrate/doctor/quote.h"
#include "common/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    GL_LOG_HOST_LIMIT = 16384,
    GL_LOG_RANK_LIMIT = 262144,
    GL_LOG_NIC_LIMIT = 64,
    GL_LOG_EDGE_LIMIT = 256,
    GL_LOG_SETTING_LIMIT = 256,
    GL_LOG_BUS_LIMIT = 256,
    GL_LOG_AFFINITY_LIMIT = 64,
    GL_LOG_LISTED_LIMIT = 1024,
    GL_LOG_GPU_LIMIT = 64,
    GL_LOG_PAIR_LIMIT = 256,
    GL_LOG_INIT_LIMIT = 16384,
    GL_LOG_COMM_LIMIT = 1024,
    GL_LOG_PORT_LIMIT = 64,
    GL_LOG_STATUS_LIMIT = 24 /* of completions, as libibverbs numbers them; 0: not read */
};

/* Kinds of lines. Each is counted and its first line kept. */
typedef enum gl_said {
    GL_SAID_SHM,         /* a channel through host memory */
    GL_SAID_P2P,         /* a channel P2P/… of any kind */
    GL_SAID_MNNVL,       /* a channel P2P/MNNVL, or a communicator with MNNVL 1 */
    GL_SAID_NO_MNNVL,    /* a communicator on several nodes with MNNVL 0 */
    GL_SAID_NET_RDMA,    /* a channel NET/IB… or NET/…Libfabric */
    GL_SAID_NET_OTHER,   /* a channel of another plugin */
    GL_SAID_SOCKET,      /* a channel NET/Socket */
    GL_SAID_SOCKET_SAME, /* … between ranks of one host */
    GL_SAID_RDMA_SAME,   /* a channel NET/IB between ranks of one host */
    GL_SAID_GDR,         /* a NET channel with /GDRDMA */
    GL_SAID_NO_GDR_RECEIVE,
    GL_SAID_NO_GDR_SEND, /* a NET/IB channel without */
    GL_SAID_PXN,         /* a NET channel that a proxy rank relays */
    GL_SAID_USING_SOCKET,
    GL_SAID_USING_OTHER, /* "Using network", any but Socket */
    GL_SAID_NO_IB,       /* "NET/IB : No device found." */
    GL_SAID_IB_LIST,     /* "NET/IB : Using [0]…" with at least one device */
    GL_SAID_PLUGIN_ERROR,
    GL_SAID_SOCKET_IPOIB, /* the socket list names an InfiniBand or bond interface */
    GL_SAID_RING_GDR_OFF, /* "use ring PXN x GDR 0" */
    GL_SAID_HCA_GDR_ON,
    GL_SAID_HCA_GDR_OFF,
    GL_SAID_GDR_TOO_FAR, /* refused for a GPU and a NIC by their distance */
    GL_SAID_GDR_PAIR_ON,
    GL_SAID_NVLS_CAPABLE,
    GL_SAID_NVLS_INCAPABLE,
    GL_SAID_NVLS_COMM,
    GL_SAID_NVLS_CHANNELS,
    GL_SAID_NO_NVLS_CHANNELS,
    GL_SAID_NVLS_CHOSEN,    /* a call that took NVLS or NVLSTree */
    GL_SAID_NVLS_PASSED_BY, /* an all-reduce of 16 MiB or more that took another algorithm */
    GL_SAID_FABRIC,         /* a GPU in a fabric of several nodes (its UUID is not 0) */
    GL_SAID_FABRIC_BAD,     /* such a GPU whose state is not "completed" */
    GL_SAID_TOPO_FILE,      /* "Loading topology file" */
    GL_SAID_TOPO_FILE_BAD,
    GL_SAID_RING_NVLINK,  /* the search's ring pattern goes over NVLink */
    GL_SAID_RING_PCIE,    /* … over PCIe within a NUMA node */
    GL_SAID_RING_SYS,     /* … between NUMA nodes */
    GL_SAID_RING_NET_SYS, /* … reaches its NIC between NUMA nodes */
    GL_SAID_NVLINK_IN_DUMP,
    GL_SAID_DUMP,        /* "=== System :" */
    GL_SAID_DUMP_SLOW,   /* … with a maxBw below 6 */
    GL_SAID_PCI_TINY,    /* a GPU or bridge at less than 1 GB/s */
    GL_SAID_GPU_SYS_GPU, /* a path SYS between two GPUs */
    GL_SAID_GPU_PCI_GPU, /* a path over PCIe between two GPUs */
    GL_SAID_GPU_SYS_NET, /* a GPU whose nearest NIC is across NUMA nodes */
    GL_SAID_GPU_NEAR_NET,
    GL_SAID_LINK_ERROR, /* a completion with an error; gl_log.completions has them by status */
    GL_SAID_IB_SETUP,   /* a queue pair, device or GID that could not be had */
    GL_SAID_PORT_ERROR, /* an event of a NIC that takes its port or queue down */
    GL_SAID_NIC_EVENT,  /* an event that is no failure */
    GL_SAID_NIC_ERROR,  /* the driver of a NIC says that it failed */
    GL_SAID_PORT_DOWN,  /* the kernel says that a NIC's port went down, and not that it came back */
    GL_SAID_MEMLOCK,    /* memory could not be registered for RDMA: it may not be locked */
    GL_SAID_REGISTRATION, /* … for another reason; windows as well */
    GL_SAID_GPU_ERROR, /* an error of NVLink, memory or GPU: CUDA's text, or an Xid of hardware */
    GL_SAID_GPU_CONTAINED, /* an error of memory that cost one process (Xid 94) */
    GL_SAID_XID,           /* another Xid: as a rule the program's */
    GL_SAID_NVSWITCH_FATAL,
    GL_SAID_NVSWITCH_ERROR,  /* an SXid that is not fatal */
    GL_SAID_PCIE_ERROR,      /* an uncorrected error of PCIe (AER) */
    GL_SAID_FABRIC_MANAGER,  /* CUDA 802, or the fabric manager's own words */
    GL_SAID_DRIVER_MISMATCH, /* library and kernel module of the driver are of different versions */
    GL_SAID_NVLS_FAILED,     /* memory for the switch that adds up could not be had or bound */
    GL_SAID_SHM_FULL,        /* /dev/shm has no room */
    GL_SAID_SHM_APART,       /* a segment in /dev/shm is not there for another rank */
    GL_SAID_SHM_FAILED,      /* anything else about it */
    GL_SAID_P2P_FAILED,      /* peer-to-peer could not be set up, or is switched off beside links */
    GL_SAID_NO_INTERFACE,    /* no interface for the bootstrap or for sockets */
    GL_SAID_VERSIONS_REFUSED, /* NCCL says that versions of ranks do not fit */
    GL_SAID_CALLS_DIFFER,     /* ranks called different things */
    GL_SAID_OUT_OF_MEMORY,    /* of the GPU */
    GL_SAID_CUDA_FAILED,      /* another error of CUDA */
    GL_SAID_PROCESS_ENDED,    /* a launcher or the kernel says that a process was ended */
    GL_SAID_TIMEOUT,          /* a watchdog ended a collective that did not end */
    GL_SAID_DUPLICATE_GPU,    /* NCCL refuses it */
    GL_SAID_GPU_TWICE,        /* nccl-tests lists one GPU for two ranks */
    GL_SAID_NVML_FAILED,
    GL_SAID_REMOTE_GONE, /* connections refused, closed, timed out */
    GL_SAID_CALL_FAILED, /* a program says that a call of NCCL failed */
    GL_SAID_WARN_ERROR,  /* any other warning that speaks of an error */
    GL_SAID_WARN,        /* any other warning */
    GL_SAID_ONE_CPU,
    GL_SAID_CPUS_DISJOINT, /* the GPU's CPUs are not among those of the process */
    GL_SAID_ONE_RANK_COMM,
    GL_SAID_MANY_RANK_COMM,
    GL_SAID_RANK_0, /* nccl-tests' list of devices */
    GL_SAID_OTHER_RANK,
    GL_SAID_MULTI_NODE, /* a communicator on several nodes */
    GL_SAID_ONE_NODE,   /* a communicator with several ranks on one node */
    GL_SAID_TUNER,      /* a tuner plugin decides */
    GL_SAID_CHANNEL,    /* any channel line */
    GL_SAID_COUNT
} gl_said;

typedef struct gl_said_line {
    uint64_t count;
    gl_quote first;
} gl_said_line;

/* What one host said. Rules ask hosts: what one of them does says nothing of the others. */
typedef struct gl_host_said {
    uint32_t count[GL_SAID_COUNT];
    gl_quote *first[GL_SAID_COUNT]; /* NULL: none, or a kind that nobody asks a host for */
} gl_host_said;

typedef struct gl_log_nic {
    const char *name;   /* "mlx5_0:1" */
    char layer;         /* 'I' InfiniBand, 'E' Ethernet, 0 unknown */
    double bytes_per_s; /* 0 unknown */
    gl_quote quote, speed_quote;
} gl_log_nic;

/* A GPU's own PCIe link, of the topology dump. */
typedef struct gl_log_gpu {
    const char *bus; /* "0-60" */
    double gb_per_s;
    gl_quote quote;
} gl_log_gpu;

/* NVLink bandwidth from a GPU to another one or to the switch, of the topology dump. */
typedef struct gl_log_edge {
    const char *from, *to; /* "0-60"; NVS: "NVS" */
    double gb_per_s;
    gl_quote quote;
} gl_log_edge;

typedef struct gl_log_nccl_host {
    const char *name;
    gl_host_said *said;
    int local_ranks;                   /* by communicator lines; 0 unknown */
    int ranks_seen;                    /* distinct ranks whose communicator lines are there */
    uint64_t nics_used;                /* indices that NET channels of RDMA plugins name */
    gl_quote nic_quote;                /* one of them */
    gl_log_nic *nics;                  /* "Using" list; NULL none seen */
    bool is_list_whole;                /* one of these lines was not torn */
    uint64_t nics_listed, nics_merged; /* indices in the list; of virtual devices */
    int merged_members;                /* of physical ones that virtual devices took */
    gl_log_edge *edges;                /* NULL none */
    size_t edge_count;
    gl_log_gpu *gpus; /* NULL none */
    size_t gpu_count;
    const char *version, *driver; /* of NCCL and CUDA's driver; NULL unknown, "" several */
    gl_quote version_quote, driver_quote;
    const char *gpu; /* its name, from nccl-tests' list; "" unknown */
    /* The reader's own: whose dump is read, and where in it. */
    uint64_t dump_owner;
    int dump_state;
    const char *dump_gpu;
} gl_log_nccl_host;

typedef struct gl_log_rank {
    int host; /* index; −1 unknown, −2 contradictory */
    int gpu;  /* index in the node; −1 unknown */
    uint64_t nics;
    uint32_t gdr_receive, no_gdr_receive; /* channels by which it receives */
    gl_quote no_gdr_quote, nic_quote;
} gl_log_rank;

/* Where a process may run, by NCCL's line about its GPU. */
typedef struct gl_log_affinity {
    gl_cpus cpus;
    gl_quote quote; /* its text is NULL: no such line */
} gl_log_affinity;

typedef struct gl_log_setting {
    const char *name, *value;
    gl_quote quote;
    uint64_t *hosts; /* a bit for each that said so; NULL: nobody knows whose it is */
} gl_log_setting;

typedef struct gl_log_pair {
    long from, to;
} gl_log_pair;

typedef enum gl_init_stage {
    GL_INIT_NETWORK, /* a process chose its network */
    GL_INIT_TREES,   /* a rank knows its trees; until 2.17 it does not say that it starts */
    GL_INIT_COMM     /* a rank started the init of a communicator */
} gl_init_stage;

/* An init that has begun, and of which no line says that it completed. */
typedef struct gl_log_init {
    gl_init_stage stage;
    uint64_t comm, id; /* address of the communicator in its process; its id, 0 unknown */
    uint64_t thread, process;
    int host, rank, ranks;
    bool is_bare;    /* no "Init START" was seen: it stands for what was before the log */
    bool is_settled; /* another run began since */
    bool is_last;    /* it spoke last in its file, which may be cut off there */
    const char *file;
    gl_quote quote; /* its text is NULL: too many */
} gl_log_init;

/* A communicator that some rank completed. */
typedef struct gl_log_comm {
    uint64_t id;
    int ranks, completed;
} gl_log_comm;

/* A port of a NIC by the kernel's last word on it. */
typedef struct gl_log_port {
    char device[16]; /* "0000:1a:00.0" */
    gl_quote down;   /* its text is NULL: it is up */
} gl_log_port;

typedef struct gl_log {
    uint64_t line_count, nccl_lines;
    gl_said_line said[GL_SAID_COUNT];
    gl_said_line completions[GL_LOG_STATUS_LIMIT]; /* by status */
    const char *version;                           /* "2.28.9"; "" unknown */
    gl_quote version_quote, other_version_quote;   /* the first line, and the first that differs */
    const char *network;                           /* of the last "Using network"; "" */
    const char *gpu;                               /* the first name in a list of devices; "" */
    int ranks, nodes;                              /* of the largest communicator; 0 unknown */
    /* Communicators of several sizes or members: the numbers of ranks in channel lines are those of
     * any of them, so that nothing is concluded from single ranks. */
    bool is_ambiguous;
    gl_log_nccl_host *hosts;
    size_t host_count, host_capacity;
    gl_log_rank *ranks_table; /* of the largest communicator */
    size_t rank_capacity;
    gl_log_pair shm_pairs[GL_LOG_PAIR_LIMIT]; /* ranks that talk through host memory */
    size_t shm_pair_count;                    /* one more than fit: there are others */
    gl_log_setting settings[GL_LOG_SETTING_LIMIT];
    size_t setting_count;
    uint64_t buses[GL_LOG_BUS_LIMIT]; /* of GPUs, as NCCL prints them (0x9d000 is 9d:00.0) */
    size_t bus_count;
    gl_log_affinity affinities[GL_LOG_AFFINITY_LIMIT]; /* by index of the GPU, of the first host */
    uint64_t listed[GL_LOG_LISTED_LIMIT]; /* nccl-tests' list at work: hashes of host and bus */
    size_t listed_count;
    uint32_t *index; /* hash of host names */
    size_t index_size;
    size_t last_host;
    gl_log_init *inits;
    size_t init_count, init_capacity, init_quotes;
    gl_log_comm comms[GL_LOG_COMM_LIMIT];
    size_t comm_count;
    bool has_init_start;    /* "Init START" is there: NCCL 2.18 or newer */
    uint64_t glued_pieces;  /* behind others in one line: each may have hidden a line */
    uint64_t failure_lines; /* without NCCL's prefix */
    gl_log_port ports[GL_LOG_PORT_LIMIT];
    size_t port_count;
    bool is_last_error; /* the line before announced NCCL's last error */
} gl_log;

gl_log *gl_log_create(gl_arena *arena);

/* Reads a stream to its end. `file` is borrowed. A stream in which NCCL says nothing is an input
 * error. */
bool gl_log_read(gl_log *log, FILE *stream, const char *file, gl_arena *arena, gl_error *err);

/* Adds NAME=value; of a secret (gl_setting_is_secret) neither the value nor the quote's words.
 * `host`: who said so; −1 it stands elsewhere (a database, the environment). */
void gl_log_add_setting(gl_log *log, gl_arena *arena, int host, const char *name, const char *value,
                        gl_quote quote);

static inline bool gl_log_is_set_on(const gl_log_setting *setting, int host)
{
    return host >= 0 && setting->hosts != NULL && (setting->hosts[host / 64] >> host % 64 & 1) != 0;
}

/* The setting's value and proof; NULL when the log has none. */
const gl_log_setting *gl_log_find_setting(const gl_log *log, const char *name);

/* Did a rank of this communicator (id 0: of one with as many ranks) complete its init? Then all of
 * its ranks took part. */
bool gl_log_is_completed(const gl_log *log, uint64_t id, int ranks);

/* After the last stream: counts every host's ranks, and takes back what was concluded from single
 * ranks where they turned out to be ambiguous. */
void gl_log_finish(gl_log *log);

#endif

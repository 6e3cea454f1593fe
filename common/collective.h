/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The vocabulary that both programs and the database share: collectives, data types, transports,
 * placements. Names are the field's own and are what JSON, CSV and the database hold.
 */
#ifndef GL_COMMON_COLLECTIVE_H
#define GL_COMMON_COLLECTIVE_H

#include <stdbool.h>

typedef enum gl_collective {
    GL_ALL_REDUCE,
    GL_ALL_GATHER,
    GL_REDUCE_SCATTER,
    GL_ALLTOALL,
    GL_SENDRECV,
    GL_BROADCAST,
    GL_REDUCE,
    GL_GATHER,
    GL_SCATTER,
    GL_COLLECTIVE_COUNT
} gl_collective;

typedef enum gl_dtype {
    GL_DTYPE_NONE, /* not stated */
    GL_FP32,
    GL_BF16,
    GL_FP16,
    GL_FP8,
    GL_INT8,
    GL_UINT8,
    GL_INT32,
    GL_UINT32,
    GL_INT64,
    GL_UINT64,
    GL_FP64,
    GL_DTYPE_COUNT
} gl_dtype;

typedef enum gl_transport {
    GL_TRANSPORT_UNKNOWN,
    GL_TRANSPORT_NVLINK,
    GL_TRANSPORT_PCIE_P2P,
    GL_TRANSPORT_SHM, /* through host memory */
    GL_TRANSPORT_NET_IB,
    GL_TRANSPORT_NET_ROCE,
    GL_TRANSPORT_NET_SOCKET,
    GL_TRANSPORT_HOST, /* MPI between host buffers, no GPU */
    GL_TRANSPORT_COUNT
} gl_transport;

/*
 * Where the ranks of a group sit. Eight ranks in a node and eight ranks on eight nodes that share
 * NICs with seven other groups differ by a factor of seven, so all four belong to the key of a
 * curve.
 */
typedef struct gl_placement {
    int ranks;             /* in the group, ≥ 1 */
    int nodes;             /* that the group touches, ≥ 1 */
    int ranks_per_node;    /* on the fullest node */
    int concurrent_groups; /* groups of this kind that work at the same time on one node, ≥ 1 */
} gl_placement;

/* Names as in the database ("all_reduce", "bf16", "net-ib"). */
const char *gl_collective_name(gl_collective collective);
const char *gl_dtype_name(gl_dtype dtype);
const char *gl_transport_name(gl_transport transport);

/* The reverse; false when the text is no name. Types are also accepted in nccl-tests' spelling
 * (float, half, bfloat16, fp8_e4m3, …). */
bool gl_collective_parse(const char *text, gl_collective *collective);
bool gl_dtype_parse(const char *text, gl_dtype *dtype);
bool gl_transport_parse(const char *text, gl_transport *transport);

/* Is `a` a faster kind than `b`, whichever hardware it is? NVLink, PCIe peer to peer, host memory,
 * RDMA of either network, sockets. False of unknown ones and of host buffers. */
bool gl_transport_is_faster(gl_transport a, gl_transport b);

/* Do all four agree? */
bool gl_placement_equal(const gl_placement *a, const gl_placement *b);

/* Does 'gpulink-calibrate run' measure it? Curves of the others come from logs. */
bool gl_collective_is_measured(gl_collective collective);

/* The names of those, as messages and help list them. */
#define GL_MEASURED_COLLECTIVES                                                                    \
    "all_reduce, all_gather, reduce_scatter, alltoall, sendrecv, broadcast"

/* How nccl-tests call it: "all_reduce_perf"; "bfloat16". A type of which they have no name, or
 * several, is "float", their default. */
const char *gl_nccl_tests_program(gl_collective collective);
const char *gl_nccl_tests_dtype(gl_dtype dtype);

/* Types of which curves do not stand for those of floating point. */
bool gl_dtype_is_integer(gl_dtype dtype);

/* All-to-all, gather, scatter: what goes to each other rank goes to it alone. */
bool gl_is_pairwise(gl_collective collective);

/* A size beside `size_bytes`, for a curve of a group that would have a single one: half of it, in
 * whole 16 B for each rank; of what cannot be halved, double. */
long long gl_size_beside(long long size_bytes, int ranks);

/* Size of an element in bytes (FP8 is 1). NONE is 0. */
double gl_dtype_bytes(gl_dtype dtype);

/*
 * busbw / algbw, as nccl-tests prints it (its PERFORMANCE.md): all_reduce 2(n−1)/n; all_gather,
 * reduce_scatter, alltoall, gather, scatter (n−1)/n; the others 1. For one rank the first two
 * kinds are 0.
 */
double gl_bus_factor(gl_collective collective, int ranks);

#endif

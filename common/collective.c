/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/collective.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const char *const collective_names[GL_COLLECTIVE_COUNT] = {
    [GL_ALL_REDUCE] = "all_reduce",
    [GL_ALL_GATHER] = "all_gather",
    [GL_REDUCE_SCATTER] = "reduce_scatter",
    [GL_ALLTOALL] = "alltoall",
    [GL_SENDRECV] = "sendrecv",
    [GL_BROADCAST] = "broadcast",
    [GL_REDUCE] = "reduce",
    [GL_GATHER] = "gather",
    [GL_SCATTER] = "scatter",
};

static const struct {
    const char *name;
    double size_bytes;
} dtypes[GL_DTYPE_COUNT] = {
    [GL_DTYPE_NONE] = {"none", 0}, [GL_FP32] = {"fp32", 4},     [GL_BF16] = {"bf16", 2},
    [GL_FP16] = {"fp16", 2},       [GL_FP8] = {"fp8", 1},       [GL_INT8] = {"int8", 1},
    [GL_UINT8] = {"uint8", 1},     [GL_INT32] = {"int32", 4},   [GL_UINT32] = {"uint32", 4},
    [GL_INT64] = {"int64", 8},     [GL_UINT64] = {"uint64", 8}, [GL_FP64] = {"fp64", 8},
};

/* Spellings of nccl-tests, rccl-tests and PyTorch. */
static const struct {
    const char *name;
    gl_dtype dtype;
} dtype_aliases[] = {
    {"float", GL_FP32},      {"float32", GL_FP32}, {"half", GL_FP16},    {"float16", GL_FP16},
    {"bfloat16", GL_BF16},   {"double", GL_FP64},  {"float64", GL_FP64}, {"f8e4m3", GL_FP8},
    {"f8e5m2", GL_FP8},      {"fp8_e4m3", GL_FP8}, {"fp8_e5m2", GL_FP8}, {"float8_e4m3fn", GL_FP8},
    {"float8_e5m2", GL_FP8}, {"int", GL_INT32},    {"char", GL_INT8},
};

static const char *const transport_names[GL_TRANSPORT_COUNT] = {
    [GL_TRANSPORT_UNKNOWN] = "unknown",       [GL_TRANSPORT_NVLINK] = "nvlink",
    [GL_TRANSPORT_PCIE_P2P] = "pcie-p2p",     [GL_TRANSPORT_SHM] = "shm",
    [GL_TRANSPORT_NET_IB] = "net-ib",         [GL_TRANSPORT_NET_ROCE] = "net-roce",
    [GL_TRANSPORT_NET_SOCKET] = "net-socket", [GL_TRANSPORT_HOST] = "host",
};

const char *gl_collective_name(gl_collective collective)
{
    assert((unsigned)collective < GL_COLLECTIVE_COUNT);
    return collective_names[collective];
}

const char *gl_dtype_name(gl_dtype dtype)
{
    assert((unsigned)dtype < GL_DTYPE_COUNT);
    return dtypes[dtype].name;
}

const char *gl_transport_name(gl_transport transport)
{
    assert((unsigned)transport < GL_TRANSPORT_COUNT);
    return transport_names[transport];
}

static int find(const char *text, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return -1;
}

bool gl_collective_parse(const char *text, gl_collective *collective)
{
    int found = find(text, collective_names, GL_COLLECTIVE_COUNT);
    if (found < 0)
        return false;
    *collective = (gl_collective)found;
    return true;
}

bool gl_transport_parse(const char *text, gl_transport *transport)
{
    int found = find(text, transport_names, GL_TRANSPORT_COUNT);
    if (found < 0)
        return false;
    *transport = (gl_transport)found;
    return true;
}

bool gl_dtype_parse(const char *text, gl_dtype *dtype)
{
    for (int i = 0; i < GL_DTYPE_COUNT; i++) {
        if (strcmp(text, dtypes[i].name) == 0) {
            *dtype = (gl_dtype)i;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof dtype_aliases / sizeof dtype_aliases[0]; i++) {
        if (strcmp(text, dtype_aliases[i].name) == 0) {
            *dtype = dtype_aliases[i].dtype;
            return true;
        }
    }
    return false;
}

bool gl_collective_is_measured(gl_collective collective)
{
    return collective == GL_ALL_REDUCE || collective == GL_ALL_GATHER ||
           collective == GL_REDUCE_SCATTER || collective == GL_ALLTOALL ||
           collective == GL_SENDRECV || collective == GL_BROADCAST;
}

const char *gl_nccl_tests_program(gl_collective collective)
{
    static const char *const names[GL_COLLECTIVE_COUNT] = {
        [GL_ALL_REDUCE] = "all_reduce_perf",
        [GL_ALL_GATHER] = "all_gather_perf",
        [GL_REDUCE_SCATTER] = "reduce_scatter_perf",
        [GL_ALLTOALL] = "alltoall_perf",
        [GL_SENDRECV] = "sendrecv_perf",
        [GL_BROADCAST] = "broadcast_perf",
        [GL_REDUCE] = "reduce_perf",
        [GL_GATHER] = "gather_perf",
        [GL_SCATTER] = "scatter_perf",
    };
    assert((unsigned)collective < GL_COLLECTIVE_COUNT);
    return names[collective];
}

const char *gl_nccl_tests_dtype(gl_dtype dtype)
{
    switch (dtype) {
    case GL_BF16:
        return "bfloat16";
    case GL_FP16:
        return "half";
    case GL_FP64:
        return "double";
    default: /* FP8 is not in all versions, and the wire sees bytes */
        return gl_dtype_is_integer(dtype) ? gl_dtype_name(dtype) : "float";
    }
}

bool gl_placement_equal(const gl_placement *a, const gl_placement *b)
{
    return a->ranks == b->ranks && a->nodes == b->nodes && a->ranks_per_node == b->ranks_per_node &&
           a->concurrent_groups == b->concurrent_groups;
}

bool gl_dtype_is_integer(gl_dtype dtype)
{
    return dtype >= GL_INT8 && dtype <= GL_UINT64;
}

bool gl_is_pairwise(gl_collective collective)
{
    return collective == GL_ALLTOALL || collective == GL_GATHER || collective == GL_SCATTER;
}

double gl_dtype_bytes(gl_dtype dtype)
{
    assert((unsigned)dtype < GL_DTYPE_COUNT);
    return dtypes[dtype].size_bytes;
}

double gl_bus_factor(gl_collective collective, int ranks)
{
    double others = ranks > 1 ? (ranks - 1.0) / ranks : 0.0;
    switch (collective) {
    case GL_ALL_REDUCE:
        return 2.0 * others;
    case GL_ALL_GATHER:
    case GL_REDUCE_SCATTER:
    case GL_ALLTOALL:
    case GL_GATHER:
    case GL_SCATTER:
        return others;
    case GL_SENDRECV:
    case GL_BROADCAST:
    case GL_REDUCE:
    case GL_COLLECTIVE_COUNT:
        break;
    }
    return 1.0;
}

bool gl_transport_is_faster(gl_transport a, gl_transport b)
{
    static const int ranks[GL_TRANSPORT_COUNT] = {
        [GL_TRANSPORT_NVLINK] = 5, [GL_TRANSPORT_PCIE_P2P] = 4, [GL_TRANSPORT_SHM] = 3,
        [GL_TRANSPORT_NET_IB] = 2, [GL_TRANSPORT_NET_ROCE] = 2, [GL_TRANSPORT_NET_SOCKET] = 1};
    return ranks[b] > 0 && ranks[a] > ranks[b];
}

long long gl_size_beside(long long size_bytes, int ranks)
{
    long long part = (long long)ranks * 16, half = size_bytes / 2 / part * part;
    return half > 0 ? half : 2 * size_bytes;
}

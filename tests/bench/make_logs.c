/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * make_logs RANKS MEGABYTES: NCCL_DEBUG=INFO lines of a job of 8 ranks a node with 8 NICs, as a
 * launcher mixes them: line by line in random order of ranks, some glued together, some cut in two.
 * The same arguments give the same text.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PER_NODE = 8, CHANNELS = 16 };

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t next(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

static int prefix(char *text, size_t size, int rank)
{
    return snprintf(text, size, "[1,%d]<stdout>:node%03d:%d:%d [%d] NCCL INFO ", rank,
                    rank / PER_NODE, 2000 + rank, 9000 + rank, rank % PER_NODE);
}

static int opening(char *text, size_t size, int rank, int ranks, int line)
{
    int n = prefix(text, size, rank), host = rank / PER_NODE, local = rank % PER_NODE;
    char *at = text + n;
    size_t room = size - (size_t)n;
    switch (line) {
    case 0:
        return n + snprintf(at, room, "NCCL_IB_HCA set by environment to mlx5");
    case 1:
        return n + snprintf(at, room,
                            "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB "
                            "[3]mlx5_3:1/IB [4]mlx5_4:1/IB [5]mlx5_5:1/IB [6]mlx5_6:1/IB "
                            "[7]mlx5_7:1/IB [RO]; OOB eth0:10.0.0.%d<0>",
                            host % 250);
    case 2:
        return n + snprintf(at, room, "Using network IB");
    case 3:
        return n + snprintf(at, room,
                            "ncclCommInitRankConfig comm 0x55ef%08x rank %d nranks %d cudaDev %d "
                            "nvmlDev %d busId %x commId 0xea751cf7520fe8f6 - Init START",
                            rank, rank, ranks, local, local, (local + 1) << 16);
    default:
        return n +
               snprintf(at, room,
                        "comm 0x55ef%08x rank %d nRanks %d nNodes %d localRanks %d localRank %d "
                        "MNNVL 0",
                        rank, rank, ranks, ranks / PER_NODE, PER_NODE, local);
    }
}

static int channel(char *text, size_t size, int rank, int ranks)
{
    int n = prefix(text, size, rank), c = (int)next(CHANNELS), local = rank % PER_NODE;
    int to = (rank + 1) % ranks, kind = (int)next(10);
    char *at = text + n;
    size_t room = size - (size_t)n;
    if (kind == 0)
        return n + snprintf(at, room, "Trees [%d] %d/-1/-1->%d->%d", c, to, rank, rank - 1);
    if (kind == 1)
        return n + snprintf(at, room,
                            "AllReduce: %u Bytes -> Algo NVLS proto SIMPLE channel{Lo..Hi}={0..15}",
                            next(1u << 30));
    if (local == PER_NODE - 1 || kind < 4)
        return n + snprintf(at, room,
                            "Channel %02d/0 : %d[%d] -> %d[%d] [send] via NET/IB/%d/GDRDMA", c,
                            rank, local, (rank + PER_NODE) % ranks, local, local);
    return n + snprintf(at, room, "Channel %02d/0 : %d[%d] -> %d[%d] via P2P/CUMEM", c, rank, local,
                        to, to % PER_NODE);
}

int main(int argc, char **argv)
{
    char text[1024];
    int ranks = argc > 1 ? atoi(argv[1]) : 512;
    double bytes = (argc > 2 ? atof(argv[2]) : 100) * 1e6, written = 0;
    if (ranks < PER_NODE || ranks % PER_NODE != 0) {
        fprintf(stderr, "usage: make_logs RANKS MEGABYTES (ranks a multiple of %d)\n", PER_NODE);
        return 2;
    }
    printf("NCCL version 2.28.9+cuda13.0\n");
    for (int line = 0; line < 5; line++)
        for (int rank = 0; rank < ranks; rank++)
            written += printf("%.*s\n", opening(text, sizeof text, rank, ranks, line), text);
    while (written < bytes) {
        int length = channel(text, sizeof text, (int)next((uint32_t)ranks), ranks);
        uint32_t torn = next(2000);
        if (torn == 0) /* cut in two */
            written += printf("%.*s\n%s\n", length / 2, text, text + length / 2);
        else /* or the next one glued to it */
            written += printf("%s%s", text, torn == 1 ? "" : "\n");
    }
    putchar('\n');
    return ferror(stdout) != 0;
}

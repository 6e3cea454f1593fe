/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/nccl/places.h"

#include <assert.h>
#include <string.h>

static bool same_gpus(const gl_place *a, const gl_place *b)
{
    return a->visible == b->visible &&
           memcmp(a->gpus, b->gpus, (size_t)a->visible * sizeof *a->gpus) == 0;
}

static bool share_a_gpu(const gl_place *a, const gl_place *b)
{
    for (int i = 0; i < a->visible; i++)
        for (int k = 0; k < b->visible; k++)
            if (memcmp(a->gpus[i], b->gpus[k], sizeof *a->gpus) == 0)
                return true;
    return false;
}

/* Peers: processes of the machine that see the same GPUs; `index` is the process's place there. */
static bool count_peers(const gl_place *places, int processes, int process, int *peers, int *index,
                        gl_error *err)
{
    const gl_place *mine = &places[process];
    *peers = *index = 0;
    for (int i = 0; i < processes; i++) {
        if (places[i].machine != mine->machine)
            continue;
        if (same_gpus(&places[i], mine)) {
            *index += i < process;
            (*peers)++;
        } else if (share_a_gpu(&places[i], mine)) {
            return gl_fail(err, GL_ERROR_DEVICE,
                           "processes %d and %d of one machine see GPUs that overlap but are not "
                           "the same: set CUDA_VISIBLE_DEVICES alike or apart",
                           process < i ? process : i, process < i ? i : process);
        }
    }
    return true;
}

static bool share_of(const gl_place *places, int processes, int process, gl_share *share,
                     gl_error *err)
{
    int peers, index, visible = places[process].visible;
    if (!count_peers(places, processes, process, &peers, &index, err))
        return false;
    if (visible < peers)
        return gl_fail(err, GL_ERROR_DEVICE,
                       "%d processes on a machine that shows them %d GPUs: start at most one a GPU",
                       peers, visible);
    assert(peers > 0); /* it is its own */
    share->first = visible * index / peers;
    share->count = visible * (index + 1) / peers - share->first;
    return true;
}

/* The node of an earlier process with the same key, or the next number. */
static int node_of(const gl_place *places, const gl_share *shares, int process, int *nodes)
{
    for (int i = 0; i < process; i++)
        if (places[i].node == places[process].node)
            return shares[i].node;
    return (*nodes)++;
}

bool gl_places_share(const gl_place *places, int processes, gl_share *shares, gl_error *err)
{
    int rank = 0, nodes = 0;
    for (int i = 0; i < processes; i++) {
        if (!share_of(places, processes, i, &shares[i], err))
            return false;
        shares[i].rank = rank;
        rank += shares[i].count;
        shares[i].node = node_of(places, shares, i, &nodes);
    }
    return true;
}

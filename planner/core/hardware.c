/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/hardware.h"

#include <math.h>

void gl_cluster_extend(gl_cluster *cluster, int64_t ranks)
{
    int64_t gpus = (int64_t)cluster->nodes * cluster->gpus_per_node;
    if (cluster->bounded || ranks <= gpus || ranks > INT32_MAX)
        return;
    if (cluster->nodes == 1)
        cluster->gpus_per_node = (int)ranks;
    else
        cluster->nodes = (int)gl_divide_up(ranks, cluster->gpus_per_node);
}

double gl_cluster_slot_bandwidth(const gl_cluster *cluster)
{
    const gl_link *slot = cluster->nic_slot;
    if (slot == NULL)
        return (double)INFINITY;
    const gl_figure *share = cluster->nic_attachment == GL_ATTACHED_TO_CPU
                                 ? &slot->via_cpu_efficiency
                                 : &slot->via_numa_efficiency;
    double most = slot->bw_bytes_per_s.value;
    if (cluster->nic_attachment == GL_ATTACHED_TO_SWITCH || share->kind == GL_FIGURE_ABSENT)
        return most;
    double own = cluster->inter.link != NULL ? cluster->inter.link->efficiency.value : 1;
    return fmin(most, most * share->value / own);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/hardware.h"

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

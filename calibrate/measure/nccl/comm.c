/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Communicators: one of all ranks, and of it, one of each group. */
#include "calibrate/measure/nccl/gpu.h"

#include <string.h>

/* ---- the end ---- */

void gl_gpu_abort_communicators(gl_nccl *self)
{
    if (self->aborted)
        return;
    self->aborted = true;
    ncclGroupEnd(); /* the failure may have left a group open; without one this only says so */
    gl_watchdog_arm(self->dog, "ending NCCL after an error", 20);
    for (int i = 0; i < self->gpu_count; i++) {
        gl_nccl_gpu *gpu = &self->gpus[i];
        if (gpu->group != NULL)
            ncclCommAbort(gpu->group);
        if (gpu->world != NULL)
            ncclCommAbort(gpu->world);
        gpu->group = gpu->world = NULL;
    }
    gl_watchdog_disarm(self->dog);
}

static void destroy_groups(gl_nccl *self)
{
    self->group_of_rank = NULL;
    for (int i = 0; i < self->gpu_count; i++)
        if (self->gpus[i].group != NULL)
            ncclCommDestroy(self->gpus[i].group);
    for (int i = 0; i < self->gpu_count; i++)
        self->gpus[i].group = NULL;
}

void gl_gpu_destroy_communicators(gl_nccl *self)
{
    if (self->aborted)
        return;
    gl_watchdog_arm(self->dog, "ending NCCL", 60);
    destroy_groups(self);
    for (int i = 0; i < self->gpu_count; i++)
        if (self->gpus[i].world != NULL)
            ncclCommDestroy(self->gpus[i].world);
    for (int i = 0; i < self->gpu_count; i++)
        self->gpus[i].world = NULL;
    gl_watchdog_disarm(self->dog);
}

/* ---- the beginning ---- */

static bool init_all(gl_nccl *self, ncclUniqueId id, gl_error *err)
{
    GL_NCCL(self, ncclGroupStart());
    for (int i = 0; i < self->gpu_count; i++) {
        GL_CUDA(self, cudaSetDevice(self->gpus[i].device));
        GL_NCCL(self,
                ncclCommInitRank(&self->gpus[i].world, self->base.ranks, id, self->gpus[i].rank));
    }
    GL_NCCL(self, ncclGroupEnd());
    return true;
}

bool gl_gpu_form_world(gl_nccl *self, gl_error *err)
{
    ncclUniqueId id;
    memset(&id, 0, sizeof id);
    bool made = true;
    if (self->launch.process == 0) {
        ncclResult_t status = ncclGetUniqueId(&id);
        made = status == ncclSuccess ||
               gl_gpu_nccl_failed(self, status, "ncclGetUniqueId", __FILE__, __LINE__, err);
    }
    if (!gl_gpu_all_agree(self, made, "ncclGetUniqueId", err))
        return false;
    gl_launch_broadcast(&self->launch, &id, sizeof id);
    gl_watchdog_arm(self->dog, "starting NCCL", 120);
    bool done = init_all(self, id, err);
    gl_watchdog_disarm(self->dog);
    return done;
}

/* Place of a rank in its group, and the group's size. */
static void place_in_group(const gl_nccl *self, const gl_grouping *grouping, gl_nccl_gpu *gpu)
{
    int group = grouping->group_of_rank[gpu->rank];
    gpu->group_rank = gpu->group_ranks = 0;
    if (group < 0)
        return;
    for (int rank = 0; rank < self->base.ranks; rank++) {
        if (grouping->group_of_rank[rank] != group)
            continue;
        gpu->group_rank += rank < gpu->rank;
        gpu->group_ranks++;
    }
}

static bool split(gl_nccl *self, const gl_grouping *grouping, gl_error *err)
{
    GL_NCCL(self, ncclGroupStart());
    for (int i = 0; i < self->gpu_count; i++) {
        gl_nccl_gpu *gpu = &self->gpus[i];
        int group = grouping->group_of_rank[gpu->rank];
        place_in_group(self, grouping, gpu);
        GL_NCCL(self, ncclCommSplit(gpu->world, group < 0 ? NCCL_SPLIT_NOCOLOR : group, gpu->rank,
                                    &gpu->group, NULL));
    }
    GL_NCCL(self, ncclGroupEnd());
    return true;
}

static bool same_groups(const gl_nccl *self, const gl_grouping *grouping)
{
    size_t bytes = (size_t)self->base.ranks * sizeof *self->group_of_rank;
    return self->group_of_rank != NULL &&
           memcmp(self->group_of_rank, grouping->group_of_rank, bytes) == 0;
}

/* Forming takes NCCL a good part of a second, so the groups stay until others are wanted. */
bool gl_gpu_form_groups(gl_nccl *self, const gl_grouping *grouping, gl_error *err)
{
    if (same_groups(self, grouping))
        return true;
    gl_watchdog_arm(self->dog, "ncclCommSplit", 120);
    destroy_groups(self);
    gl_capture_mark(self->capture);
    gl_gpu_forget_log(self);
    gl_launch_barrier(&self->launch);
    bool done = split(self, grouping, err);
    gl_watchdog_disarm(self->dog);
    if (!done)
        return false;
    size_t count = (size_t)self->base.ranks;
    self->group_of_rank = GL_ARENA_NEW(self->arena, int, count);
    memcpy(self->group_of_rank, grouping->group_of_rank, count * sizeof *self->group_of_rank);
    return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One call of a collective on all GPUs of this process. */
#include "calibrate/measure/nccl/gpu.h"

bool gl_gpu_dtype(gl_dtype dtype, ncclDataType_t *type)
{
    static const struct {
        gl_dtype dtype;
        ncclDataType_t type;
    } known[] = {
        {GL_FP32, ncclFloat32},
        {GL_BF16, ncclBfloat16},
        {GL_FP16, ncclFloat16},
        {GL_INT8, ncclInt8},
        {GL_UINT8, ncclUint8},
        {GL_INT32, ncclInt32},
        {GL_UINT32, ncclUint32},
        {GL_INT64, ncclInt64},
        {GL_UINT64, ncclUint64},
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 24, 3)
        {GL_FP8, ncclFloat8e4m3},
#endif
        {GL_FP64, ncclFloat64}
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].dtype == dtype) {
            *type = known[i].type;
            return true;
        }
    return false;
}

typedef struct call {
    const gl_gpu_layout *layout;
    const gl_nccl_gpu *gpu;
    const unsigned char *send;
    unsigned char *recv;
    ncclDataType_t type;
} call;

static ncclResult_t all_to_all(const call *c)
{
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    return ncclAlltoAll(c->send, c->recv, c->layout->count, c->type, c->gpu->group, c->gpu->stream);
#else
    size_t block = c->layout->count * c->layout->element_bytes;
    ncclResult_t status = ncclGroupStart();
    for (int r = 0; r < c->gpu->group_ranks && status == ncclSuccess; r++) {
        status = ncclSend(c->send + (size_t)r * block, c->layout->count, c->type, r, c->gpu->group,
                          c->gpu->stream);
        if (status == ncclSuccess)
            status = ncclRecv(c->recv + (size_t)r * block, c->layout->count, c->type, r,
                              c->gpu->group, c->gpu->stream);
    }
    ncclResult_t end = ncclGroupEnd();
    return status != ncclSuccess ? status : end;
#endif
}

/* To the next rank of the ring, from the one before. */
static ncclResult_t send_and_receive(const call *c)
{
    int n = c->gpu->group_ranks, next = (c->gpu->group_rank + 1) % n;
    int previous = (c->gpu->group_rank + n - 1) % n;
    ncclResult_t status = ncclGroupStart();
    if (status == ncclSuccess)
        status = ncclSend(c->send, c->layout->count, c->type, next, c->gpu->group, c->gpu->stream);
    if (status == ncclSuccess)
        status =
            ncclRecv(c->recv, c->layout->count, c->type, previous, c->gpu->group, c->gpu->stream);
    ncclResult_t end = ncclGroupEnd();
    return status != ncclSuccess ? status : end;
}

static ncclResult_t call_nccl(gl_collective collective, const call *c)
{
    size_t count = c->layout->count;
    ncclComm_t comm = c->gpu->group;
    cudaStream_t stream = c->gpu->stream;
    switch (collective) {
    case GL_ALL_REDUCE:
        return ncclAllReduce(c->send, c->recv, count, c->type, ncclSum, comm, stream);
    case GL_ALL_GATHER:
        return ncclAllGather(c->send, c->recv, count, c->type, comm, stream);
    case GL_REDUCE_SCATTER:
        return ncclReduceScatter(c->send, c->recv, count, c->type, ncclSum, comm, stream);
    case GL_BROADCAST:
        return ncclBroadcast(c->send, c->recv, count, c->type, 0, comm, stream);
    case GL_ALLTOALL:
        return all_to_all(c);
    case GL_SENDRECV:
        return send_and_receive(c);
    default:
        return ncclInvalidArgument;
    }
}

static ncclResult_t call_on(const gl_nccl *self, const gl_nccl_gpu *gpu,
                            const gl_gpu_layout *layout, size_t shift, bool in_place,
                            ncclDataType_t type)
{
    size_t rank_bytes = (size_t)gpu->group_rank * layout->element_bytes;
    call c = {layout, gpu, gpu->send + shift, gpu->recv + shift, type};
    if (in_place) {
        c.send = gpu->recv + shift + layout->send_offset * rank_bytes;
        c.recv = gpu->recv + shift + layout->recv_offset * rank_bytes;
    }
    return call_nccl(self->collective, &c);
}

bool gl_gpu_issue(gl_nccl *self, const gl_gpu_layout *layout, size_t shift, bool in_place,
                  gl_error *err)
{
    ncclDataType_t type = ncclInt8;
    gl_gpu_dtype(self->dtype, &type); /* join saw to it that there is one */
    bool group = self->gpu_count > 1;
    if (group)
        GL_NCCL(self, ncclGroupStart());
    for (int i = 0; i < self->gpu_count; i++)
        if (self->gpus[i].group != NULL)
            GL_NCCL(self, call_on(self, &self->gpus[i], layout, shift, in_place, type));
    if (group)
        GL_NCCL(self, ncclGroupEnd());
    return true;
}

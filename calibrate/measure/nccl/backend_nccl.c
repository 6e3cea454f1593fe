/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The NCCL backend: opening, what it says of itself, joining groups, closing. */
#include "calibrate/import/setting.h"
#include "calibrate/measure/nccl/gpu.h"
#include "calibrate/measure/nccl/machine.h"
#include "calibrate/measure/nccl/nvml.h"
#include "common/hash.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static const gl_dtype dtypes[] = {GL_BF16,  GL_FP32,   GL_FP16,  GL_FP8,    GL_INT8, GL_UINT8,
                                  GL_INT32, GL_UINT32, GL_INT64, GL_UINT64, GL_FP64, GL_DTYPE_NONE};

static const gl_dtype *known_dtypes(gl_nccl *self)
{
    ncclDataType_t ignored;
    gl_dtype *known = GL_ARENA_NEW(self->arena, gl_dtype, sizeof dtypes / sizeof *dtypes);
    size_t count = 0;
    for (size_t i = 0; dtypes[i] != GL_DTYPE_NONE; i++)
        if (gl_gpu_dtype(dtypes[i], &ignored))
            known[count++] = dtypes[i];
    known[count] = GL_DTYPE_NONE;
    return known;
}

/* ---- describing ---- */

static const char *dotted(gl_arena *arena, int version)
{
    return gl_arena_printf(arena, "%d.%d", version / 1000, version % 1000 / 10);
}

/* NCCL's version as one number: 2.28.9 is 22809. */
static const char *nccl_text(gl_arena *arena, int version)
{
    return gl_arena_printf(arena, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

static const char *gpu_names(gl_nccl *self, gl_arena *arena)
{
    char *names = gl_arena_strdup(arena, "");
    for (int i = 0; i < self->gpu_count; i++) {
        struct cudaDeviceProp properties;
        if (cudaGetDeviceProperties(&properties, self->gpus[i].device) != cudaSuccess ||
            strstr(names, properties.name) != NULL)
            continue;
        names = gl_arena_append(arena, names, ", ", properties.name);
    }
    return names;
}

static void read_nvml(gl_nccl *self, gl_nvml_facts *facts)
{
    char texts[GL_PLACES_GPUS_MAX][32] = {{0}};
    const char *ids[GL_PLACES_GPUS_MAX];
    for (int i = 0; i < self->gpu_count; i++) {
        ids[i] = texts[i];
        cudaDeviceGetPCIBusId(texts[i], sizeof texts[i], self->gpus[i].device);
    }
    gl_nvml_read(ids, (size_t)self->gpu_count, facts);
}

static void describe(gl_backend *backend, gl_arena *arena, gl_run *run)
{
    gl_nccl *self = (gl_nccl *)backend;
    gl_nvml_facts facts;
    char host[256] = "";
    int cuda = 0, nccl = 0;
    cudaRuntimeGetVersion(&cuda);
    ncclGetVersion(&nccl);
    gethostname(host, sizeof host - 1);
    read_nvml(self, &facts);
    run->backend = "nccl";
    run->host = gl_arena_strdup(arena, host);
    run->gpu = gpu_names(self, arena);
    run->driver_version = gl_arena_strdup(arena, facts.driver);
    run->cuda_version = dotted(arena, cuda);
    run->nccl_version = nccl_text(arena, nccl);
    run->environment = gl_arena_strdup(arena, self->environment);
    run->parameters = gl_arena_printf(arena, "%d processes, device events, calls back to back",
                                      self->launch.processes);
}

static void texts(gl_backend *backend, gl_arena *arena, const gl_machine_text **found,
                  size_t *count)
{
    (void)backend;
    gl_machine_texts(arena, found, count);
}

const char *gl_backend_nccl_version(void)
{
    static char text[80];
    int cuda = CUDART_VERSION;
    snprintf(text, sizeof text, "NCCL: %d.%d.%d, CUDA %d.%d", NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH,
             cuda / 1000, cuda % 1000 / 10);
    return text;
}

/* ---- opening ---- */

static void first_line(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    if (file != NULL && fgets(text, (int)size, file) == NULL)
        text[0] = '\0';
    if (file != NULL)
        fclose(file);
}

/* Machine and node as NCCL tells them apart: by host name and boot, and by NCCL_HOSTID. */
static void name_place(gl_place *place)
{
    char host[256] = "", boot[64], key[400];
    gethostname(host, sizeof host - 1);
    first_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    snprintf(key, sizeof key, "%s %s", host, boot);
    place->machine = gl_hash_text(key);
    const char *id = getenv("NCCL_HOSTID");
    place->node = id != NULL && id[0] != '\0' ? gl_hash_text(id) : place->machine;
}

static bool find_gpus(gl_place *place, gl_error *err)
{
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0)
        return gl_fail(err, GL_ERROR_DEVICE,
                       "no GPU: CUDA says: %s; measure on a machine with an NVIDIA GPU and its "
                       "driver, or host memory with --backend mpi",
                       status != cudaSuccess ? cudaGetErrorString(status) : "no device is visible");
    place->visible = count < GL_PLACES_GPUS_MAX ? count : GL_PLACES_GPUS_MAX;
    for (int i = 0; i < place->visible; i++) {
        struct cudaDeviceProp properties;
        status = cudaGetDeviceProperties(&properties, i);
        if (status != cudaSuccess)
            return gl_fail(err, GL_ERROR_DEVICE, "GPU %d: CUDA: %s", i, cudaGetErrorString(status));
        memcpy(place->gpus[i], &properties.uuid, sizeof place->gpus[i]);
    }
    return true;
}

static void take_share(gl_nccl *self, const gl_share *shares)
{
    const gl_share *mine = &shares[self->launch.process];
    const gl_share *last = &shares[self->launch.processes - 1];
    int *node_of_rank;
    self->base.ranks = last->rank + last->count;
    self->gpu_count = mine->count;
    for (int i = 0; i < mine->count; i++)
        self->gpus[i] = (gl_nccl_gpu){.device = mine->first + i, .rank = mine->rank + i};
    node_of_rank = GL_ARENA_NEW(self->arena, int, (size_t)self->base.ranks);
    for (int p = 0; p < self->launch.processes; p++)
        for (int i = 0; i < shares[p].count; i++)
            node_of_rank[shares[p].rank + i] = shares[p].node;
    self->base.node_of_rank = node_of_rank;
}

static bool share_gpus(gl_nccl *self, gl_error *err)
{
    size_t n = (size_t)self->launch.processes;
    gl_place *mine = GL_ARENA_NEW(self->arena, gl_place, 1 + n), *all = mine + 1;
    gl_share *shares = GL_ARENA_NEW(self->arena, gl_share, n);
    name_place(mine);
    if (!gl_gpu_all_agree(self, find_gpus(mine, err), "finding GPUs", err))
        return false;
    gl_launch_all_gather(&self->launch, mine, all, sizeof *mine);
    if (!gl_places_share(all, (int)n, shares, err))
        return false;
    take_share(self, shares);
    return true;
}

static bool make_streams(gl_nccl *self, gl_error *err)
{
    for (int i = 0; i < self->gpu_count; i++) {
        GL_CUDA(self, cudaSetDevice(self->gpus[i].device));
        GL_CUDA(self, cudaStreamCreateWithFlags(&self->gpus[i].stream, cudaStreamNonBlocking));
    }
    return true;
}

static void (*find_reset(void))(void)
{
    void (*reset)(void) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "ncclResetDebugInit");
    memcpy(&reset, &symbol, sizeof symbol);
    return reset;
}

static void look_around(gl_nccl *self)
{
    gl_nvml_facts facts;
    read_nvml(self, &facts);
    self->nvlink = facts.nvlink_links > 0 && self->gpu_count > 0;
    if (!gl_capture_works(self->capture))
        gl_gpu_warn(self, "NCCL_DEBUG or NCCL_DEBUG_SUBSYS is set: NCCL's output is not read, so "
                          "the transport stays unknown");
    if (gl_machine_cores() == 1)
        gl_gpu_warn(self, "this process is bound to one core, which NCCL's threads must share: "
                          "slow wherever the host moves data (mpirun --bind-to none, srun "
                          "--cpus-per-task)");
}

static bool start(gl_nccl *self, gl_error *err)
{
    if (!gl_launch_start(&self->launch, err))
        return false;
    self->base.leader = self->launch.process == 0;
    /* as the user set it, before this program adds to it */
    self->environment = gl_settings_kept(self->arena, (const char *const *)environ);
    self->capture = gl_capture_begin(find_reset());
    self->dog = gl_watchdog_start();
    if (!share_gpus(self, err) ||
        !gl_gpu_all_agree(self, make_streams(self, err), "preparing the GPUs", err) ||
        !gl_gpu_form_world(self, err))
        return false;
    look_around(self);
    return true;
}

/* ---- groups ---- */

static bool supported(gl_collective collective, gl_dtype dtype, gl_error *err)
{
    ncclDataType_t ignored;
    if (!gl_collective_is_measured(collective))
        return gl_fail(err, GL_ERROR_USAGE, "%s cannot be measured with NCCL",
                       gl_collective_name(collective));
    if (!gl_gpu_dtype(dtype, &ignored))
        return gl_fail(err, GL_ERROR_USAGE, "NCCL %d.%d has no type %s", NCCL_MAJOR, NCCL_MINOR,
                       gl_dtype_name(dtype));
    return true;
}

/* NCCL has FP8 only on GPUs of compute capability 9.0 and above. */
static bool gpus_have(const gl_nccl *self, gl_dtype dtype)
{
    for (int i = 0; dtype == GL_FP8 && i < self->gpu_count; i++) {
        int major = 0;
        if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor,
                                   self->gpus[i].device) != cudaSuccess ||
            major < 9)
            return false;
    }
    return true;
}

static bool get_buffers(gl_nccl *self, double max_size_bytes, gl_error *err)
{
    gl_gpu_layout layout;
    gl_gpu_layout_of(&layout, self->collective, self->dtype, self->placement.ranks, max_size_bytes);
    self->walk_bytes = layout.step_bytes;
    return gl_gpu_get_buffers(self, layout.step_bytes, err);
}

static bool all_gpus_have(gl_nccl *self, gl_dtype dtype, gl_error *err)
{
    double lacking = gpus_have(self, dtype) ? 0 : 1;
    gl_launch_max(&self->launch, &lacking, 1);
    return lacking == 0 ||
           gl_fail(err, GL_ERROR_USAGE, "%s needs GPUs of compute capability 9.0 or more",
                   gl_dtype_name(dtype));
}

/* Each step ends with an agreement, so no process goes on to wait for one that failed. The first
 * call makes connections, which belongs to joining rather than to a measurement. */
static bool join(gl_backend *backend, const gl_grouping *grouping, gl_collective collective,
                 gl_dtype dtype, double max_size_bytes, gl_error *err)
{
    gl_nccl *self = (gl_nccl *)backend;
    if (!supported(collective, dtype, err) || !all_gpus_have(self, dtype, err))
        return false;
    self->collective = collective;
    self->dtype = dtype;
    self->placement = grouping->placement;
    bool ready =
        !self->aborted || gl_fail(err, GL_ERROR_DEVICE, "NCCL has ended after an earlier error");
    return gl_gpu_all_agree(self, ready && gl_gpu_form_groups(self, grouping, err),
                            "forming groups", err) &&
           gl_gpu_all_agree(self, get_buffers(self, max_size_bytes, err), "allocating buffers",
                            err) &&
           gl_gpu_all_agree(self, gl_gpu_call_once(self, 0, false, err), "the first call", err);
}

/* Communicators and buffers stay: the next curve mostly wants the same. */
static void leave(gl_backend *backend)
{
    (void)backend;
}

static double agree(gl_backend *backend, double value)
{
    gl_launch_broadcast(&((gl_nccl *)backend)->launch, &value, sizeof value);
    return value;
}

/* ---- the end ---- */

static void destroy_gpu(gl_nccl_gpu *gpu)
{
    if (gpu->stream == NULL || cudaSetDevice(gpu->device) != cudaSuccess)
        return;
    for (size_t i = 0; i < gpu->event_count; i++)
        cudaEventDestroy(gpu->events[i]);
    cudaStreamDestroy(gpu->stream);
}

static void close_backend(gl_backend *backend)
{
    gl_nccl *self = (gl_nccl *)backend;
    if (self == NULL)
        return;
    gl_gpu_destroy_communicators(self);
    gl_gpu_release_buffers(self);
    for (int i = 0; i < self->gpu_count; i++)
        destroy_gpu(&self->gpus[i]);
    gl_capture_end(self->capture);
    gl_watchdog_stop(self->dog);
    gl_launch_end(&self->launch);
    gl_arena_destroy(self->log_arena);
    gl_arena_destroy(self->arena);
    free(self);
}

static void abort_all(gl_backend *backend, int status)
{
    gl_nccl *self = (gl_nccl *)backend;
    gl_capture_end(self->capture);
    self->capture = NULL;
    gl_launch_abort(&self->launch, status);
}

static const gl_backend_vtable vtable = {
    .name = "nccl",
    .describe = describe,
    .texts = texts,
    .max_size_bytes = gl_gpu_max_size,
    .join = join,
    .leave = leave,
    .measure = gl_gpu_measure,
    .verify = gl_gpu_verify,
    .observe = gl_gpu_observe,
    .agree = agree,
    .abort = abort_all,
    .close = close_backend,
};

bool gl_backend_nccl_open(gl_backend **backend, gl_error *err)
{
    gl_nccl *self = calloc(1, sizeof *self);
    if (self == NULL)
        return gl_fail(err, GL_ERROR_SYSTEM, "out of memory");
    self->arena = gl_arena_create();
    gl_gpu_forget_log(self);
    self->base.vtable = &vtable;
    self->base.warnings = self->warnings;
    self->base.dtypes = known_dtypes(self);
    if (!start(self, err)) {
        close_backend(&self->base);
        return false;
    }
    *backend = &self->base;
    return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Collectives between host buffers, by MPI-3.1 calls that Open MPI and MPICH share. A rank is a
 * process; ranks that share memory are a node. MPI has no bf16 and fp16: fp32 is the default.
 */
#include "calibrate/measure/backend.h"
#include "calibrate/measure/memory.h"

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One pattern serves all checks: element j is a * (j mod 61) + b. 61 is prime, so that no block of
 * a power of two ends on a period and a block that went to the wrong place is seen. */
enum { PERIOD = 61, PATTERN = PERIOD * 64, ALIGNMENT = 4096 };

typedef struct element {
    gl_dtype dtype;
    MPI_Datatype type;
    size_t bytes;
    /* PATTERN elements, the first of which is element `phase`. */
    void (*pattern)(void *block, size_t phase, int64_t a, int64_t b);
} element;

#define DEFINE_PATTERN(name, ctype)                                                                \
    static void name(void *block, size_t phase, int64_t a, int64_t b)                              \
    {                                                                                              \
        ctype *out = block;                                                                        \
        for (size_t j = 0; j < PATTERN; j++)                                                       \
            out[j] = (ctype)(a * (int64_t)((phase + j) % PERIOD) + b);                             \
    }

DEFINE_PATTERN(pattern_float, float)
DEFINE_PATTERN(pattern_double, double)
DEFINE_PATTERN(pattern_int32, int32_t)
DEFINE_PATTERN(pattern_int8, int8_t) /* sums wrap around, as those of MPI do */

enum { ELEMENTS = 4 };
static const gl_dtype dtypes[ELEMENTS + 1] = {GL_FP32, GL_FP64, GL_INT32, GL_INT8, GL_DTYPE_NONE};

typedef struct mpi_backend {
    gl_backend base;
    element elements[ELEMENTS]; /* MPI's types are no constants everywhere */
    int rank;
    int *nodes;
    double memory_bytes; /* that one process may use; the same in all */
    double *block;       /* room for a pattern of any type */

    /* The grouping that was joined. */
    MPI_Comm group;  /* mine; MPI_COMM_NULL when idle */
    MPI_Comm active; /* everybody who works: what starts at the same time */
    int group_rank, group_ranks;
    gl_collective collective;
    const element *element;
    unsigned char *send, *receive; /* kept from one grouping to the next */
    size_t capacity, ready_bytes;  /* of each: reserved, and touched */
    size_t sent_count;             /* elements of the pattern that stand in `send` … */
    int sent_rank;                 /* … of this rank of a group … */
    const element *sent_element;   /* … and type */
} mpi_backend;

static bool check(const mpi_backend *b, int rc, const char *call, gl_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    if (rc == MPI_SUCCESS)
        return true;
    MPI_Error_string(rc, text, &length);
    return gl_fail(err, GL_ERROR_DEVICE, "MPI rank %d: %s: %.300s", b->rank, call, text);
}

/* Calls MPI; a failure fills err and is false. */
#define TRY(b, function, err, ...) check((b), function(__VA_ARGS__), #function, (err))

/* ---- the machine ---- */

static void first_words(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; *text != '\0' && *text != '\n' && *text != ',' && n + 1 < size; text++)
        if (!(strchr(" \t", *text) != NULL && n > 0 && out[n - 1] == ' '))
            out[n++] = *text == '\t' ? ' ' : *text;
    out[n] = '\0';
}

/* May be called before MPI_Init (MPI-3.1, 8.1.1). */
static void library_version(char *out, size_t size)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    first_words(text, out, size);
}

const char *gl_backend_mpi_version(void)
{
    static char text[120];
    char library[100];
    library_version(library, sizeof library);
    snprintf(text, sizeof text, "MPI: %s", library);
    return text;
}

static void describe(gl_backend *backend, gl_arena *arena, gl_run *run)
{
    char library[100], host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    (void)backend;
    library_version(library, sizeof library);
    MPI_Get_processor_name(host, &length);
    run->backend = "mpi";
    run->host = gl_arena_strdup(arena, host);
    run->parameters = gl_arena_printf(arena, "%s, each call after a barrier", library);
}

/* Numbers the nodes by their lowest ranks. */
static bool find_nodes(mpi_backend *b, gl_error *err)
{
    MPI_Comm shared;
    int lowest = b->rank, ranks = b->base.ranks, local = 1, nodes = 0;
    int *lowest_of = malloc((size_t)ranks * sizeof *lowest_of);
    b->nodes = malloc((size_t)ranks * sizeof *b->nodes);
    if (lowest_of == NULL || b->nodes == NULL) {
        free(lowest_of);
        return gl_fail(err, GL_ERROR_SYSTEM, "out of memory");
    }
    bool ok =
        TRY(b, MPI_Comm_split_type, err, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, b->rank,
            MPI_INFO_NULL, &shared) &&
        TRY(b, MPI_Comm_size, err, shared, &local) &&
        TRY(b, MPI_Allreduce, err, &b->rank, &lowest, 1, MPI_INT, MPI_MIN, shared) &&
        TRY(b, MPI_Comm_free, err, &shared) &&
        TRY(b, MPI_Allgather, err, &lowest, 1, MPI_INT, lowest_of, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; ok && i < ranks; i++)
        b->nodes[i] = lowest_of[i] == i ? nodes++ : b->nodes[lowest_of[i]];
    free(lowest_of);
    b->base.node_of_rank = b->nodes;
    b->memory_bytes = gl_memory_available() / 2 / local;
    return ok && TRY(b, MPI_Allreduce, err, MPI_IN_PLACE, &b->memory_bytes, 1, MPI_DOUBLE, MPI_MIN,
                     MPI_COMM_WORLD);
}

/* Two buffers, and what the library may allocate for itself (alltoall in place takes a copy).
 * Counts are int in MPI-3.1. */
static double max_size_bytes(gl_backend *backend, gl_dtype dtype)
{
    const mpi_backend *b = (const mpi_backend *)backend;
    double by_memory = b->memory_bytes / 3, by_count = gl_dtype_bytes(dtype) * INT_MAX;
    return by_memory < by_count ? by_memory : by_count;
}

/* ---- groupings ---- */

static void leave(gl_backend *backend)
{
    mpi_backend *b = (mpi_backend *)backend;
    if (b->group != MPI_COMM_NULL)
        MPI_Comm_free(&b->group);
    if (b->active != MPI_COMM_NULL)
        MPI_Comm_free(&b->active);
}

static unsigned char *new_buffer(size_t bytes)
{
    void *buffer = NULL;
    return posix_memalign(&buffer, ALIGNMENT, bytes) == 0 ? buffer : NULL;
}

/* All processes have room, or none goes on. */
static bool get_buffers(mpi_backend *b, size_t bytes, gl_error *err)
{
    int ok = 1;
    if (bytes > b->capacity) {
        free(b->send);
        free(b->receive);
        b->send = new_buffer(bytes);
        b->receive = new_buffer(bytes);
        ok = b->send != NULL && b->receive != NULL;
        b->capacity = ok ? bytes : 0;
        b->ready_bytes = b->sent_count = 0;
    }
    if (!TRY(b, MPI_Allreduce, err, MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD))
        return false;
    return ok || gl_fail(err, GL_ERROR_SYSTEM,
                         "not enough memory for two buffers of %zu bytes in each process: try a "
                         "smaller --max",
                         bytes);
}

/* Pages are touched, so that no call pays for their faults: a second for each GiB, or several. */
static bool prepare(gl_backend *backend, double size_bytes, gl_error *err)
{
    mpi_backend *b = (mpi_backend *)backend;
    size_t from = b->ready_bytes, bytes = (size_t)size_bytes;
    if (bytes <= from)
        return true;
    memset(b->send + from, 0, bytes - from);
    memset(b->receive + from, 0, bytes - from);
    b->ready_bytes = bytes;
    return TRY(b, MPI_Barrier, err, MPI_COMM_WORLD);
}

static const element *find_element(const mpi_backend *b, gl_dtype dtype)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (b->elements[i].dtype == dtype)
            return &b->elements[i];
    return NULL;
}

static bool split(mpi_backend *b, const gl_grouping *grouping, gl_error *err)
{
    int mine = grouping->group_of_rank[b->rank];
    if (!TRY(b, MPI_Comm_split, err, MPI_COMM_WORLD, mine >= 0 ? mine : MPI_UNDEFINED, b->rank,
             &b->group) ||
        !TRY(b, MPI_Comm_split, err, MPI_COMM_WORLD, mine >= 0 ? 0 : MPI_UNDEFINED, b->rank,
             &b->active))
        return false;
    if (mine < 0)
        return true;
    return TRY(b, MPI_Comm_set_errhandler, err, b->group, MPI_ERRORS_RETURN) &&
           TRY(b, MPI_Comm_set_errhandler, err, b->active, MPI_ERRORS_RETURN) &&
           TRY(b, MPI_Comm_rank, err, b->group, &b->group_rank) &&
           TRY(b, MPI_Comm_size, err, b->group, &b->group_ranks);
}

static bool join(gl_backend *backend, const gl_grouping *grouping, gl_collective collective,
                 gl_dtype dtype, double max_size, gl_error *err)
{
    mpi_backend *b = (mpi_backend *)backend;
    b->element = find_element(b, dtype);
    b->collective = collective;
    if (b->element == NULL)
        return gl_fail(err, GL_ERROR_USAGE,
                       "MPI has no %s: host memory is measured in fp32, fp64, int32 or int8",
                       gl_dtype_name(dtype));
    if (!gl_collective_is_measured(collective))
        return gl_fail(err, GL_ERROR_USAGE, "%s is not measured", gl_collective_name(collective));
    return get_buffers(b, (size_t)max_size, err) && split(b, grouping, err);
}

/* ---- calls ---- */

/* Elements of a message, and of a rank's part of it where it has parts. */
static int count_of(const mpi_backend *b, double size_bytes)
{
    return (int)(size_bytes / (double)b->element->bytes);
}

static int call(mpi_backend *b, int count, bool in_place)
{
    MPI_Datatype type = b->element->type;
    int part = count / b->group_ranks;
    const void *from = in_place ? MPI_IN_PLACE : b->send;
    int next = (b->group_rank + 1) % b->group_ranks;
    int previous = (b->group_rank + b->group_ranks - 1) % b->group_ranks;
    switch (b->collective) {
    case GL_ALL_REDUCE:
        return MPI_Allreduce(from, b->receive, count, type, MPI_SUM, b->group);
    case GL_ALL_GATHER:
        return MPI_Allgather(from, part, type, b->receive, part, type, b->group);
    case GL_REDUCE_SCATTER:
        return MPI_Reduce_scatter_block(from, b->receive, part, type, MPI_SUM, b->group);
    case GL_ALLTOALL:
        return MPI_Alltoall(from, part, type, b->receive, part, type, b->group);
    case GL_SENDRECV:
        if (in_place)
            return MPI_Sendrecv_replace(b->receive, count, type, next, 0, previous, 0, b->group,
                                        MPI_STATUS_IGNORE);
        return MPI_Sendrecv(b->send, count, type, next, 0, b->receive, count, type, previous, 0,
                            b->group, MPI_STATUS_IGNORE);
    default:
        /* Out of place, the root sends from its other buffer and keeps it. */
        return MPI_Bcast(b->group_rank == 0 && !in_place ? b->send : b->receive, count, type, 0,
                         b->group);
    }
}

static bool time_calls(mpi_backend *b, int count, bool in_place, int warmup, int iterations,
                       double *times_s, gl_error *err)
{
    for (int i = -warmup; i < iterations; i++) {
        if (!TRY(b, MPI_Barrier, err, b->active))
            return false;
        double start = MPI_Wtime();
        if (!check(b, call(b, count, in_place), gl_collective_name(b->collective), err))
            return false;
        if (i >= 0)
            times_s[i] = MPI_Wtime() - start;
    }
    return true;
}

static bool measure(gl_backend *backend, double size_bytes, bool in_place, int warmup,
                    int iterations, double *times_s, gl_error *err)
{
    mpi_backend *b = (mpi_backend *)backend;
    for (int i = 0; i < iterations; i++)
        times_s[i] = 0;
    if (b->group != MPI_COMM_NULL &&
        !time_calls(b, count_of(b, size_bytes), in_place, warmup, iterations, times_s, err))
        return false;
    return TRY(b, MPI_Allreduce, err, MPI_IN_PLACE, times_s, iterations, MPI_DOUBLE, MPI_MAX,
               MPI_COMM_WORLD);
}

/* ---- checking results ---- */

/* A run of elements: the first is element `phase` of the pattern. */
typedef struct values {
    size_t phase;
    int64_t a, b;
} values;

static void fill(mpi_backend *b, unsigned char *buffer, size_t count, values v)
{
    size_t bytes = b->element->bytes;
    b->element->pattern(b->block, v.phase, v.a, v.b);
    for (size_t done = 0; done < count; done += PATTERN) {
        size_t n = count - done < PATTERN ? count - done : PATTERN;
        memcpy(buffer + done * bytes, b->block, n * bytes);
    }
}

/* How many elements are not as they should be? */
static double count_wrong(mpi_backend *b, const unsigned char *buffer, size_t count, values v)
{
    size_t bytes = b->element->bytes;
    double wrong = 0;
    b->element->pattern(b->block, v.phase, v.a, v.b);
    for (size_t done = 0; done < count; done += PATTERN) {
        size_t n = count - done < PATTERN ? count - done : PATTERN;
        const unsigned char *got = buffer + done * bytes, *wanted = (unsigned char *)b->block;
        if (memcmp(got, wanted, n * bytes) == 0)
            continue;
        for (size_t i = 0; i < n; i++)
            wrong += memcmp(got + i * bytes, wanted + i * bytes, bytes) != 0;
    }
    return wrong;
}

/* What rank r of a group sends, from element `first` on. */
static values sent_by(int r, size_t first)
{
    return (values){first, 1, r % 17};
}

/* The sum of what all send. */
static values sum_of(const mpi_backend *b, size_t first)
{
    values v = {first, b->group_ranks, 0};
    for (int r = 0; r < b->group_ranks; r++)
        v.b += r % 17;
    return v;
}

/* Nothing else writes to the buffer that is sent from, so what an earlier check left there is
 * used again. */
static void fill_send(mpi_backend *b, size_t count)
{
    if (b->sent_rank != b->group_rank || b->sent_element != b->element)
        b->sent_count = 0;
    b->sent_rank = b->group_rank;
    b->sent_element = b->element;
    if (count <= b->sent_count)
        return;
    fill(b, b->send + b->sent_count * b->element->bytes, count - b->sent_count,
         sent_by(b->group_rank, b->sent_count));
    b->sent_count = count;
}

/* Where nothing arrives, no right element may stand: a call that does nothing is found out. */
static void set_data(mpi_backend *b, size_t count, bool in_place)
{
    size_t part = count / (size_t)b->group_ranks, bytes = b->element->bytes;
    bool gathers = b->collective == GL_ALL_GATHER;
    bool gives = b->collective != GL_BROADCAST || b->group_rank == 0;
    if (in_place && gives && !gathers) {
        fill(b, b->receive, count, sent_by(b->group_rank, 0));
        return;
    }
    memset(b->receive, 0x55, count * bytes);
    if (!in_place)
        fill_send(b, count);
    else if (gathers)
        fill(b, b->receive + (size_t)b->group_rank * part * bytes, part, sent_by(b->group_rank, 0));
}

static double wrong_parts(mpi_backend *b, size_t part, size_t first)
{
    double wrong = 0;
    for (int r = 0; r < b->group_ranks; r++)
        wrong += count_wrong(b, b->receive + (size_t)r * part * b->element->bytes, part,
                             sent_by(r, first));
    return wrong;
}

static double wrong_elements(mpi_backend *b, size_t count, bool in_place)
{
    size_t part = count / (size_t)b->group_ranks, mine = (size_t)b->group_rank * part;
    int previous = (b->group_rank + b->group_ranks - 1) % b->group_ranks;
    switch (b->collective) {
    case GL_ALL_REDUCE:
        return count_wrong(b, b->receive, count, sum_of(b, 0));
    case GL_ALL_GATHER:
        return wrong_parts(b, part, 0);
    case GL_REDUCE_SCATTER:
        return count_wrong(b, b->receive, part, sum_of(b, mine));
    case GL_ALLTOALL:
        return wrong_parts(b, part, mine);
    case GL_SENDRECV:
        return count_wrong(b, b->receive, count, sent_by(previous, 0));
    default:
        if (b->group_rank == 0 && !in_place)
            return 0;
        return count_wrong(b, b->receive, count, sent_by(0, 0));
    }
}

static bool verify(gl_backend *backend, double size_bytes, bool in_place, double *wrong,
                   gl_error *err)
{
    mpi_backend *b = (mpi_backend *)backend;
    double mine = 0;
    if (b->group != MPI_COMM_NULL) {
        int count = count_of(b, size_bytes);
        set_data(b, (size_t)count, in_place);
        if (!check(b, call(b, count, in_place), gl_collective_name(b->collective), err))
            return false;
        mine = wrong_elements(b, (size_t)count, in_place);
    }
    return TRY(b, MPI_Allreduce, err, &mine, wrong, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* ---- the rest ---- */

static void observe(gl_backend *backend, double size_bytes, gl_arena *arena, gl_curve *curve)
{
    (void)backend;
    (void)size_bytes;
    (void)arena;
    curve->transport = GL_TRANSPORT_HOST;
    curve->nics = 0;
    curve->algorithm = curve->protocol = "";
}

static double agree(gl_backend *backend, double value)
{
    (void)backend;
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return value;
}

static void abort_all(gl_backend *backend, int status)
{
    (void)backend;
    MPI_Abort(MPI_COMM_WORLD, status);
}

static void close_backend(gl_backend *backend)
{
    mpi_backend *b = (mpi_backend *)backend;
    if (b == NULL)
        return;
    leave(backend);
    MPI_Finalize();
    free(b->send);
    free(b->receive);
    free(b->block);
    free(b->nodes);
    free(b);
}

static const gl_backend_vtable vtable = {.name = "mpi",
                                         .describe = describe,
                                         .max_size_bytes = max_size_bytes,
                                         .join = join,
                                         .leave = leave,
                                         .prepare = prepare,
                                         .measure = measure,
                                         .verify = verify,
                                         .observe = observe,
                                         .agree = agree,
                                         .abort = abort_all,
                                         .close = close_backend};

static mpi_backend *new_backend(void)
{
    mpi_backend *b = calloc(1, sizeof *b);
    double *block = calloc(PATTERN, sizeof *block);
    if (b == NULL || block == NULL) {
        free(b);
        free(block);
        return NULL;
    }
    b->block = block;
    b->group = b->active = MPI_COMM_NULL;
    const element elements[ELEMENTS] = {{GL_FP32, MPI_FLOAT, 4, pattern_float},
                                        {GL_FP64, MPI_DOUBLE, 8, pattern_double},
                                        {GL_INT32, MPI_INT32_T, 4, pattern_int32},
                                        {GL_INT8, MPI_INT8_T, 1, pattern_int8}};
    memcpy(b->elements, elements, sizeof elements);
    b->base.vtable = &vtable;
    b->base.dtypes = dtypes;
    return b;
}

static bool start(mpi_backend *b, gl_error *err)
{
    static const char *const no_warnings[] = {NULL};
    if (!TRY(b, MPI_Comm_set_errhandler, err, MPI_COMM_WORLD, MPI_ERRORS_RETURN) ||
        !TRY(b, MPI_Comm_rank, err, MPI_COMM_WORLD, &b->rank) ||
        !TRY(b, MPI_Comm_size, err, MPI_COMM_WORLD, &b->base.ranks))
        return false;
    b->base.leader = b->rank == 0;
    b->base.warnings = no_warnings;
    if (b->base.ranks == 1)
        return gl_fail(err, GL_ERROR_USAGE,
                       "MPI measures between processes, and this is one alone: start several, as "
                       "in mpirun -n 4 gpulink-calibrate run --backend mpi --db FILE.db");
    return find_nodes(b, err);
}

bool gl_backend_mpi_open(gl_backend **backend, gl_error *err)
{
    int provided;
    mpi_backend *b = new_backend();
    if (b == NULL)
        return gl_fail(err, GL_ERROR_SYSTEM, "out of memory");
    /* Until there is an error handler of ours, MPI ends the processes itself. */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &provided);
    if (!start(b, err)) {
        close_backend(&b->base);
        return false;
    }
    *backend = &b->base;
    return true;
}

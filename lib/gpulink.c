/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls, errors, models and clusters. */
#include "lib/internal.h"

#include "gpulink_version.h"
#include "planner/input/cluster_file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREAD_MIB = 64, THREADS_MAX = 1024 };

const char *gpulink_version(void)
{
    return GPULINK_VERSION;
}

/* ---- calls ---- */

/* Arenas end the process when memory ends, so it is asked for first. What is not touched costs
 * nothing. */
static bool is_there_memory(size_t mib)
{
    void *volatile memory = malloc(mib * 1024 * 1024); /* volatile: not optimised away */
    bool there = memory != NULL;
    free(memory);
    return there;
}

bool gl_lib__begin(gl_lib_call *call, int threads, gpulink_error *error)
{
    size_t mib = (size_t)threads * THREAD_MIB;
    gl_error err;
    call->plain = is_there_memory(mib) ? newlocale(LC_ALL_MASK, "C", (locale_t)0) : (locale_t)0;
    if (call->plain == (locale_t)0) {
        gl_fail(&err, GL_ERROR_SYSTEM, "not enough memory: %zu MiB are needed", mib);
        return gl_lib__fail(error, &err);
    }
    call->before = uselocale(call->plain);
    return true;
}

void gl_lib__end(gl_lib_call *call)
{
    uselocale(call->before);
    freelocale(call->plain);
}

/* ---- errors ---- */

bool gl_lib__fail(gpulink_error *error, const gl_error *err)
{
    if (error == NULL)
        return false;
    *error = (gpulink_error){
        .status = (int32_t)err->status, .line = err->line, .column = err->column, .problems = 1};
    snprintf(error->file, sizeof error->file, "%s", err->file);
    snprintf(error->path, sizeof error->path, "%s", err->path);
    snprintf(error->message, sizeof error->message, "%s", err->message);
    return false;
}

bool gl_lib__fail_all(gpulink_error *error, const gl_diagnostics *diagnostics)
{
    gl_lib__fail(error, &diagnostics->items[0]);
    if (error != NULL)
        error->problems = (int32_t)(diagnostics->count + diagnostics->dropped);
    return false;
}

bool gl_lib__refuse(gpulink_error *error, const char *format, ...)
{
    gl_error err = {.status = GL_ERROR_USAGE};
    va_list args;
    va_start(args, format);
    vsnprintf(err.message, sizeof err.message, format, args);
    va_end(args);
    return gl_lib__fail(error, &err);
}

bool gl_lib__has_both(const gpulink_model *model, const gpulink_cluster *cluster,
                      gpulink_error *error)
{
    return (model != NULL && cluster != NULL) ||
           gl_lib__refuse(error, "the %s is NULL", model == NULL ? "model" : "cluster");
}

/* ---- structures by size ---- */

void gl_lib__give(void *to, size_t size, const void *from, size_t known)
{
    memset(to, 0, size);
    memcpy(to, from, size < known ? size : known);
}

bool gl_lib__take(void *to, size_t known, const void *from, size_t size)
{
    const unsigned char *bytes = from;
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return false;
    memcpy(to, from, size < known ? size : known);
    return true;
}

bool gl_lib__options(const gpulink_options *options, gpulink_options *out, gpulink_error *error)
{
    gpulink_options read = {.size = sizeof read};
    if (options != NULL && options->size < sizeof options->size)
        return gl_lib__refuse(error, "options.size is %zu; it must be sizeof(gpulink_options)",
                              options->size);
    if (options != NULL && !gl_lib__take(&read, sizeof read, options, options->size))
        return gl_lib__refuse(error, "options of a newer version than %s are set", GPULINK_VERSION);
    if (read.headroom == 0)
        read.headroom = GL_HEADROOM;
    if (!(read.headroom >= GL_HEADROOM_MIN && read.headroom <= GL_HEADROOM_MAX))
        return gl_lib__refuse(error, "options.headroom is %g; allowed: %d to %d, 0 for the default",
                              read.headroom, GL_HEADROOM_MIN, GL_HEADROOM_MAX);
    if (read.gpus < 0)
        return gl_lib__refuse(error, "options.gpus is %d; allowed: 0 or more", read.gpus);
    if (read.threads < 0 || read.threads > THREADS_MAX)
        return gl_lib__refuse(error, "options.threads is %d; allowed: 0 to %d", read.threads,
                              THREADS_MAX);
    *out = read;
    return true;
}

/* ---- settings ---- */

static bool read_settings(const char *const *texts, bool cluster, gl_arena *arena,
                          gl_setting **settings, size_t *count, gpulink_error *error)
{
    gl_error err;
    *count = 0;
    while (texts != NULL && texts[*count] != NULL)
        ++*count;
    *settings = GL_ARENA_NEW(arena, gl_setting, *count);
    for (size_t i = 0; i < *count; i++) {
        gl_setting *setting = &(*settings)[i];
        if (!gl_setting_parse("setting", texts[i], arena, setting, &err))
            return gl_lib__fail(error, &err);
        if (gl_setting_is_cluster(setting) != cluster)
            return gl_lib__refuse(error, "setting %.100s belongs to a %s", setting->key,
                                  cluster ? "model: give it to gpulink_model_open"
                                          : "cluster: give it to gpulink_cluster_open");
    }
    return true;
}

/* Closing a file takes away the locks that SQLite holds on it for other threads of the process. */
static pthread_mutex_t files = PTHREAD_MUTEX_INITIALIZER;

static bool refuse_name(const char *what, const char *name, gpulink_error *error)
{
    if (name == NULL)
        return !gl_lib__refuse(error, "the %s is NULL", what);
    if (strcmp(name, "-") == 0)
        return !gl_lib__refuse(error, "the %s is '-': standard input is the program's to read",
                               what);
    return false;
}

/* ---- models ---- */

/* Where a description comes from: a path, or a text with a name. */
typedef struct source {
    const char *path, *text;
    size_t length;
} source;

static bool load_model(gpulink_model *model, const source *from, const char *const *texts,
                       gpulink_error *error)
{
    gl_diagnostics diagnostics = {.count = 0};
    gl_setting *settings;
    size_t count;
    if (!read_settings(texts, false, model->arena, &settings, &count, error))
        return false;
    pthread_mutex_lock(&files);
    bool opened = from->text != NULL
                      ? gl_model_tree_parse(from->path, from->text, from->length, settings, count,
                                            model->arena, &model->tree, &diagnostics)
                      : gl_model_tree_open(from->path, settings, count, model->arena, &model->tree,
                                           &diagnostics);
    opened = opened && gl_model_tree_load(&model->tree, false, model->arena, &model->workload,
                                          &model->notes, &diagnostics);
    pthread_mutex_unlock(&files);
    return opened || gl_lib__fail_all(error, &diagnostics);
}

static gpulink_model *open_model(const source *from, const char *const *settings,
                                 gpulink_error *error)
{
    gl_lib_call call;
    if (!gl_lib__begin(&call, 1, error))
        return NULL;
    gl_arena *arena = gl_arena_create();
    gpulink_model *model = GL_ARENA_NEW(arena, gpulink_model, 1);
    atomic_init(&model->users, 1);
    model->arena = arena;
    if (!load_model(model, from, settings, error)) {
        gl_arena_destroy(arena);
        model = NULL;
    }
    gl_lib__end(&call);
    return model;
}

gpulink_model *gpulink_model_open(const char *path, const char *const *settings,
                                  gpulink_error *error)
{
    if (refuse_name("path", path, error))
        return NULL;
    return open_model(&(source){.path = path}, settings, error);
}

gpulink_model *gpulink_model_parse(const char *name, const char *text, size_t length,
                                   const char *const *settings, gpulink_error *error)
{
    if (refuse_name("name", name, error))
        return NULL;
    if (text == NULL && length > 0) {
        gl_lib__refuse(error, "the text is NULL");
        return NULL;
    }
    return open_model(&(source){name, length > 0 ? text : "", length}, settings, error);
}

gpulink_model *gl_lib__use_model(gpulink_model *model)
{
    atomic_fetch_add(&model->users, 1);
    return model;
}

void gpulink_model_close(gpulink_model *model)
{
    if (model != NULL && atomic_fetch_sub(&model->users, 1) == 1)
        gl_arena_destroy(model->arena);
}

const char *gpulink_model_name(const gpulink_model *model)
{
    return model->workload.model.name;
}

/* ---- clusters ---- */

static bool load_cluster(gpulink_cluster *cluster, const char *name, const char *const *texts,
                         gpulink_error *error)
{
    gl_diagnostics diagnostics = {.count = 0};
    gl_setting *settings;
    size_t count;
    if (!read_settings(texts, true, cluster->arena, &settings, &count, error))
        return false;
    pthread_mutex_lock(&files);
    bool loaded = gl_cluster_load(name, settings, count, cluster->arena, &cluster->cluster,
                                  &cluster->notes, &diagnostics);
    pthread_mutex_unlock(&files);
    return loaded || gl_lib__fail_all(error, &diagnostics);
}

gpulink_cluster *gpulink_cluster_open(const char *name, const char *const *settings,
                                      gpulink_error *error)
{
    gl_lib_call call;
    if (refuse_name("name", name, error) || !gl_lib__begin(&call, 1, error))
        return NULL;
    gl_arena *arena = gl_arena_create();
    gpulink_cluster *cluster = GL_ARENA_NEW(arena, gpulink_cluster, 1);
    atomic_init(&cluster->users, 1);
    cluster->arena = arena;
    if (!load_cluster(cluster, name, settings, error)) {
        gl_arena_destroy(arena);
        cluster = NULL;
    }
    gl_lib__end(&call);
    return cluster;
}

gpulink_cluster *gl_lib__use_cluster(gpulink_cluster *cluster)
{
    atomic_fetch_add(&cluster->users, 1);
    return cluster;
}

void gpulink_cluster_close(gpulink_cluster *cluster)
{
    if (cluster != NULL && atomic_fetch_sub(&cluster->users, 1) == 1)
        gl_arena_destroy(cluster->arena);
}

const char *gpulink_cluster_name(const gpulink_cluster *cluster)
{
    return cluster->cluster.name;
}

int64_t gpulink_cluster_gpus(const gpulink_cluster *cluster)
{
    return (int64_t)cluster->cluster.nodes * cluster->cluster.gpus_per_node;
}

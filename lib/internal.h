/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the library share. */
#ifndef GL_LIB_INTERNAL_H
#define GL_LIB_INTERNAL_H

#include "lib/gpulink.h"
#include "planner/input/planning.h"

#include <locale.h>
#include <stdatomic.h>

struct gpulink_model {
    atomic_int users; /* the caller's handle, plans and evaluators */
    gl_arena *arena;  /* of all that is here */
    gl_yaml_tree tree;
    gl_workload workload;
    gl_texts notes;
};

struct gpulink_cluster {
    atomic_int users;
    gl_arena *arena;
    gl_cluster cluster;
    gl_texts notes;
};

/* Are both there? An error otherwise. */
bool gl_lib__has_both(const gpulink_model *model, const gpulink_cluster *cluster,
                      gpulink_error *error);

/* Counts a user in; the functions that close count one out. */
gpulink_model *gl_lib__use_model(gpulink_model *model);
gpulink_cluster *gl_lib__use_cluster(gpulink_cluster *cluster);

/*
 * A call from outside, which may start `threads` of them: the thread's locale is "C" between begin
 * and end. Fails, and then needs no end, when the memory that the call may take is not to be had.
 */
typedef struct gl_lib_call {
    locale_t plain, before;
} gl_lib_call;

bool gl_lib__begin(gl_lib_call *call, int threads, gpulink_error *error);
void gl_lib__end(gl_lib_call *call);

/* Errors to the outside. All return false. */
bool gl_lib__fail(gpulink_error *error, const gl_error *err);
bool gl_lib__fail_all(gpulink_error *error, const gl_diagnostics *diagnostics);
bool gl_lib__refuse(gpulink_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Copies a structure of `known` bytes into one of `size`: what is not known is zero. */
void gl_lib__give(void *to, size_t size, const void *from, size_t known);

/* The other way: what was not given keeps its value. False: more was given than is known. */
bool gl_lib__take(void *to, size_t known, const void *from, size_t size);

/* The options with their defaults put in; NULL for `options` is all of them. */
bool gl_lib__options(const gpulink_options *options, gpulink_options *out, gpulink_error *error);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the traffic model share: a table under construction. Internal to the core. */
#ifndef GL_CORE_TRAFFIC_BUILDER_H
#define GL_CORE_TRAFFIC_BUILDER_H

#include "planner/core/arithmetic.h"
#include "planner/core/traffic.h"

typedef struct gl_traffic_builder {
    const gl_workload *workload;
    const gl_parameters *parameters;
    const gl_stage *stage;
    const gl_layout *layout;
    gl_arena *arena;
    gl_traffic *out;
    size_t row_capacity, message_capacity;
    int64_t microbatches; /* m */
    int64_t tokens;       /* of one microbatch on one CP rank: s·b/c */
} gl_traffic_builder;

enum { GL_NO_ROW = -1 };

/*
 * Adds `calls` messages of `size_bytes` to the row that is otherwise like `kind` (placement, size
 * and calls are filled in), making it when there is none. A group of one rank, no calls or no bytes
 * make no row. Returns the row's index or GL_NO_ROW.
 */
int gl_traffic__add(gl_traffic_builder *builder, const gl_traffic_row *kind, int64_t size_bytes,
                    int64_t calls);

/* Makes room for so many more messages at once: thousands of small buckets would otherwise leave
 * outgrown arrays behind in the arena. */
void gl_traffic__expect_messages(gl_traffic_builder *builder, size_t count);

/* Appends a message to the schedule's list; nothing when its row is GL_NO_ROW. */
void gl_traffic__message(gl_traffic_builder *builder, int row, const gl_message *message);

/* Bytes of `elements` of a type. */
int64_t gl_traffic__bytes(int64_t elements, gl_dtype dtype);

/* One dimension each. */
void gl_traffic__data_parallel(gl_traffic_builder *builder);
void gl_traffic__tensor_parallel(gl_traffic_builder *builder);
void gl_traffic__pipeline(gl_traffic_builder *builder);
void gl_traffic__context_parallel(gl_traffic_builder *builder);
void gl_traffic__expert_parallel(gl_traffic_builder *builder);
void gl_traffic__embedding(gl_traffic_builder *builder);
void gl_traffic__optimizer(gl_traffic_builder *builder);

#endif

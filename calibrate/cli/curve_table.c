/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/curve_table.h"

#include "calibrate/cli/curve_stats.h"

#include <math.h>

/* In the list of all curves people see what fits on a line; of one curve they see everything. */
static const gl_column curve_columns[] = {
    {.name = "id", .heading = "curve"},
    {.name = "run_id", .heading = "run"},
    {.name = "collective"},
    {.name = "dtype"},
    {.name = "redop", .audience = GL_FOR_MACHINES},
    {.name = "group", .heading = "ranks", .audience = GL_FOR_PEOPLE},
    {.name = "ranks", .audience = GL_FOR_MACHINES},
    {.name = "nodes"},
    {.name = "ranks_per_node", .audience = GL_FOR_MACHINES},
    {.name = "concurrent_groups", .audience = GL_FOR_MACHINES},
    {.name = "transport"},
    {.name = "nics", .audience = GL_FOR_MACHINES},
    {.name = "algorithm", .heading = "algo"},
    {.name = "protocol", .audience = GL_FOR_MACHINES},
    {.name = "in_place", .heading = "in place"},
    {.name = "root", .audience = GL_FOR_MACHINES},
    {.name = "points", .audience = GL_FOR_MACHINES},
    {.name = "smallest_bytes",
     .heading = "from",
     .dimension = GL_BYTES,
     .audience = GL_FOR_MACHINES},
    {.name = "largest_bytes", .heading = "to", .dimension = GL_BYTES},
    {.name = "latency_floor_s", .heading = "latency", .dimension = GL_SECONDS},
    {.name = "plateau_busbw_bytes_per_s", .heading = "plateau busbw", .dimension = GL_BYTES_PER_S},
    {.name = "peak_busbw_bytes_per_s", .dimension = GL_BYTES_PER_S, .audience = GL_FOR_MACHINES},
    {.name = "half_bandwidth_size_bytes", .heading = "half at", .dimension = GL_BYTES},
    {.name = "loo_median", .heading = "LOO", .dimension = GL_FRACTION, .audience = GL_FOR_MACHINES},
    {.name = "dips"},
    {.name = "wrong", .audience = GL_FOR_MACHINES},
};
enum { CURVE_COLUMNS = sizeof curve_columns / sizeof *curve_columns };

/* "4", or "2 x 4": two groups of four at once. */
static gl_cell group_cell(gl_table *table, const gl_placement *placement)
{
    if (placement->concurrent_groups == 1)
        return gl_integer(placement->ranks);
    return gl_text(
        gl_arena_printf(table->arena, "%d x %d", placement->concurrent_groups, placement->ranks));
}

void gl_curve_table_add(gl_table *table, const gl_curve *curve)
{
    gl_curve_stats stats = gl_curve_stats_of(curve);
    size_t count = curve->sample_count;
    gl_cell *cell = gl_table_add_row(table);
    *cell++ = gl_integer(curve->id);
    *cell++ = gl_integer(curve->run_id);
    *cell++ = gl_text(gl_collective_name(curve->collective));
    *cell++ = gl_text(gl_dtype_name(curve->dtype));
    *cell++ = gl_known_text(curve->redop);
    *cell++ = group_cell(table, &curve->placement);
    *cell++ = gl_integer(curve->placement.ranks);
    *cell++ = gl_integer(curve->placement.nodes);
    *cell++ = gl_integer(curve->placement.ranks_per_node);
    *cell++ = gl_integer(curve->placement.concurrent_groups);
    *cell++ = gl_text(gl_transport_name(curve->transport));
    *cell++ = curve->nics > 0 ? gl_integer(curve->nics) : gl_text(NULL);
    *cell++ = gl_known_text(curve->algorithm);
    *cell++ = gl_known_text(curve->protocol);
    *cell++ = gl_boolean(curve->in_place);
    *cell++ = curve->root >= 0 ? gl_integer(curve->root) : gl_text(NULL);
    *cell++ = gl_integer((int64_t)count);
    *cell++ = gl_real(count > 0 ? curve->samples[0].size_bytes : (double)NAN);
    *cell++ = gl_real(count > 0 ? curve->samples[count - 1].size_bytes : (double)NAN);
    *cell++ = gl_real(stats.latency_floor_s);
    *cell++ = gl_real(stats.plateau_busbw_bytes_per_s);
    *cell++ = gl_real(stats.peak_busbw_bytes_per_s);
    *cell++ = gl_real(stats.half_bandwidth_size_bytes);
    *cell++ = gl_real(stats.loo_median);
    *cell++ = gl_integer((int64_t)stats.dips);
    *cell++ = gl_real(stats.wrong);
}

gl_table *gl_curve_table(gl_arena *arena)
{
    return gl_table_create(arena, "curves", "Curves", curve_columns, CURVE_COLUMNS);
}

gl_table *gl_curve_record(gl_arena *arena)
{
    gl_column *columns = GL_ARENA_NEW(arena, gl_column, CURVE_COLUMNS);
    for (int i = 0; i < CURVE_COLUMNS; i++) {
        columns[i] = curve_columns[i];
        if (columns[i].audience == GL_FOR_PEOPLE)
            columns[i].heading = NULL; /* the ranks follow by themselves */
        else
            columns[i].audience = GL_FOR_ALL;
    }
    gl_table *table = gl_table_create(arena, "curves", "Curves", columns, CURVE_COLUMNS);
    table->record = true;
    return table;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was read, told again: the tables model, parallel, training and cluster. */
#include "planner/input/fields.h"
#include "planner/report/plan_parts.h"

#include <math.h>
#include <string.h>

/* Keys end in their unit, as all names for machines do. */
static const char *unit_suffix(const gl_field *field)
{
    if (field->type != GL_FIELD_REAL)
        return "";
    switch (field->dimension) {
    case GL_BYTES:
        return "_bytes";
    case GL_BYTES_PER_S:
        return "_bytes_per_s";
    case GL_SECONDS:
        return "_s";
    case GL_FRACTION:
        return "_frac";
    default:
        return "";
    }
}

/* "model.attention.q_lora" → "attention_q_lora" when `section` is "model". */
static const char *field_key(const gl_field *field, size_t skip, gl_arena *arena)
{
    char *key = gl_arena_printf(arena, "%s%s", field->path + skip, unit_suffix(field));
    for (char *c = key; *c != '\0'; c++)
        if (*c == '.')
            *c = '_';
    return key;
}

static bool in_section(const gl_field *field, const char *section)
{
    size_t length = strlen(section);
    return strncmp(field->path, section, length) == 0 && field->path[length] == '.' &&
           field->type != GL_FIELD_SPECIAL;
}

typedef struct echo {
    gl_column *columns;
    gl_cell *cells;
    size_t count, column_capacity, cell_capacity;
    gl_arena *arena;
} echo;

static void echo_add(echo *list, const char *name, gl_cell cell)
{
    list->columns = gl_arena_grow(list->arena, list->columns, &list->column_capacity,
                                  list->count + 1, sizeof *list->columns);
    list->cells = gl_arena_grow(list->arena, list->cells, &list->cell_capacity, list->count + 1,
                                sizeof *list->cells);
    list->columns[list->count] = (gl_column){name, NULL, GL_NUMBER, GL_FOR_MACHINES};
    list->cells[list->count++] = cell;
}

/* Adds the fields of a section; `prefixed` keeps the section's name in the keys. */
static void echo_section(echo *list, const gl_workload *workload, const char *section,
                         bool prefixed)
{
    for (const gl_field *field = gl_model_fields; field->path != NULL; field++)
        if (in_section(field, section))
            echo_add(list, field_key(field, prefixed ? 0 : strlen(section) + 1, list->arena),
                     gl_field_cell(field, workload, list->arena));
}

static gl_table *echo_table(const echo *list, const char *name, const char *title)
{
    gl_table *table = gl_table_create(list->arena, name, title, list->columns, list->count);
    table->record = true;
    memcpy(gl_table_add_row(table), list->cells, list->count * sizeof *list->cells);
    return table;
}

/* What was counted, beside what was said. */
gl_table *gl_plan_model_table(const gl_plan_context *c)
{
    const gl_parameters *parameters = &c->plan->parameters;
    echo list = {.arena = c->arena};
    echo_section(&list, c->plan->workload, "model", false);
    echo_add(&list, "parameters_counted", gl_integer(parameters->total));
    echo_add(&list, "parameters_active", gl_integer(parameters->active));
    echo_add(&list, "parameters_exact", gl_boolean(parameters->exact));
    return echo_table(&list, "model", "Model");
}

gl_table *gl_plan_parallel_table(const gl_plan_context *c)
{
    echo list = {.arena = c->arena};
    echo_section(&list, c->plan->workload, "parallel", false);
    echo_add(&list, "ranks", gl_integer(gl_workload_ranks(c->plan->workload)));
    return echo_table(&list, "parallel", "Parallel layout");
}

gl_table *gl_plan_training_table(const gl_plan_context *c)
{
    static const char *const sections[] = {"batch",  "precision", "buckets", "overlap",
                                           "target", "compute",   "training"};
    echo list = {.arena = c->arena};
    for (size_t i = 0; i < COUNT(sections); i++)
        echo_section(&list, c->plan->workload, sections[i], true);
    echo_add(&list, "microbatches", gl_integer(gl_workload_microbatches(c->plan->workload)));
    return echo_table(&list, "training", "Training");
}

static const char *link_name(const gl_tier *tier)
{
    return tier->link != NULL ? tier->link->name : NULL;
}

#define CLUSTER(X)                                                                                 \
    X("name", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(cluster->name))                            \
    X("gpu", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gpu != NULL ? gpu->name : NULL))            \
    X("nodes", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(cluster->nodes))                       \
    X("gpus_per_node", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(cluster->gpus_per_node))       \
    X("gpus", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(gpus))                                  \
    X("intra_node_link", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(link_name(&cluster->intra)))    \
    X("intra_node_calibration", NULL, GL_NUMBER, GL_FOR_MACHINES,                                  \
      gl_text(cluster->intra.calibration))                                                         \
    X("domain_gpus", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(gl_cluster_domain(cluster)))     \
    X("outside_link", NULL, GL_NUMBER, GL_FOR_MACHINES,                                            \
      gl_text(cluster->outside != NULL ? cluster->outside->name : NULL))                           \
    X("inter_node_link", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(link_name(&cluster->inter)))    \
    X("inter_node_calibration", NULL, GL_NUMBER, GL_FOR_MACHINES,                                  \
      gl_text(cluster->inter.calibration))                                                         \
    X("nics_per_node", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(cluster->nics_per_node))       \
    X("fabric", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                  \
      gl_text(cluster->nodes > 1 ? gl_fabric_names[cluster->fabric] : NULL))                       \
    X("oversubscription", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(cluster->oversubscription))    \
    X("core_oversubscription", NULL, GL_NUMBER, GL_FOR_MACHINES,                                   \
      gl_real(cluster->core_oversubscription))                                                     \
    X("radix", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                   \
      cluster->radix > 0 ? gl_integer(cluster->radix) : (gl_cell){.type = GL_CELL_EMPTY})          \
    X("in_network_reduction", NULL, GL_NUMBER, GL_FOR_MACHINES,                                    \
      gl_boolean(cluster->in_network_reduction))                                                   \
    X("sites", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(several ? sites->count : 1))           \
    X("site_bw_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                                \
      gl_real(several ? sites->bw_bytes_per_s : (double)NAN))                                      \
    X("site_latency_s", NULL, GL_SECONDS, GL_FOR_MACHINES,                                         \
      gl_real(several ? sites->latency_s : (double)NAN))

gl_table *gl_plan_cluster_table(const gl_plan_context *c)
{
    static const gl_column columns[] = {CLUSTER(AS_COLUMN)};
    const gl_cluster *cluster = c->plan->cluster;
    const gl_gpu *gpu = cluster->gpu;
    const gl_sites *sites = &cluster->sites;
    bool several = sites->count > 1;
    int64_t gpus = (int64_t)cluster->nodes * cluster->gpus_per_node;
    gl_table *table = gl_table_create(c->arena, "cluster", "Cluster", columns, COUNT(columns));
    table->record = true;
    gl_cell *cell = gl_table_add_row(table);
    CLUSTER(AS_CELL)
    return table;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/commands.h"
#include "calibrate/cli/curve_stats.h"
#include "calibrate/cli/curve_table.h"
#include "calibrate/cli/export.h"
#include "calibrate/measure/write_lock.h"
#include "common/output_options.h"
#include "common/store/store.h"

#include <math.h>
#include <string.h>

typedef struct options {
    gl_output_options output;
    long long curve; /* 0 = none */
    bool tuner, nccl_tests;
} options;

static const gl_option option_table[] = {
    {"curve", 0, GL_OPTION_INTEGER, "ID", "Show the samples of this curve.",
     offsetof(options, curve), 0, 1, 9e15, NULL},
    {"tuner", 0, GL_OPTION_FLAG, NULL,
     "Print the fastest algorithms and protocols for NCCL's example tuner plugin; needs curves of "
     "forced algorithms.",
     offsetof(options, tuner), 0, 0, 0, NULL},
    {"nccl-tests", 0, GL_OPTION_FLAG, NULL,
     "Print the commands of nccl-tests that measure the same curves.",
     offsetof(options, nccl_tests), 0, 0, 0, NULL},
    GL_OUTPUT_OPTIONS(
        options, output, GL_REPORT_FORMATS, 0,
        "Only this table: runs, curves, compute, overlap, topology; with --curve samples."),
    {0}};

/* ---- tables ---- */

/* A run that says it goes on, in a file that nobody measures into, was cut off. */
static const char *state_name(gl_run_state state, bool measured_now)
{
    bool cut_off = state == GL_RUN_RUNNING && !measured_now;
    return gl_run_state_name(cut_off ? GL_RUN_INTERRUPTED : state);
}

static const gl_column run_columns[] = {
    {.name = "id", .heading = "run"},
    {.name = "label"},
    {.name = "source"},
    {.name = "state"},
    {.name = "started_at", .heading = "measured"},
    {.name = "recorded_at", .audience = GL_FOR_MACHINES},
    {.name = "tool"},
    {.name = "tool_version", .heading = "version"},
    {.name = "backend", .audience = GL_FOR_MACHINES},
    {.name = "host", .audience = GL_FOR_MACHINES},
    {.name = "gpu", .heading = "GPU"},
    {.name = "driver_version", .audience = GL_FOR_MACHINES},
    {.name = "cuda_version", .audience = GL_FOR_MACHINES},
    {.name = "nccl_version", .heading = "NCCL"},
    {.name = "environment", .audience = GL_FOR_MACHINES},
    {.name = "parameters", .audience = GL_FOR_MACHINES},
    {.name = "warnings", .audience = GL_FOR_MACHINES},
};

static gl_table *run_table(gl_arena *arena, const gl_catalog *catalog, bool measured_now)
{
    gl_table *table = gl_table_create(arena, "runs", "Runs", run_columns,
                                      sizeof run_columns / sizeof *run_columns);
    for (size_t i = 0; i < catalog->run_count; i++) {
        const gl_run *run = &catalog->runs[i];
        const char *texts[] = {
            run->label,        run->source,         state_name(run->state, measured_now),
            run->started_at,   run->recorded_at,    run->tool,
            run->tool_version, run->backend,        run->host,
            run->gpu,          run->driver_version, run->cuda_version,
            run->nccl_version, run->environment,    run->parameters,
            run->warnings};
        gl_cell *cell = gl_table_add_row(table);
        *cell++ = gl_integer(run->id);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            *cell++ = gl_known_text(texts[k]);
    }
    return table;
}

static const gl_column sample_columns[] = {
    {.name = "size_bytes", .heading = "size", .dimension = GL_BYTES},
    {.name = "iterations"},
    {.name = "time_median_s", .heading = "time", .dimension = GL_SECONDS},
    {.name = "time_p05_s", .heading = "p05", .dimension = GL_SECONDS},
    {.name = "time_p95_s", .heading = "p95", .dimension = GL_SECONDS},
    {.name = "time_min_s", .heading = "least", .dimension = GL_SECONDS},
    {.name = "algbw_bytes_per_s", .heading = "algbw", .dimension = GL_BYTES_PER_S},
    {.name = "busbw_bytes_per_s", .heading = "busbw", .dimension = GL_BYTES_PER_S},
    {.name = "dip"},
    {.name = "wrong"},
};

static gl_table *sample_table(gl_arena *arena, const gl_curve *curve)
{
    gl_table *table = gl_table_create(arena, "samples", "Samples", sample_columns,
                                      sizeof sample_columns / sizeof *sample_columns);
    for (size_t i = 0; i < curve->sample_count; i++) {
        const gl_sample *sample = &curve->samples[i];
        gl_cell *cell = gl_table_add_row(table);
        *cell++ = gl_real(sample->size_bytes);
        *cell++ = sample->iterations > 0 ? gl_integer(sample->iterations) : gl_text(NULL);
        *cell++ = gl_real(sample->time_median_s);
        *cell++ = gl_real(sample->time_p05_s);
        *cell++ = gl_real(sample->time_p95_s);
        *cell++ = gl_real(sample->time_min_s);
        *cell++ = gl_real(gl_curve_algbw(sample));
        *cell++ = gl_real(gl_curve_busbw(curve, sample));
        *cell++ = gl_boolean(gl_curve_is_dip(curve, i));
        *cell++ = gl_real(sample->wrong);
    }
    return table;
}

static const gl_column compute_columns[] = {
    {.name = "run_id", .heading = "run"},
    {.name = "kind"},
    {.name = "dtype"},
    {.name = "m"},
    {.name = "n"},
    {.name = "k"},
    {.name = "time_s", .heading = "time", .dimension = GL_SECONDS},
    {.name = "time_p95_s", .heading = "p95", .dimension = GL_SECONDS},
    {.name = "rate_flop_per_s", .heading = "rate", .dimension = GL_FLOP_PER_S},
    {.name = "rate_bytes_per_s", .heading = "rate", .dimension = GL_BYTES_PER_S},
};

static gl_table *compute_table(gl_arena *arena, const gl_catalog *catalog)
{
    gl_table *table = gl_table_create(arena, "compute", "Compute rates", compute_columns,
                                      sizeof compute_columns / sizeof *compute_columns);
    for (size_t i = 0; i < catalog->compute_count; i++) {
        const gl_compute_rate *rate = &catalog->compute[i];
        bool gemm = strcmp(rate->kind, "gemm") == 0, memory = strcmp(rate->kind, "memory") == 0;
        double flop = 2.0 * (double)rate->m * (double)rate->n * (double)rate->k;
        gl_cell *cell = gl_table_add_row(table);
        *cell++ = gl_integer(rate->run_id);
        *cell++ = gl_text(rate->kind);
        *cell++ = gl_text(gl_dtype_name(rate->dtype));
        *cell++ = gl_integer(rate->m);
        *cell++ = gl_integer(rate->n);
        *cell++ = gl_integer(rate->k);
        *cell++ = gl_real(rate->time_s);
        *cell++ = gl_real(rate->time_p95_s);
        *cell++ = gl_real(gemm ? flop / rate->time_s : (double)NAN);
        *cell++ = gl_real(memory ? (double)rate->m / rate->time_s : (double)NAN);
    }
    return table;
}

static const gl_column overlap_columns[] = {
    {.name = "run_id", .heading = "run"},
    {.name = "transport"},
    {.name = "collective"},
    {.name = "size_bytes", .heading = "size", .dimension = GL_BYTES},
    {.name = "gemm_m", .heading = "m"},
    {.name = "gemm_n", .heading = "n"},
    {.name = "gemm_k", .heading = "k"},
    {.name = "compute_alone_s", .heading = "compute", .dimension = GL_SECONDS},
    {.name = "communication_alone_s", .heading = "communication", .dimension = GL_SECONDS},
    {.name = "together_s", .heading = "together", .dimension = GL_SECONDS},
    {.name = "tax", .heading = "tax", .dimension = GL_FRACTION},
};

/* Tax: what a second of hidden communication costs all the same. */
static gl_table *overlap_table(gl_arena *arena, const gl_catalog *catalog)
{
    gl_table *table =
        gl_table_create(arena, "overlap", "Overlap of compute and communication", overlap_columns,
                        sizeof overlap_columns / sizeof *overlap_columns);
    for (size_t i = 0; i < catalog->overlap_count; i++) {
        const gl_overlap_rate *rate = &catalog->overlap[i];
        double longer = fmax(rate->compute_alone_s, rate->communication_alone_s);
        double shorter = fmin(rate->compute_alone_s, rate->communication_alone_s);
        gl_cell *cell = gl_table_add_row(table);
        *cell++ = gl_integer(rate->run_id);
        *cell++ = gl_text(gl_transport_name(rate->transport));
        *cell++ = gl_text(gl_collective_name(rate->collective));
        *cell++ = gl_real(rate->size_bytes);
        *cell++ = gl_integer(rate->m);
        *cell++ = gl_integer(rate->n);
        *cell++ = gl_integer(rate->k);
        *cell++ = gl_real(rate->compute_alone_s);
        *cell++ = gl_real(rate->communication_alone_s);
        *cell++ = gl_real(rate->together_s);
        *cell++ = gl_real((rate->together_s - longer) / shorter);
    }
    return table;
}

static const gl_column topology_columns[] = {
    {.name = "run_id", .heading = "run"},
    {.name = "kind"},
    {.name = "length_bytes", .heading = "length", .dimension = GL_BYTES, .audience = GL_FOR_PEOPLE},
    {.name = "text", .audience = GL_FOR_MACHINES},
};

static gl_table *topology_table(gl_arena *arena, const gl_topology *texts, size_t count)
{
    gl_table *table = gl_table_create(arena, "topology", "Texts of the machine", topology_columns,
                                      sizeof topology_columns / sizeof *topology_columns);
    for (size_t i = 0; i < count; i++) {
        gl_cell *cell = gl_table_add_row(table);
        *cell++ = gl_integer(texts[i].run_id);
        *cell++ = gl_text(texts[i].kind);
        *cell++ = gl_integer((int64_t)strlen(texts[i].text));
        *cell++ = gl_text(texts[i].text);
    }
    return table;
}

/* ---- scenarios ---- */

static void add_table(gl_scenario *scenario, gl_table *table)
{
    scenario->tables[scenario->table_count++] = table;
}

/* Each line of the runs' warnings, with the run in front. */
static void collect_warnings(gl_arena *arena, const gl_catalog *catalog, int64_t only_run,
                             gl_scenario *scenario)
{
    size_t capacity = 0;
    for (size_t i = 0; i < catalog->run_count; i++) {
        const gl_run *run = &catalog->runs[i];
        for (const char *text = run->warnings;
             *text != '\0' && (only_run == 0 || only_run == run->id);) {
            size_t length = strcspn(text, "\n");
            scenario->warnings =
                gl_arena_grow(arena, scenario->warnings, &capacity, scenario->warning_count + 1,
                              sizeof *scenario->warnings);
            scenario->warnings[scenario->warning_count++] =
                gl_arena_printf(arena, "run %lld: %.*s", (long long)run->id, (int)length, text);
            text += length + (text[length] == '\n');
        }
    }
}

static bool show_all(gl_store *store, gl_arena *arena, gl_catalog *catalog, bool measured_now,
                     gl_scenario *scenario, gl_error *err)
{
    gl_topology *texts;
    size_t text_count;
    gl_table *curves = gl_curve_table(arena);
    for (size_t i = 0; i < catalog->curve_count; i++) {
        if (!gl_store_read_samples(store, arena, &catalog->curves[i], err))
            return false;
        gl_curve_table_add(curves, &catalog->curves[i]);
    }
    if (!gl_store_read_topology(store, arena, &texts, &text_count, err))
        return false;
    add_table(scenario, run_table(arena, catalog, measured_now));
    add_table(scenario, curves);
    add_table(scenario, compute_table(arena, catalog));
    add_table(scenario, overlap_table(arena, catalog));
    add_table(scenario, topology_table(arena, texts, text_count));
    collect_warnings(arena, catalog, 0, scenario);
    scenario->headline = gl_arena_printf(arena,
                                         "%zu runs, %zu curves, %zu compute rates, %zu "
                                         "overlap rates",
                                         catalog->run_count, catalog->curve_count,
                                         catalog->compute_count, catalog->overlap_count);
    return true;
}

static bool show_curve(gl_store *store, gl_arena *arena, const char *path, gl_catalog *catalog,
                       int64_t id, gl_scenario *scenario, gl_error *err)
{
    size_t i = 0;
    while (i < catalog->curve_count && catalog->curves[i].id != id)
        i++;
    if (i == catalog->curve_count)
        return gl_fail_at(err, GL_ERROR_USAGE, &(gl_mark){.file = path}, NULL,
                          "there is no curve %lld; it has %zu curves (see gpulink-calibrate show)",
                          (long long)id, catalog->curve_count);
    gl_curve *curve = &catalog->curves[i];
    if (!gl_store_read_samples(store, arena, curve, err))
        return false;
    gl_table *table = gl_curve_record(arena);
    gl_curve_table_add(table, curve);
    add_table(scenario, table);
    add_table(scenario, sample_table(arena, curve));
    collect_warnings(arena, catalog, curve->run_id, scenario);
    return true;
}

/* ---- output ---- */

static bool write_text(const char *text, const options *o, gl_error *err)
{
    gl_output *out;
    if (!gl_output_open(o->output.output, &out, err))
        return false;
    gl_output_puts(out, text);
    return gl_output_close(out, err);
}

/* Texts for other programs instead of tables. */
static bool export_text(gl_store *store, gl_arena *arena, const gl_catalog *catalog,
                        const options *o, gl_error *err)
{
    for (size_t i = 0; i < catalog->curve_count; i++)
        if (!gl_store_read_samples(store, arena, &catalog->curves[i], err))
            return false;
    const char *text =
        o->tuner ? gl_export_tuner(arena, catalog, err) : gl_export_nccl_tests(arena, catalog, err);
    return text != NULL && write_text(text, o, err);
}

static bool show(const char *path, const options *o, gl_arena *arena, gl_error *err)
{
    gl_store *store;
    gl_catalog catalog;
    gl_table *tables[8];
    gl_scenario scenario = {.name = path, .tables = tables};
    const gl_report report = {.scenarios = &scenario, .scenario_count = 1};
    bool measured_now = gl_write_lock_held(path); /* before the file is opened: see there */
    if (!gl_store_open(path, &store, err))
        return false;
    bool exports = o->tuner || o->nccl_tests;
    bool ok = gl_store_read_catalog(store, arena, &catalog, err) &&
              (exports        ? export_text(store, arena, &catalog, o, err)
               : o->curve > 0 ? show_curve(store, arena, path, &catalog, o->curve, &scenario, err)
                              : show_all(store, arena, &catalog, measured_now, &scenario, err));
    gl_store_close(store);
    const char *doubt = ok && !exports ? gl_output_ending_doubt(&o->output, arena) : NULL;
    if (doubt != NULL)
        gl_calibrate_say_lines("warning: ", doubt);
    return ok && (exports ||
                  gl_output_render(&o->output, &report, o->curve > 0 ? "samples" : "curves", err));
}

static bool check(options *o, gl_error *err)
{
    if (o->tuner + o->nccl_tests + (o->curve > 0) > 1)
        return gl_fail(err, GL_ERROR_USAGE,
                       "only one of --tuner, --nccl-tests and --curve can be answered at a time");
    if (!o->tuner && !o->nccl_tests)
        return gl_output_options_check(&o->output, NULL, err);
    return (o->output.format_name == NULL && o->output.table == NULL) ||
           gl_fail(err, GL_ERROR_USAGE,
                   "--tuner and --nccl-tests print text for other programs: --format and --table "
                   "do not go with them");
}

static int run_show(int argc, char **argv, gl_arena *arena)
{
    options o = {0};
    gl_texts files = {0};
    gl_error err;
    int status;
    if (!gl_calibrate_parse(&gl_calibrate_show, argc, argv, arena, &o, &files, &status))
        return status;
    return check(&o, &err) && show(files.items[0], &o, arena, &err)
               ? GL_OK
               : gl_calibrate_report(&gl_calibrate_show, &err);
}

const gl_command gl_calibrate_show = {
    .name = "show",
    .synopsis = "FILE.db [--curve ID] [options]",
    .summary = "what a database holds: runs, curves, rates, warnings",
    .examples = "gpulink-calibrate show lab.db\n"
                "gpulink-calibrate show lab.db --curve 1 --format csv\n"
                "gpulink-calibrate show lab.db --tuner --output nccl_tuner.conf",
    .options = option_table,
    .minimum_arguments = 1,
    .maximum_arguments = 1,
    .run = run_show};

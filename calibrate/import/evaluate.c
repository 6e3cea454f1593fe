/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/evaluation.h"

#include "common/order.h"
#include "common/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool(gl_evaluation__refuse)(gl_evaluation *e, int line, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const gl_mark mark = {.file = e->path, .line = line > 0 ? line : e->parsed->line, .column = 1};
    return gl_fail_at(e->err, GL_ERROR_INPUT, &mark, NULL, "%s", message);
}

void gl_evaluation__warn(gl_evaluation *e, const char *format, ...)
{
    char message[512];
    va_list args;
    if (e->warning_count == sizeof e->warnings / sizeof *e->warnings)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    e->warnings[e->warning_count++] = gl_arena_strdup(e->arena, message);
}

double gl_evaluation__time(const gl_evaluation *e, const gl_parsed_row *row)
{
    return e->time_scale == 1 ? row->time.value : gl_parsed_scale(row->time.value, e->time_scale);
}

const char *gl_evaluate_source(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* ---- what is no measurement at all ---- */

static bool is_one_rank(const gl_parsed_run *run)
{
    bool any = false;
    for (size_t i = 0; i < run->row_count; i++) {
        const gl_parsed_row *row = &run->rows[i];
        if (row->busbw.value > 0)
            return false;
        any = any || (row->busbw.value == 0 && row->algbw.value > 10 * row->algbw.error &&
                      row->algbw.value > 0);
    }
    return any;
}

static bool check_kind(gl_evaluation *e)
{
    const gl_parsed_run *run = e->parsed;
    if (run->row_count == 0 && run->failure != NULL)
        return gl_evaluation__refuse(e, 0, "INCOMPLETE: the run stopped before its first row: %s",
                                     run->failure);
    if (run->row_count == 0)
        return gl_evaluation__refuse(e, 0, "INCOMPLETE: the run has no complete row");
    if (run->cpu_time)
        return gl_evaluation__refuse(
            e, 0,
            "the times are CPU times (-C 1), which do not say how long the communication "
            "took; measure again without -C");
    if (is_one_rank(run))
        return gl_evaluation__refuse(
            e, 0,
            "one rank alone (busbw is 0): nothing was communicated; if it was started by "
            "mpirun or srun, rebuild nccl-tests with MPI=1");
    return true;
}

/* ---- rows ---- */

/* Does size / time give algbw, within what was printed? `scale` turns the time into seconds. */
static bool row_agrees(const gl_parsed_row *row, double scale)
{
    double time = row->time.value * scale, time_error = row->time.error * scale;
    if (!(time > time_error) || !isfinite(row->algbw.value))
        return false;
    double low = row->size_bytes / (time + time_error),
           high = row->size_bytes / (time - time_error);
    double slack = row->algbw.error * 1.01 + 0.002 * row->algbw.value;
    return row->algbw.value >= low - slack && row->algbw.value <= high + slack;
}

static bool is_usable(const gl_parsed_row *row)
{
    return row->size_bytes >= 1 && row->size_bytes <= 9007199254740992.0 &&
           row->size_bytes == floor(row->size_bytes) && row->time.value > 0 &&
           isfinite(row->time.value);
}

static size_t count_agreeing(const gl_evaluation *e, double scale, size_t *usable,
                             const gl_parsed_row **odd)
{
    size_t agreeing = 0;
    *usable = 0;
    *odd = NULL;
    for (size_t i = 0; i < e->parsed->row_count; i++) {
        const gl_parsed_row *row = &e->parsed->rows[i];
        if (!is_usable(row))
            continue;
        ++*usable;
        if (row_agrees(row, scale))
            agreeing++;
        else if (*odd == NULL || row->size_bytes > (*odd)->size_bytes)
            *odd = row;
    }
    return agreeing;
}

/* Sizes of zero are part of every table; other values without a size or a time are lost, and said.
 */
static void warn_unusable(gl_evaluation *e)
{
    size_t count = 0;
    for (size_t i = 0; i < e->parsed->row_count; i++)
        count += e->parsed->rows[i].size_bytes != 0 && !is_usable(&e->parsed->rows[i]);
    if (count > 0)
        gl_evaluation__warn(e, "%zu values left out: size or time is no number above zero", count);
}

/* algbw is size / time by definition: rows where it is not are mangled, and a table full of them
 * is not what nccl-tests printed. */
static bool check_rows(gl_evaluation *e)
{
    size_t usable;
    const gl_parsed_row *odd;
    size_t agreeing = count_agreeing(e, 1, &usable, &odd);
    e->time_scale = 1;
    if (e->parsed->old_header && agreeing * 2 < usable) {
        e->time_scale = 1000;
        agreeing = count_agreeing(e, e->time_scale, &usable, &odd);
    }
    if (usable == 0)
        return gl_evaluation__refuse(e, 0, "no row has a size and a time above zero");
    if (odd != NULL && (usable - agreeing) * 10 > usable)
        return gl_evaluation__refuse(
            e, odd->line,
            "size / time is %.3g GB/s but algbw says %.3g GB/s, and so in %zu of %zu rows: the "
            "table was edited, or is older than June 2020, when all_gather and reduce_scatter "
            "counted otherwise",
            odd->size_bytes / gl_evaluation__time(e, odd) / GL_GIGA, odd->algbw.value / GL_GIGA,
            usable - agreeing, usable);
    for (size_t i = 0; i < e->parsed->row_count; i++) {
        const gl_parsed_row *row = &e->parsed->rows[i];
        e->use[i] = is_usable(row) && row_agrees(row, e->time_scale);
    }
    warn_unusable(e);
    if (odd != NULL)
        gl_evaluation__warn(e,
                            "%zu of %zu values left out: size / time is not algbw (line %d "
                            "first or largest)",
                            usable - agreeing, usable, odd->line);
    return true;
}

/* The mean of the rows must be the footer's: it reveals rows that are missing. */
static void check_average(gl_evaluation *e)
{
    const gl_parsed_run *run = e->parsed;
    if (run->average_count == 0) {
        gl_evaluation__warn(e, "no \"Avg bus bandwidth\" line: the run was cut short, or its text");
        return;
    }
    if (run->busbw_count == 0 || !isfinite(run->average_busbw.value))
        return;
    double mean = run->busbw_sum / (double)run->busbw_count;
    double error = run->busbw_error_sum / (double)run->busbw_count + run->average_busbw.error;
    if (fabs(mean - run->average_busbw.value) > error * 1.01 + 1e-5 * mean)
        gl_evaluation__warn(e,
                            "rows are missing or changed: the %zu bus bandwidths average %.6g "
                            "GB/s, the \"Avg bus bandwidth\" line says %.6g GB/s",
                            run->busbw_count, mean / GL_GIGA, run->average_busbw.value / GL_GIGA);
}

static void check_results(gl_evaluation *e)
{
    const gl_parsed_run *run = e->parsed;
    double wrong = 0;
    size_t rows = 0, uncounted = 0;
    for (size_t i = 0; i < run->row_count; i++) {
        uncounted += isinf(run->rows[i].wrong) ? 1 : 0;
        if (run->rows[i].wrong > 0 && isfinite(run->rows[i].wrong)) {
            wrong += run->rows[i].wrong;
            rows++;
        }
    }
    if (rows > 0)
        gl_evaluation__warn(e, GL_VALIDATION_FAILED ": %.6g wrong elements in %zu values", wrong,
                            rows);
    else if (run->check_failed || run->out_of_bounds > 0)
        gl_evaluation__warn(e, GL_VALIDATION_FAILED ": %.6g values out of bounds",
                            run->out_of_bounds);
    if (uncounted > 0)
        gl_evaluation__warn(e, GL_VALIDATION_FAILED ": the check of %zu values gave no count",
                            uncounted);
    if (run->min_bw_failed)
        gl_evaluation__warn(e, "the test's own minimum bandwidth (NCCL_TESTS_MIN_BW) was missed");
    if (run->torn_rows > 0)
        gl_evaluation__warn(e, "%zu rows were torn by other output and could not be completed",
                            run->torn_rows);
    if (run->failure != NULL)
        gl_evaluation__warn(e, "INCOMPLETE: %s", run->failure);
}

/* ---- the run ---- */

static const char *environment_text(const gl_evaluation *e)
{
    const gl_nccl_log *log = &e->parsed->log;
    const char *sorted[GL_NCCL_LOG_ENVIRONMENT_MAX];
    memcpy(sorted, log->environment, log->environment_count * sizeof *sorted);
    qsort(sorted, log->environment_count, sizeof *sorted, gl_compare_texts);
    return gl_arena_join(e->arena, sorted, log->environment_count, "\n");
}

static const char *parameters_text(const gl_evaluation *e)
{
    const gl_parsed_run *run = e->parsed;
    const struct {
        const char *name;
        int value;
    } items[] = {{"iters", run->iterations},
                 {"warmup", run->warmup},
                 {"agg iters", run->aggregated},
                 {"validation", run->validation},
                 {"graph", run->graph}};
    char text[256] = "";
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (items[i].value >= 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s %d, ", items[i].name,
                     items[i].value);
    return gl_arena_printf(e->arena, "%stime over ranks: %s%s", text,
                           run->averaging[0] != '\0' ? run->averaging : "not stated",
                           run->per_iteration ? ", per-iteration report" : "");
}

static const char *gpu_name(gl_evaluation *e)
{
    const gl_parsed_run *run = e->parsed;
    if (e->options->gpu != NULL)
        return e->options->gpu;
    for (size_t i = 1; i < run->device_count; i++) {
        if (strcmp(run->devices[i].gpu, run->devices[0].gpu) != 0) {
            gl_evaluation__warn(e, "the ranks have different GPUs: %s and %s", run->devices[0].gpu,
                                run->devices[i].gpu);
            break;
        }
    }
    return run->device_count > 0 ? run->devices[0].gpu : "";
}

static const char *nccl_version(gl_evaluation *e)
{
    const char *header = e->parsed->nccl_version, *log = e->parsed->log.nccl_version;
    if (log[0] == '\0')
        return header;
    if (header[0] != '\0' && strcmp(header, log) != 0)
        gl_evaluation__warn(e, "NCCL %s by its own log, %s by the version line", log, header);
    return log;
}

const char *gl_evaluate_name(gl_arena *arena, const char *text)
{
    char buffer[512];
    return gl_arena_strdup(arena, gl_printable(text != NULL ? text : "", buffer, sizeof buffer));
}

static void fill_run(gl_evaluation *e, gl_run *run)
{
    const gl_parsed_run *parsed = e->parsed;
    *run = (gl_run){.started_at = parsed->started_at,
                    .recorded_at = e->options->recorded_at,
                    .tool = parsed->tool,
                    .tool_version = parsed->tool_version,
                    .backend = parsed->backend,
                    .driver_version = "",
                    .cuda_version = parsed->log.cuda_version};
    run->host = e->options->keep_host && parsed->host_count > 0
                    ? gl_evaluate_name(e->arena, parsed->hosts[0])
                    : "";
    run->gpu = gl_evaluate_name(e->arena, gpu_name(e));
    run->nccl_version = nccl_version(e);
    run->environment = environment_text(e);
    run->source = gl_evaluate_name(e->arena, gl_evaluate_source(e->path));
    run->label = gl_evaluate_name(e->arena, e->options->label);
    run->parameters = parameters_text(e);
    /* A footer means that the table is whole, even if a launcher complained afterwards. */
    run->state =
        parsed->average_count > 0 && parsed->failure == NULL ? GL_RUN_COMPLETE : GL_RUN_INTERRUPTED;
    run->warnings =
        gl_arena_join(e->arena, (const char *const *)e->warnings, e->warning_count, "\n");
}

bool gl_evaluate_run(const gl_parsed_run *parsed, const char *path,
                     const gl_import_options *options, gl_arena *arena, gl_import_run *run,
                     gl_error *err)
{
    gl_evaluation e = {
        .parsed = parsed, .options = options, .path = path, .arena = arena, .err = err};
    gl_import_run read = {0};
    if (!check_kind(&e))
        return false;
    e.use = GL_ARENA_NEW(arena, bool, parsed->row_count);
    check_results(&e);
    check_average(&e);
    if (!check_rows(&e) || !gl_evaluation__collective(&e) || !gl_evaluation__placement(&e) ||
        !gl_evaluation__transport(&e) || !gl_evaluation__curves(&e, &read))
        return false;
    fill_run(&e, &read.run);
    *run = read;
    return true;
}

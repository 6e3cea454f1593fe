/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/nccl_json.h"

#include "common/order.h"
#include "common/quantile.h"
#include "common/text.h"

#include <jansson.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLAGS = JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, DEPTH_MAX = 64 };

/* ---- documents that end early ---- */

/* What was open at a place in the text. */
typedef struct place {
    size_t length; /* of the text up to it */
    char open[DEPTH_MAX];
    int depth;
} place;

/*
 * The last place after which the document can be closed without losing anything complete: behind
 * a ',' between two results, or between two members of the top level. Everything after it is
 * dropped.
 */
static bool find_cut(const char *text, size_t length, place *cut)
{
    place now = {0};
    bool in_text = false, found = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (in_text) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_text = false;
        } else if (c == '"') {
            in_text = true;
        } else if (c == '{' || c == '[') {
            if (now.depth == DEPTH_MAX)
                return false;
            now.open[now.depth++] = c == '{' ? '}' : ']';
        } else if (c == '}' || c == ']') {
            if (now.depth == 0 || now.open[--now.depth] != c)
                return false;
        }
        /* A result is an object at depth 3: {"results":[{…}; top-level members are at depth 1. */
        bool closes_result = (c == '}' || c == ']') && !in_text && now.depth <= 2;
        bool ends_member = c == ',' && !in_text && now.depth == 1;
        if (closes_result || ends_member) {
            *cut = now;
            cut->length = ends_member ? i : i + 1;
            found = true;
        }
    }
    return found;
}

/* jansson names no reason when memory ends while it parses, and a line when the document is bad. */
static json_t *parse(const char *text, size_t length, json_error_t *error)
{
    json_t *root = json_loadb(text, length, FLAGS, error);
    if (root == NULL &&
        (error->text[0] == '\0' || json_error_code(error) == json_error_out_of_memory))
        gl_memory_checked(NULL);
    return root;
}

static json_t *load_truncated(const char *text, size_t length)
{
    place cut;
    json_error_t error;
    if (!find_cut(text, length, &cut))
        return NULL;
    char *closed = gl_memory_checked(malloc(cut.length + DEPTH_MAX));
    memcpy(closed, text, cut.length);
    while (cut.depth > 0)
        closed[cut.length++] = cut.open[--cut.depth];
    json_t *root = parse(closed, cut.length, &error);
    free(closed);
    return root;
}

/* ---- values ---- */

/* Numbers, and the texts "nan", "inf" that stand for numbers JSON does not have. NaN for others. */
static double real_of(const json_t *value)
{
    if (json_is_number(value))
        return json_number_value(value);
    if (json_is_string(value) && strstr(json_string_value(value), "inf") != NULL)
        return INFINITY;
    return NAN;
}

static double member_real(const json_t *object, const char *name)
{
    return real_of(json_object_get(object, name));
}

static int member_int(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_integer(value))
        return -1;
    json_int_t number = json_integer_value(value);
    return number >= 0 && number <= 1000000000 ? (int)number : -1;
}

static const char *member_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

static const char *printable_copy(gl_arena *arena, const char *text)
{
    char buffer[256];
    return gl_arena_strdup(arena, gl_printable(text, buffer, sizeof buffer));
}

/* Times have five decimals of a µs, bandwidths six of a GB/s. */
static gl_printed time_of_us(double value)
{
    return (gl_printed){gl_parsed_scale(value, 1e-6), (5e-6 + fabs(value) * 1e-6) * 1e-6};
}

static gl_printed bandwidth_of_gb(double value)
{
    return (gl_printed){value * GL_GIGA, (5e-7 + fabs(value) * 1e-6) * GL_GIGA};
}

/* Absent, null or "N/A": not checked. */
static double wrong_of(const json_t *value)
{
    const char *text = json_string_value(value);
    bool absent =
        value == NULL || json_is_null(value) || (text != NULL && strcmp(text, "N/A") == 0);
    return absent ? (double)NAN : gl_parsed_wrong(real_of(value));
}

/* ---- parts of the document ---- */

static void read_arguments(gl_parsed_file *file, gl_parsed_run *run, const json_t *arguments)
{
    static const char *const averaging[] = {"rank 0", "average", "minimum", "maximum"};
    size_t index;
    json_t *item;
    const char *before = "", *last = "";
    json_array_foreach(arguments, index, item)
    {
        const char *text = json_string_value(item);
        if (text == NULL)
            continue;
        if (index == 0)
            run->test_name = printable_copy(file->arena, text);
        before = last;
        last = text;
        bool named = strcmp(before, "-a") == 0 || strcmp(before, "--average") == 0;
        if (named && last[0] >= '0' && last[0] <= '3' && last[1] == '\0')
            run->averaging = averaging[last[0] - '0'];
    }
    if (run->averaging[0] == '\0')
        run->averaging = "average"; /* the default, and here all arguments are known */
}

static void read_environment(gl_parsed_file *file, gl_parsed_run *run, const json_t *environment)
{
    size_t index;
    json_t *item;
    json_array_foreach(environment, index, item)
    {
        const char *text = json_string_value(item);
        const char *equals = text != NULL ? strchr(text, '=') : NULL;
        if (equals == NULL || equals - text > 100 || !gl_starts_with(text, "NCCL_"))
            continue;
        const char *name = gl_arena_strndup(file->arena, text, (size_t)(equals - text));
        gl_nccl_log_environment(&run->log, file->arena, name, equals + 1);
    }
}

static bool read_devices(gl_parsed_file *file, gl_parsed_run *run, const json_t *devices,
                         gl_error *err)
{
    size_t index;
    json_t *item;
    json_array_foreach(devices, index, item)
    {
        gl_parsed_device device = {
            .rank = member_int(item, "rank"),
            .group = member_int(item, "group"),
            .device = member_int(item, "device"),
            .gpu = printable_copy(file->arena, member_text(item, "device_info"))};
        const char *bus = member_text(item, "device_hex");
        if (bus[0] != '\0')
            device.bus = gl_parsed_hash(bus, strlen(bus));
        if (device.group < 0)
            device.group = 0;
        if (!gl_parsed_add_device(file, run, &device, member_text(item, "hostname"), err))
            return false;
    }
    /* A build without MPI lists only its first device. */
    run->only_first_device = run->device_count == 1 && run->gpus * (double)run->threads > 1;
    return true;
}

static bool read_config(gl_parsed_file *file, gl_parsed_run *run, const json_t *config,
                        gl_error *err)
{
    run->threads = member_int(config, "nthreads");
    run->gpus = member_int(config, "ngpus");
    run->warmup = member_int(config, "warmup_iters");
    run->iterations = member_int(config, "iterations");
    run->aggregated = member_int(config, "aggregated_iterations");
    run->validation = member_int(config, "validation");
    run->graph = member_int(config, "graph");
    run->per_iteration = strcmp(member_text(config, "per_iter_timing"), "true") == 0;
    return read_devices(file, run, json_object_get(config, "devices"), err);
}

/* The report has no p05; the list of all times, if there, gives it. */
static double fifth_percentile(const json_t *times)
{
    size_t count = json_array_size(times), known = 0;
    if (count < 2 || count > 1000000)
        return NAN;
    double *values = gl_memory_checked(malloc(count * sizeof *values));
    for (size_t i = 0; i < count; i++) {
        double value = real_of(json_array_get(times, i));
        if (isfinite(value))
            values[known++] = value;
    }
    double result = NAN;
    if (known >= 2) {
        qsort(values, known, sizeof *values, gl_compare_doubles);
        result = gl_quantile(values, known, 0.05);
    }
    free(values);
    return result;
}

static void read_per_iteration(const json_t *report, gl_parsed_row *row)
{
    row->min_s = gl_parsed_scale(member_real(report, "min_us"), 1e-6);
    row->p95_s = gl_parsed_scale(member_real(report, "p95_us"), 1e-6);
    row->p05_s = gl_parsed_scale(fifth_percentile(json_object_get(report, "times_us")), 1e-6);
}

static bool read_placement(gl_parsed_file *file, gl_parsed_run *run, const json_t *result,
                           const gl_parsed_row *common, bool in_place, gl_error *err)
{
    const json_t *placement = json_object_get(result, in_place ? "in_place" : "out_of_place");
    gl_parsed_row row = *common;
    if (!json_is_object(placement))
        return true;
    const json_t *time = json_object_get(placement, "time");
    run->cpu_time = run->cpu_time || json_object_get(placement, "cpu_time") != NULL;
    row.in_place = in_place;
    row.time = time_of_us(real_of(time));
    row.algbw = bandwidth_of_gb(member_real(placement, "alg_bw"));
    row.busbw = bandwidth_of_gb(member_real(placement, "bus_bw"));
    row.wrong = wrong_of(json_object_get(placement, "nwrong"));
    row.min_s = row.p05_s = row.p95_s = NAN;
    read_per_iteration(
        json_object_get(result, in_place ? "in_place_per_iter" : "out_of_place_per_iter"), &row);
    return gl_parsed_add_row(file, run, &row, err);
}

static const char *type_of(gl_arena *arena, const json_t *result)
{
    return printable_copy(arena, member_text(result, "type"));
}

static bool read_results(gl_parsed_file *file, gl_parsed_run *run, const json_t *results,
                         gl_error *err)
{
    size_t index;
    json_t *result;
    json_array_foreach(results, index, result)
    {
        const char *root = member_text(result, "root"); /* padded: "    -1" */
        int iterations = member_int(result, "actual_iterations");
        gl_parsed_row row = {.size_bytes = member_real(result, "size"),
                             .count = member_real(result, "count"),
                             .type = type_of(file->arena, result),
                             .redop = printable_copy(file->arena, member_text(result, "redop")),
                             .root = root[0] != '\0' ? (int)strtol(root, NULL, 10)
                                                     : member_int(result, "root"),
                             .iterations = iterations > 0 ? iterations : 0};
        gl_dtype dtype;
        if (!json_is_object(result) || !gl_dtype_parse(row.type, &dtype))
            continue;
        if (!read_placement(file, run, result, &row, false, err) ||
            !read_placement(file, run, result, &row, true, err))
            return false;
    }
    return true;
}

static void read_footer(gl_parsed_file *file, gl_parsed_run *run, const json_t *root)
{
    const json_t *bounds = json_object_get(root, "out_of_bounds");
    const json_t *average = json_object_get(root, "average_bus_bandwidth");
    const json_t *errors = json_object_get(root, "errors");
    run->out_of_bounds = member_real(bounds, "count");
    run->check_failed = strcmp(member_text(bounds, "okay"), "false") == 0;
    if (json_is_object(average)) {
        run->average_busbw = bandwidth_of_gb(member_real(average, "bandwidth"));
        run->average_count = 1;
        run->min_bw_failed = strcmp(member_text(average, "okay"), "false") == 0;
    }
    size_t index;
    json_t *item;
    json_array_foreach(errors, index, item)
    {
        const char *text = json_string_value(item);
        /* What comes before "Test" is the host's name. */
        const char *test = text != NULL ? strstr(text, "Test ") : NULL;
        if (text != NULL && text[0] != '\0' && run->failure == NULL)
            run->failure = test != NULL ? gl_parsed_failure(file->arena, run, text, test)
                                        : "the document lists errors";
    }
}

/* "2026-11-30 02:26:33" in the clock of the machine: its zone is not known. */
static const char *time_of(gl_arena *arena, const json_t *root)
{
    const char *text = member_text(root, "start_time");
    if (strlen(text) != 19 || text[4] != '-' || text[10] != ' ' || text[13] != ':')
        return "";
    char *copy = gl_arena_strdup(arena, text);
    copy[10] = 'T';
    return printable_copy(arena, copy);
}

static bool read_document(gl_parsed_file *file, const json_t *root, bool truncated, int line,
                          gl_error *err)
{
    gl_parsed_run *run = gl_parsed_add_run(file, line, err);
    if (run == NULL)
        return false;
    run->nccl_version = gl_parsed_nccl_version(file->arena, member_int(root, "nccl_version"));
    run->started_at = time_of(file->arena, root);
    run->has_header = true;
    if (truncated)
        run->failure = "the document ends early";
    read_arguments(file, run, json_object_get(root, "args"));
    read_environment(file, run, json_object_get(root, "env"));
    /* Devices first: their host names are taken out of messages. */
    if (!read_config(file, run, json_object_get(root, "config"), err))
        return false;
    read_footer(file, run, root);
    return read_results(file, run, json_object_get(root, "results"), err);
}

/* Bytes that JSON does not allow in texts (of another encoding, or raw control characters) stand in
 * the environment of somebody's shell, not in results: they become '?'. */
static char *cleaned(const char *text, size_t length)
{
    char *copy = gl_memory_checked(malloc(length + 1));
    bool in_text = false;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool escapes = in_text && c == '\\' && i + 1 < length;
        if (c == '"')
            in_text = !in_text;
        copy[i] = (char)(in_text && (c < 32 || c >= 128) ? '?' : c);
        if (escapes) {
            i++;
            copy[i] = text[i];
        }
    }
    return copy;
}

/* One document; `*used` is how much of the text it takes. */
static json_t *load(const char *text, size_t length, size_t *used, bool *truncated,
                    json_error_t *error)
{
    json_t *root = parse(text, length, error);
    *used = root != NULL ? (size_t)error->position : length;
    *truncated = false;
    if (root != NULL)
        return root;
    json_error_t again;
    char *copy = cleaned(text, length);
    root = parse(copy, length, &again);
    if (root != NULL) {
        *used = (size_t)again.position;
    } else {
        root = load_truncated(copy, length);
        *truncated = true;
    }
    free(copy);
    return root;
}

static size_t count_blanks(const char *text, size_t length)
{
    size_t n = 0;
    while (n < length && (text[n] == ' ' || text[n] == '\t' || text[n] == '\r' || text[n] == '\n'))
        n++;
    return n;
}

static int line_at(const char *text, size_t at)
{
    int line = 1;
    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return line;
}

static bool take_document(gl_parsed_file *file, const json_t *root, bool truncated,
                          const gl_mark *mark, gl_error *err)
{
    if (!json_is_object(root) ||
        (json_object_get(root, "results") == NULL && json_object_get(root, "config") == NULL))
        return gl_fail_at(err, GL_ERROR_INPUT, mark, NULL,
                          "this JSON document is not one of nccl-tests (-J): it has no \"config\" "
                          "and no \"results\"");
    return read_document(file, root, truncated, mark->line, err);
}

/* Several documents may follow each other ("cat *.json"). */
bool gl_nccl_json_parse(const char *text, size_t length, const char *path, gl_parsed_file *file,
                        gl_error *err)
{
    size_t at = count_blanks(text, length), used;
    bool ok = true, truncated;
    do {
        json_error_t error;
        gl_mark mark = {.file = path, .line = line_at(text, at), .column = 1};
        json_t *root = load(text + at, length - at, &used, &truncated, &error);
        if (root == NULL) {
            mark.line += error.line > 0 ? error.line - 1 : 0;
            return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL, "this is no JSON document: %s",
                              error.text);
        }
        ok = take_document(file, root, truncated, &mark, err);
        json_decref(root);
        at += used;
        at += count_blanks(text + at, length - at);
    } while (ok && at < length);
    return ok;
}

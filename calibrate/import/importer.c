/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/importer.h"

#include "calibrate/import/digest.h"
#include "calibrate/import/line_reader.h"
#include "calibrate/import/measured_csv.h"
#include "calibrate/import/nccl_json.h"
#include "calibrate/import/nccl_text.h"
#include "calibrate/import/not_text.h"
#include "common/arena.h"
#include "common/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file being imported. */
typedef struct import {
    gl_line_reader *reader;
    const char *path;
    const gl_import_options *options;
    gl_arena *arena;
    gl_error *err;
} import;

static bool refuse_file(import *in, int line, const char *message)
{
    return gl_fail_at(in->err, GL_ERROR_INPUT,
                      &(gl_mark){.file = in->path, .line = line, .column = line > 0}, NULL, "%s",
                      message);
}

static bool refuse_read_error(import *in)
{
    return gl_fail_at(in->err, GL_ERROR_SYSTEM, &(gl_mark){.file = in->path}, NULL,
                      "cannot read: %s", strerror(errno));
}

/* ---- formats ---- */

static bool looks_like_json(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (strchr(" \t\r\n", text[i]) == NULL || text[i] == '\0')
            return text[i] == '{';
    return false;
}

/* Reads the rest of the stream into memory. Returns NULL with an error. */
static char *read_all(import *in, size_t *length)
{
    size_t capacity = 1 << 16, part;
    char *text = gl_memory_checked(malloc(capacity));
    const char *piece;
    *length = 0;
    while (piece = gl_line_reader_peek(in->reader, &part), part > 0) {
        if (*length + part > capacity) {
            capacity = 2 * (*length + part);
            if (capacity > 2 * (size_t)GL_JSON_BYTES_MAX) {
                free(text);
                refuse_file(in, 0, "the document is too large");
                return NULL;
            }
            text = gl_memory_checked(realloc(text, capacity));
        }
        memcpy(text + *length, piece, part);
        *length += part;
        in->reader->start = in->reader->end;
    }
    return text;
}

static bool parse_json(import *in, gl_parsed_file *file)
{
    size_t length;
    char *text = read_all(in, &length);
    if (text == NULL)
        return false;
    bool ok = in->reader->failed ? refuse_read_error(in)
                                 : gl_nccl_json_parse(text, length, in->path, file, in->err);
    free(text);
    return ok;
}

static bool parse_text(import *in, gl_parsed_file *file)
{
    gl_nccl_text *parser = gl_nccl_text_begin(file);
    gl_error err;
    size_t length;
    char *line;
    bool ok = true;
    while (ok && (line = gl_line_reader_next(in->reader, &length)) != NULL)
        ok = gl_nccl_text_line(parser, line, in->reader->number, &err);
    if (in->reader->failed)
        return refuse_read_error(in);
    return (ok && gl_nccl_text_end(parser, &err)) ||
           refuse_file(in, in->reader->number, err.message);
}

/* ---- what is said about a whole file ---- */

/* Several processes that each printed a run of their own, mixed into each other: rank 0 is listed
 * twice in what looks like one run, or ranks are listed again and again before any row, and
 * afterwards as many tables follow. */
static bool is_interleaved(const gl_parsed_file *file, int *line)
{
    size_t empty = 0, averages = 0;
    *line = file->run_count > 0 ? file->runs[0]->line : 0;
    for (size_t i = 0; i < file->run_count; i++) {
        const gl_parsed_run *run = file->runs[i];
        if (run->rank_zero_count > 1) {
            *line = run->line;
            return true;
        }
        empty += run->device_count > 0 && run->row_count == 0 && run->failure == NULL;
        averages += (size_t)run->average_count;
    }
    return empty > 0 && file->rank_zero_count > 1 && averages > file->run_count - empty;
}

static bool all_alone(const gl_parsed_file *file)
{
    bool any = false;
    for (size_t i = 0; i < file->run_count; i++) {
        const gl_parsed_run *run = file->runs[i];
        for (size_t k = 0; k < run->row_count; k++) {
            if (run->rows[k].busbw.value > 0)
                return false;
            any = any || run->rows[k].algbw.value > 0;
        }
    }
    return any;
}

static bool check_file(import *in, const gl_parsed_file *file)
{
    char message[200];
    int line;
    if (file->row_count > 0 && file->rank_zero_count > 1 && all_alone(file)) {
        snprintf(
            message, sizeof message,
            "%d processes ran alone, each as rank 0 (busbw is 0): the binary was built without "
            "MPI; rebuild nccl-tests with MPI=1",
            file->rank_zero_count);
        return refuse_file(in, file->runs[0]->line, message);
    }
    if (is_interleaved(file, &line))
        return refuse_file(in, line,
                           "several processes printed runs of their own, mixed line by line: "
                           "rebuild nccl-tests with MPI=1, or keep one file for each");
    if (file->row_count > 0)
        return true;
    if (file->look_alike != NULL) {
        snprintf(message, sizeof message,
                 "this is output of %s, not of nccl-tests: its numbers are other quantities",
                 file->look_alike);
        return refuse_file(in, 1, message);
    }
    return true;
}

/* ---- runs ---- */

static bool has_anything(const gl_parsed_run *run)
{
    return run->stages != 0 || run->has_header || run->device_count > 0 || run->row_count > 0 ||
           run->failure != NULL;
}

static bool evaluate_all(import *in, const gl_parsed_file *file, gl_import_result *result)
{
    result->runs = GL_ARENA_NEW(in->arena, gl_import_run, file->run_count);
    result->refused = GL_ARENA_NEW(in->arena, gl_error, file->run_count);
    for (size_t i = 0; i < file->run_count; i++) {
        gl_error *err = &result->refused[result->refused_count];
        if (!has_anything(file->runs[i]))
            continue;
        if (gl_evaluate_run(file->runs[i], in->path, in->options, in->arena,
                            &result->runs[result->run_count], err))
            result->run_count++;
        else
            result->refused_count++;
    }
    if (result->run_count > 0)
        return true;
    if (result->refused_count == 0)
        return refuse_file(in, 0, "there is no output of nccl-tests in this file");
    /* The last reason becomes the file's; the others stay in the list. */
    if (in->err != NULL)
        *in->err = result->refused[--result->refused_count];
    return false;
}

static bool import_csv(import *in, gl_import_result *result)
{
    gl_import_run *run = GL_ARENA_NEW(in->arena, gl_import_run, 1);
    if (!gl_measured_csv_parse(in->reader, in->path, in->arena, run, in->err))
        return in->reader->failed ? refuse_read_error(in) : false;
    const gl_import_options *o = in->options;
    /* A file of curves says which run it was; the others only hold figures. */
    run->run.recorded_at = o->recorded_at;
    run->run.tool = "gpulink-calibrate";
    run->run.source = gl_evaluate_name(in->arena, gl_evaluate_source(in->path));
    run->run.label = gl_evaluate_name(in->arena, o->label);
    run->run.parameters = run->curve_count > 0 ? "imported curves" : "imported rates";
    run->run.state = GL_RUN_COMPLETE;
    if (o->gpu != NULL)
        run->run.gpu = gl_evaluate_name(in->arena, o->gpu);
    gl_run_complete_texts(&run->run);
    result->runs = run;
    result->run_count = 1;
    return true;
}

static bool import_start(import *in, gl_import_result *result)
{
    size_t length;
    gl_parsed_file file = {.arena = in->arena};
    const char *start = gl_line_reader_peek(in->reader, &length);
    if (in->reader->failed)
        return refuse_read_error(in);
    if (gl_is_sqlite_head(start, length))
        return refuse_file(in, 0, "this is a database; use gpulink-calibrate merge for those");
    const char *other = gl_not_text(start, length);
    if (other != NULL)
        return refuse_file(in, 0, other);
    if (gl_measured_csv_recognise(start, length))
        return import_csv(in, result);
    size_t mark = gl_mark_length(start, length);
    in->reader->start += mark;
    start += mark;
    length -= mark;
    if (!(looks_like_json(start, length) ? parse_json(in, &file) : parse_text(in, &file)))
        return false;
    return check_file(in, &file) && evaluate_all(in, &file, result);
}

bool gl_import_stream(FILE *stream, const char *path, const gl_import_options *options,
                      gl_arena *arena, gl_import_result *result, gl_error *err)
{
    gl_line_reader *reader = GL_ARENA_NEW(arena, gl_line_reader, 1);
import in = {.reader = reader, .path = path, .options = options, .arena = arena, .err = err };
    gl_import_result read = {.arena = arena};
    gl_line_reader_begin(reader, stream);
    bool ok = import_start(&in, &read);
    *result = read;
    return ok;
}

bool gl_import_file(const char *path, const gl_import_options *options, gl_arena *arena,
                    gl_import_result *result, gl_error *err)
{
    const gl_mark mark = {.file = path};
    struct stat info;
    *result = (gl_import_result){.arena = arena};
    if (strcmp(path, "-") == 0)
        return gl_import_stream(stdin, "standard input", options, arena, result, err);
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return gl_fail_at(err, gl_open_status(errno), &mark, NULL, "cannot open: %s",
                          strerror(errno));
    bool ok;
    if (fstat(fileno(stream), &info) == 0 && S_ISDIR(info.st_mode))
        ok = gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL, "this is a directory, not a log");
    else
        ok = gl_import_stream(stream, path, options, arena, result, err);
    fclose(stream);
    return ok;
}

/* ---- writing ---- */

static bool write_curve(gl_store *store, const gl_curve *curve, gl_error *err)
{
    int64_t id;
    if (!gl_store_add_curve(store, curve, &id, err))
        return false;
    for (size_t i = 0; i < curve->sample_count; i++)
        if (!gl_store_add_sample(store, id, &curve->samples[i], err))
            return false;
    return true;
}

static bool write_run(gl_store *store, gl_import_run *run, gl_error *err)
{
    if (!gl_store_add_run(store, &run->run, &run->run.id, err))
        return false;
    for (size_t i = 0; i < run->curve_count; i++) {
        run->curves[i].run_id = run->run.id;
        if (!write_curve(store, &run->curves[i], err))
            return false;
    }
    for (size_t i = 0; i < run->compute_count; i++) {
        run->compute[i].run_id = run->run.id;
        if (!gl_store_add_compute(store, &run->compute[i], err))
            return false;
    }
    for (size_t i = 0; i < run->overlap_count; i++) {
        run->overlap[i].run_id = run->run.id;
        if (!gl_store_add_overlap(store, &run->overlap[i], err))
            return false;
    }
    return true;
}

static gl_digest digest_run(const gl_import_run *run)
{
    gl_digest digest;
    gl_digest_begin(&digest);
    for (size_t i = 0; i < run->curve_count; i++)
        gl_digest_curve(&digest, &run->curves[i]);
    for (size_t i = 0; i < run->compute_count; i++)
        gl_digest_compute(&digest, &run->compute[i]);
    for (size_t i = 0; i < run->overlap_count; i++)
        gl_digest_overlap(&digest, &run->overlap[i]);
    gl_digest_end(&digest, &run->run);
    return digest;
}

/* What the store holds, with what is being added. */
typedef struct known_runs {
    gl_digest *digests;
    gl_run *runs;
    size_t count, digest_capacity, run_capacity;
    const gl_catalog *catalog; /* what was there before */
} known_runs;

static void add_known(known_runs *known, gl_arena *arena, const gl_digest *digest,
                      const gl_run *run)
{
    known->digests = gl_arena_grow(arena, known->digests, &known->digest_capacity, known->count + 1,
                                   sizeof *known->digests);
    known->runs = gl_arena_grow(arena, known->runs, &known->run_capacity, known->count + 1,
                                sizeof *known->runs);
    known->digests[known->count] = *digest;
    known->runs[known->count++] = *run;
}

/* The curves of a stored run are those of `run`, in the same order. */
static bool name_transport(gl_store *store, const gl_catalog *catalog, int64_t id,
                           const gl_import_run *run, gl_error *err)
{
    size_t next = 0;
    for (size_t i = 0; i < catalog->curve_count && next < run->curve_count; i++) {
        if (catalog->curves[i].run_id != id)
            continue;
        gl_curve curve = run->curves[next++];
        curve.id = catalog->curves[i].id;
        if (!gl_store_update_curve(store, &curve, err))
            return false;
    }
    return gl_store_finish_run(store, id, run->run.state, run->run.warnings, err);
}

/* Is the run stored already? If its transport was not known there, it is told. */
static bool find_same(gl_store *store, gl_import_run *run, const gl_digest *digest,
                      known_runs *known, size_t *same, gl_error *err)
{
    *same = gl_digest_find(known->digests, known->count, digest);
    if (*same < known->count)
        return true;
    *same = gl_digest_find_unnamed(known->digests, known->count, digest);
    if (*same == known->count || !digest->named)
        return true;
    if (!name_transport(store, known->catalog, known->runs[*same].id, run, err))
        return false;
    known->digests[*same] = *digest;
    run->named = true;
    return true;
}

static bool write_result(gl_store *store, gl_import_result *result, gl_arena *arena,
                         known_runs *known, gl_error *err)
{
    for (size_t i = 0; i < result->run_count; i++) {
        gl_import_run *run = &result->runs[i];
        gl_digest digest = digest_run(run);
        size_t same;
        if (!find_same(store, run, &digest, known, &same, err))
            return false;
        if (same < known->count) {
            run->same_as = known->runs[same].id;
            run->same_source = gl_arena_strdup(result->arena, known->runs[same].source);
            continue;
        }
        if (!write_run(store, run, err))
            return false;
        add_known(known, arena, &digest, &run->run);
    }
    return true;
}

static bool write_all(gl_store *store, gl_import_result *results, size_t count, gl_arena *arena,
                      gl_error *err)
{
    gl_catalog catalog;
    known_runs known = {0};
    if (!gl_store_read_catalog(store, arena, &catalog, err) ||
        !gl_digest_store(store, arena, &catalog, &known.digests, err))
        return false;
    known.catalog = &catalog;
    known.runs = catalog.runs;
    known.count = known.digest_capacity = known.run_capacity = catalog.run_count;
    for (size_t i = 0; i < count; i++)
        if (!write_result(store, &results[i], arena, &known, err))
            return false;
    return true;
}

bool gl_import_write(gl_store *store, gl_import_result *results, size_t count, gl_error *err)
{
    if (!gl_store_begin(store, err))
        return false;
    gl_arena *arena = gl_arena_create();
    bool ok = write_all(store, results, count, arena, err) && gl_store_commit(store, err);
    if (!ok)
        gl_store_rollback(store);
    gl_arena_destroy(arena);
    return ok;
}

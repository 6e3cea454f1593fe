/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/parsed.h"

#include "calibrate/import/prefix.h"
#include "common/hash.h"
#include "common/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const gl_printed unknown = {NAN, NAN};

gl_parsed_run *gl_parsed_add_run(gl_parsed_file *file, int line, gl_error *err)
{
    if (file->run_count == GL_PARSED_RUNS_MAX) {
        gl_fail(err, GL_ERROR_INPUT, "the file holds more than %d runs", GL_PARSED_RUNS_MAX);
        return NULL;
    }
    file->runs = gl_arena_grow(file->arena, file->runs, &file->run_capacity, file->run_count + 1,
                               sizeof *file->runs);
    gl_parsed_run *run = GL_ARENA_NEW(file->arena, gl_parsed_run, 1);
    file->runs[file->run_count++] = run;
    run->line = line;
    run->tool = "nccl-tests";
    run->backend = "nccl";
    run->tool_version = run->nccl_version = run->test_name = run->started_at = "";
    run->averaging = "";
    run->iterations = run->warmup = run->aggregated = run->validation = run->graph = -1;
    run->average_busbw = unknown;
    run->out_of_bounds = NAN;
    gl_nccl_log_begin(&run->log);
    return run;
}

bool gl_parsed_add_row(gl_parsed_file *file, gl_parsed_run *run, const gl_parsed_row *row,
                       gl_error *err)
{
    if (file->row_count == GL_PARSED_ROWS_MAX)
        return gl_fail(err, GL_ERROR_INPUT, "the file holds more than %d rows", GL_PARSED_ROWS_MAX);
    file->row_count++;
    run->rows = gl_arena_grow(file->arena, run->rows, &run->row_capacity, run->row_count + 1,
                              sizeof *run->rows);
    run->rows[run->row_count++] = *row;
    if (isfinite(row->busbw.value)) {
        run->busbw_sum += row->busbw.value;
        run->busbw_error_sum += row->busbw.error;
        run->busbw_count++;
    }
    return true;
}

double gl_parsed_scale(double value, double factor)
{
    char text[40];
    if (!isfinite(value))
        return value;
    snprintf(text, sizeof text, "%.15g", value * factor);
    return strtod(text, NULL);
}

double gl_parsed_wrong(double printed)
{
    return printed >= 0 && printed <= 9007199254740992.0 ? printed : (double)INFINITY;
}

uint64_t gl_parsed_hash(const char *text, size_t length)
{
    uint64_t h = gl_hash_add(GL_HASH_START, text, length);
    return h != 0 ? h : 1;
}

static int *host_slot(gl_parsed_run *run, const char *host)
{
    uint64_t hash = gl_parsed_hash(host, strlen(host));
    size_t at = (size_t)(hash ^ hash >> 32) & (run->host_slots - 1);
    while (run->host_table[at] >= 0 && strcmp(run->hosts[run->host_table[at]], host) != 0)
        at = (at + 1) & (run->host_slots - 1);
    return &run->host_table[at];
}

static void grow_host_table(gl_arena *arena, gl_parsed_run *run)
{
    run->host_slots = run->host_slots == 0 ? 16 : run->host_slots * 2;
    run->host_table = GL_ARENA_NEW(arena, int, run->host_slots);
    for (size_t i = 0; i < run->host_slots; i++)
        run->host_table[i] = -1;
    for (int i = 0; i < run->host_count; i++)
        *host_slot(run, run->hosts[i]) = i;
}

/* Index of the host name, added when it is new. */
static int host_index(gl_arena *arena, gl_parsed_run *run, const char *host)
{
    if ((size_t)run->host_count * 2 >= run->host_slots)
        grow_host_table(arena, run);
    int *slot = host_slot(run, host);
    if (*slot < 0) {
        run->hosts = gl_arena_grow(arena, run->hosts, &run->host_capacity,
                                   (size_t)run->host_count + 1, sizeof *run->hosts);
        run->hosts[run->host_count] = gl_arena_strdup(arena, host);
        *slot = run->host_count++;
    }
    return *slot;
}

bool gl_parsed_add_device(gl_parsed_file *file, gl_parsed_run *run, const gl_parsed_device *device,
                          const char *host, gl_error *err)
{
    if (file->rank_count == GL_PARSED_RANKS_MAX)
        return gl_fail(err, GL_ERROR_INPUT, "the file lists more than %d ranks",
                       GL_PARSED_RANKS_MAX);
    file->rank_count++;
    run->devices = gl_arena_grow(file->arena, run->devices, &run->device_capacity,
                                 run->device_count + 1, sizeof *run->devices);
    gl_parsed_device *added = &run->devices[run->device_count];
    *added = *device;
    added->host = host_index(file->arena, run, host);
    /* A thousand ranks have one name of a GPU: keep it once. */
    const char *last = run->device_count > 0 ? run->devices[run->device_count - 1].gpu : "";
    added->gpu = strcmp(last, device->gpu) == 0 ? last : gl_arena_strdup(file->arena, device->gpu);
    if (device->rank == 0 && device->group == run->devices[0].group) {
        run->rank_zero_count++;
        file->rank_zero_count++;
    }
    run->device_count++;
    return true;
}

const char *gl_parsed_nccl_version(gl_arena *arena, long code)
{
    if (code <= 0 || code > 9999999)
        return "";
    long major = code >= 20900 ? code / 10000 : code / 1000;
    long rest = code >= 20900 ? code % 10000 : code % 1000;
    return gl_arena_printf(arena, "%ld.%ld.%ld", major, rest / 100, rest % 100);
}

/* ---- messages ---- */

static bool is_name_character(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* Does the word hold this host name (perhaps with a domain behind it)? */
static bool holds_host(const char *word, size_t length, const char *host)
{
    size_t size = strlen(host);
    for (size_t at = 0; size > 0 && at + size <= length; at++)
        if (memcmp(word + at, host, size) == 0 && (at == 0 || !is_name_character(word[at - 1])) &&
            (at + size == length || !is_name_character(word[at + size])))
            return true;
    return false;
}

/* "10.1.2.3" or "fe80::1" in a word: three points between digits, or two colons and more. */
static bool holds_address(const char *word, size_t length)
{
    size_t points = 0;
    for (size_t i = 1; i + 1 < length; i++) {
        if (word[i] == ':' && word[i + 1] == ':')
            return true;
        points += word[i] == '.' && isdigit((unsigned char)word[i - 1]) &&
                  isdigit((unsigned char)word[i + 1]);
    }
    return points >= 3 || memchr(word, '<', length) != NULL;
}

/* The name in "HOST: Test NCCL failure", "" when there is none. */
static const char *failing_host(gl_arena *arena, const char *line, const char *text)
{
    const char *end = text;
    while (end > line && (end[-1] == ' ' || end[-1] == ':'))
        end--;
    const char *start = end;
    while (start > line && start[-1] != ' ')
        start--;
    return end < text ? gl_arena_strndup(arena, start, (size_t)(end - start)) : "";
}

static bool names_host(const gl_parsed_run *run, const char *word, size_t length)
{
    for (int i = 0; i < run->host_count; i++)
        if (holds_host(word, length, run->hosts[i]))
            return true;
    for (size_t i = 0; i < run->log.host_count; i++)
        if (holds_host(word, length, run->log.hosts[i].name))
            return true;
    return false;
}

const char *gl_parsed_failure(gl_arena *arena, const gl_parsed_run *run, const char *line,
                              const char *text)
{
    char message[300], printable[300];
    size_t used = 0;
    gl_words words;
    const char *host = failing_host(arena, line, text);
    gl_words_split(text, strlen(text), &words);
    message[0] = '\0';
    for (size_t i = 0; i < words.count && used + 2 < sizeof message; i++) {
        const char *word = words.items[i].text;
        size_t length = words.items[i].length;
        const char *mask = holds_address(word, length) ? "(address)"
                           : holds_host(word, length, host) || names_host(run, word, length)
                               ? "(host)"
                               : NULL;
        used += (size_t)snprintf(message + used, sizeof message - used, "%s%.*s", i > 0 ? " " : "",
                                 mask != NULL ? (int)strlen(mask) : (int)length,
                                 mask != NULL ? mask : word);
    }
    return gl_arena_strdup(arena, gl_printable(message, printable, sizeof printable));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/nvlink.h"

#include "calibrate/import/prefix.h"
#include "common/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE_MAX_BYTES = 1024, LINES_MAX = 200000 };

typedef struct reader {
    gl_arena *arena;
    const char *file;
    gl_nvlink *links;
    gl_nvlink_gpu *gpu; /* whose links follow; NULL before the first */
    int line;
    size_t understood, others;
} reader;

/* "GPU 3: NVIDIA H200 (UUID: GPU-…)" */
static bool read_gpu(reader *r, const char *text)
{
    char *end;
    if (!gl_starts_with(text, "GPU ") || !isdigit((unsigned char)text[4]))
        return false;
    long index = strtol(text + 4, &end, 10);
    if (*end != ':' || end[1] != ' ' || index < 0 || index > 100000 ||
        r->links->count == GL_NVLINK_GPUS_MAX)
        return false;
    end += 1 + strspn(end + 1, " ");
    const char *uuid = strstr(end, " (UUID");
    size_t length = uuid != NULL ? (size_t)(uuid - end) : strlen(end);
    char name[80], printable[80];
    snprintf(name, sizeof name, "%.*s", (int)(length < 70 ? length : 70), end);
    r->gpu = &r->links->items[r->links->count++];
    *r->gpu = (gl_nvlink_gpu){
        .index = (int)index,
        .file = r->file,
        .name = gl_arena_strdup(r->arena, gl_printable(name, printable, sizeof printable))};
    /* The UUID names a machine: it is not quoted. */
    r->gpu->quote = gl_quote_make(r->arena, r->file, r->line, text,
                                  uuid != NULL ? (size_t)(uuid - text) : strlen(text));
    return true;
}

/* Counters of -e that are failures of a link. Raw symbol errors, which forward error correction
 * mends, are none, nor are rates. */
static bool is_failure(const char *text)
{
    static const char *const words[] = {"Replay Errors",        "Recovery Errors",
                                        "CRC Errors",           "Malformed packet Errors",
                                        "Link recovery failed", "Buffer overrun Errors",
                                        "Effective Errors"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncasecmp(text, words[i], strlen(words[i])) == 0)
            return true;
    return gl_starts_with(text, "CRC Error") || gl_starts_with(text, "CRC FLIT Error");
}

static void read_counter(reader *r, const char *value, const char *line)
{
    const char *colon = strrchr(value, ':');
    if (colon == NULL || !is_failure(value))
        return;
    double count = strtod(colon + 1, NULL);
    if (count > 0 && count < 1e18) {
        r->gpu->errors += count;
        gl_quote_once(&r->gpu->error_quote, r->arena, r->file, r->line, line);
    }
}

static void read_speed(reader *r, double gb_per_s, const char *line)
{
    gl_nvlink_gpu *gpu = r->gpu;
    double speed = gb_per_s * 1e9;
    gpu->sum_bytes_per_s += speed;
    if (gpu->active == 0 || speed > gpu->most_bytes_per_s)
        gpu->most_bytes_per_s = speed;
    if (gpu->active == 0 || speed < gpu->least_bytes_per_s) {
        gpu->least_bytes_per_s = speed;
        gpu->slow_quote = gl_quote_make(r->arena, r->file, r->line, line, strlen(line));
    }
    gpu->active++;
}

/* "Link 3: 26.562 GB/s", "Link 3: <inactive>", "Link 3: Replay Errors: 0", also of other reports
 * of nvlink: "Link 3: P2P is supported: true" */
static bool read_link(reader *r, const char *text)
{
    char *end;
    if (!gl_starts_with(text, "Link ") || r->gpu == NULL)
        return false;
    strtol(text + 5, &end, 10);
    if (end == text + 5 || (*end != ':' && *end != ','))
        return false;
    const char *value = end + 1 + strspn(end + 1, " ");
    char *unit;
    double speed = strtod(value, &unit);
    if (strstr(value, "inactive") != NULL || strstr(value, "inActive") != NULL) {
        r->gpu->inactive++;
        gl_quote_once(&r->gpu->inactive_quote, r->arena, r->file, r->line, text);
    } else if (unit > value && strstr(unit, "GB/s") != NULL && speed > 0 && speed < 1e6) {
        read_speed(r, speed, text);
    } else if (strchr(value, ':') != NULL || *end == ',') {
        read_counter(r, value, text);
    } else {
        gl_quote_once(&r->links->unread, r->arena, r->file, r->line, text);
    }
    return true;
}

static void read_line(reader *r, const char *raw, size_t raw_length)
{
    char line[LINE_MAX_BYTES];
    size_t length = raw_length < sizeof line - 1 ? raw_length : sizeof line - 1;
    memcpy(line, raw, length);
    for (size_t i = 0; i < length; i++)
        if (line[i] == '\0')
            line[i] = ' ';
    line[length] = '\0';
    gl_prefix_clean(line);
    const char *text = line + strspn(line, " ");
    /* Behind a prefix such as "node1: ". */
    const char *gpu = strstr(text, "GPU "), *link = strstr(text, "Link ");
    if ((gpu != NULL && read_gpu(r, gpu)) || (link != NULL && read_link(r, link))) {
        r->understood++;
    } else if (strstr(text, "all links are inActive") != NULL ||
               strstr(text, "all links are inactive") != NULL ||
               strstr(text, "not have or support NVLink") != NULL) {
        r->understood++;
        gl_quote_once(&r->links->none, r->arena, r->file, r->line, text);
    } else if (*text != '\0') {
        r->others++;
    }
}

bool gl_nvlink_read(const char *text, size_t length, const char *file, gl_arena *arena,
                    gl_nvlink *links, gl_error *err)
{
    reader r = {.arena = arena, .file = file, .links = links};
    for (const char *end = text + length; text < end && r.line < LINES_MAX;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t size = (size_t)((newline != NULL ? newline : end) - text);
        r.line++;
        read_line(&r, text, size);
        text += size + (newline != NULL);
    }
    if (r.understood > 0 || r.others == 0)
        return true;
    return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = file}, NULL,
                      "no NVLinks of GPUs in it; wanted: the output of nvidia-smi nvlink -s");
}

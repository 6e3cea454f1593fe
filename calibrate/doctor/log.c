/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/log.h"

#include "calibrate/doctor/log_lines.h"
#include "calibrate/doctor/log_split.h"
#include "calibrate/import/line_reader.h"
#include "calibrate/import/not_text.h"
#include "calibrate/import/prefix.h"
#include "calibrate/import/setting.h"
#include "common/text.h"

#include <ctype.h>
#include <string.h>

gl_log *gl_log_create(gl_arena *arena)
{
    gl_log *log = GL_ARENA_NEW(arena, gl_log, 1);
    log->version = log->network = log->gpu = "";
    log->index_size = (size_t)4 * GL_LOG_HOST_LIMIT;
    log->index = GL_ARENA_NEW(arena, uint32_t, log->index_size);
    return log;
}

static gl_log_setting *setting_of(gl_log *log, gl_arena *arena, const char *name, const char *value,
                                  gl_quote quote)
{
    for (size_t i = 0; i < log->setting_count; i++)
        if (strcmp(log->settings[i].name, name) == 0 && strcmp(log->settings[i].value, value) == 0)
            return &log->settings[i];
    if (log->setting_count == GL_LOG_SETTING_LIMIT)
        return NULL;
    log->settings[log->setting_count] = (gl_log_setting){.name = gl_arena_strdup(arena, name),
                                                         .value = gl_arena_strdup(arena, value),
                                                         .quote = quote};
    return &log->settings[log->setting_count++];
}

void gl_log_add_setting(gl_log *log, gl_arena *arena, int host, const char *name, const char *value,
                        gl_quote quote)
{
    if (strcmp(name, "NCCL_VERSION") == 0)
        return; /* of an image, and no setting */
    if (gl_setting_is_secret(name)) {
        value = GL_SETTING_HIDDEN;
        quote.text = NULL;
    }
    gl_log_setting *setting = setting_of(log, arena, name, value, quote);
    if (setting == NULL || host < 0)
        return;
    if (setting->hosts == NULL)
        setting->hosts = GL_ARENA_NEW(arena, uint64_t, GL_LOG_HOST_LIMIT / 64);
    setting->hosts[host / 64] |= UINT64_C(1) << host % 64;
}

const gl_log_setting *gl_log_find_setting(const gl_log *log, const char *name)
{
    for (size_t i = 0; i < log->setting_count; i++)
        if (strcmp(log->settings[i].name, name) == 0)
            return &log->settings[i];
    return NULL;
}

/* A stream may end inside a line: then only a warning says what it says, and an init's state that
 * is written to its end. */
static bool is_whole(const gl_log_piece *piece)
{
    size_t length = strlen(piece->text);
    static const char *const ends[] = {"Init START", "Init COMPLETE"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (length >= end && strcmp(piece->text + length - end, ends[i]) == 0)
            return true;
    }
    return false;
}

/* Each piece is ended where the next one begins, and read. Is the last one whole? */
static bool read_pieces(gl_log *log, gl_arena *arena, const gl_log_place *place, char *line,
                        bool is_cut, gl_log_piece *last)
{
    gl_log_piece piece, next;
    bool whole = !is_cut, more = gl_log_split_next(log, arena, line, line, false, &piece);
    if (!more) {
        gl_log_read_plain(log, arena, place, line);
        if (line[strspn(line, " \r")] != '\0')
            *last = (gl_log_piece){.host = -1};
        return whole;
    }
    while (more) {
        more = gl_log_split_next(log, arena, line, piece.text, true, &next);
        char *cut = more ? next.start : NULL, kept = '\0';
        if (cut != NULL) {
            kept = *cut;
            *cut = '\0';
        }
        log->nccl_lines++;
        log->glued_pieces += more;
        piece.is_cut = more;
        whole = more || !is_cut || is_whole(&piece);
        if (whole || piece.is_warning)
            gl_log_read_piece(log, arena, place, &piece);
        if (cut != NULL)
            *cut = kept;
        *last = piece;
        piece = next;
    }
    return whole;
}

/* Lines that say anything. Those of a kernel's log are welcome without NCCL's. */
static uint64_t understood(const gl_log *log)
{
    uint64_t down = 0;
    for (size_t i = 0; i < log->port_count; i++)
        down += log->ports[i].down.text != NULL;
    return log->nccl_lines + log->said[GL_SAID_RANK_0].count + log->failure_lines + down;
}

static bool holds(const char *text, size_t length, const char *words)
{
    size_t wanted = strlen(words);
    for (const char *end = text + length, *c = text;
         (c = memchr(c, words[0], (size_t)(end - c))) != NULL; c++)
        if ((size_t)(end - c) >= wanted && memcmp(c, words, wanted) == 0)
            return true;
    return false;
}

static bool is_of_host(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '.' || c == '_';
}

/* Does the first line begin inside a host's name? Then the word that is left of "HOST:PID:" stands
 * again behind the rest of the name. */
static bool begins_torn(const char *start, size_t length)
{
    char word[128];
    size_t used = 0, colons = 0;
    while (used < length && used + 1 < sizeof word && colons < 2 && start[used] > ' ') {
        word[used] = start[used];
        colons += start[used++] == ':';
    }
    const char *line_end = memchr(start, '\n', length);
    if (colons < 2 || word[0] == ':' || line_end == NULL)
        return false;
    bool torn = false;
    const char *end = start + length;
    for (const char *c = line_end; (c = memchr(c, word[0], (size_t)(end - c))) != NULL; c++) {
        if ((size_t)(end - c) < used || memcmp(c, word, used) != 0)
            continue;
        if (!is_of_host(c[-1]))
            return false;
        torn = true;
    }
    return torn;
}

/* By what it begins with. */
static bool is_kernel_log(const char *start, size_t length)
{
    return holds(start, length, "NVRM: ") || holds(start, length, "mlx5_core 0000:") ||
           holds(start, length, " Linux version ");
}

bool gl_log_read(gl_log *log, FILE *stream, const char *file, gl_arena *arena, gl_error *err)
{
    gl_line_reader *reader = GL_ARENA_NEW(arena, gl_line_reader, 1);
    uint64_t before = understood(log);
    gl_log_piece last = {.host = -1};
    size_t length;
    char *line;
    gl_line_reader_begin(reader, stream);
    const char *start = gl_line_reader_peek(reader, &length);
    const char *other = gl_not_text(start, length);
    bool is_kernel = is_kernel_log(start, length), is_torn = begins_torn(start, length);
    if (other != NULL && !reader->failed)
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = file}, NULL, "%s", other);
    while ((line = gl_line_reader_next(reader, &length)) != NULL) {
        gl_log_place place = {.file = file, .line = reader->number, .whole = line};
        log->line_count++;
        if (reader->number == 1 && is_torn)
            continue; /* of a host that is not there */
        if (gl_prefix_unwrap_json(line))
            length = strlen(line);
        size_t mark = gl_mark_length(line, length); /* also between several files */
        line += mark;
        length -= mark;
        if (memchr(line, 0x1b, length) != NULL || memchr(line, 0xc2, length) != NULL)
            gl_prefix_strip_escapes(line);
        if (!read_pieces(log, arena, &place, line, reader->is_cut, &last))
            gl_log_forget_inits_of(log, file);
    }
    if (reader->failed)
        return gl_fail_at(err, GL_ERROR_SYSTEM, &(gl_mark){.file = file}, NULL,
                          "it cannot be read to its end");
    gl_log_end_file(log, &last);
    if (understood(log) == before)
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = file}, NULL, "%s",
                          is_kernel ? "it looks like output of dmesg, and tells of no error of a "
                                      "GPU, an NVSwitch or a NIC"
                                    : "NCCL says nothing in it; wanted: output of a program that "
                                      "ran with NCCL_DEBUG=INFO");
    return true;
}

static void move_lines(gl_log *log, gl_said from, gl_said to)
{
    for (size_t i = 0; i < log->host_count; i++) {
        gl_host_said *said = log->hosts[i].said;
        if (said->count[to] == 0)
            said->first[to] = said->first[from];
        said->count[to] += said->count[from];
        said->count[from] = 0;
    }
    gl_said_line *source = &log->said[from], *target = &log->said[to];
    if (target->count == 0)
        target->first = source->first;
    target->count += source->count;
    *source = (gl_said_line){0};
}

void gl_log_finish(gl_log *log)
{
    if (log->is_ambiguous) {
        move_lines(log, GL_SAID_SOCKET_SAME, GL_SAID_SOCKET);
        move_lines(log, GL_SAID_RDMA_SAME, GL_SAID_NET_RDMA);
    }
    for (size_t i = 0; i < log->port_count; i++)
        if (log->ports[i].down.text != NULL && log->said[GL_SAID_PORT_DOWN].count++ == 0)
            log->said[GL_SAID_PORT_DOWN].first = log->ports[i].down;
    for (size_t i = 0; i < log->host_count; i++)
        log->hosts[i].ranks_seen = 0;
    for (int i = 0; i < log->ranks && (size_t)i < log->rank_capacity; i++)
        if (log->ranks_table[i].host >= 0)
            log->hosts[log->ranks_table[i].host].ranks_seen++;
}

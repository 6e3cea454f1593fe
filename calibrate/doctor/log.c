/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/log.h"

#include "calibrate/doctor/log_lines.h"
#include "calibrate/doctor/log_split.h"
#include "calibrate/import/line_reader.h"
#include "calibrate/import/not_text.h"
#include "calibrate/import/prefix.h"
#include "common/text.h"

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

/* Each piece is ended where the next one begins, and read. */
static void read_pieces(gl_log *log, gl_arena *arena, const gl_log_place *place, char *line)
{
    gl_log_piece piece, next;
    bool more = gl_log_split_next(log, arena, line, line, false, &piece);
    if (!more) {
        gl_log_read_plain(log, arena, place, line);
        return;
    }
    while (more) {
        more = gl_log_split_next(log, arena, line, piece.text, true, &next);
        char *cut = more ? next.start : NULL, kept = '\0';
        if (cut != NULL) {
            kept = *cut;
            *cut = '\0';
        }
        log->nccl_lines++;
        gl_log_read_piece(log, arena, place, &piece);
        if (cut != NULL)
            *cut = kept;
        piece = next;
    }
}

/* Lines that say anything. Those of a kernel's log (Xid) are welcome without NCCL's. */
static uint64_t understood(const gl_log *log)
{
    return log->nccl_lines + log->said[GL_SAID_RANK_0].count + log->said[GL_SAID_GPU_ERROR].count +
           log->said[GL_SAID_XID].count;
}

bool gl_log_read(gl_log *log, FILE *stream, const char *file, gl_arena *arena, gl_error *err)
{
    gl_line_reader *reader = GL_ARENA_NEW(arena, gl_line_reader, 1);
    uint64_t before = understood(log);
    size_t length;
    char *line;
    gl_line_reader_begin(reader, stream);
    const char *start = gl_line_reader_peek(reader, &length);
    const char *other = gl_not_text(start, length);
    if (other != NULL && !reader->failed)
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = file}, NULL, "%s", other);
    while ((line = gl_line_reader_next(reader, &length)) != NULL) {
        gl_log_place place = {.file = file, .line = reader->number, .whole = line};
        log->line_count++;
        if (gl_prefix_unwrap_json(line))
            length = strlen(line);
        if (gl_starts_with(line, "\xef\xbb\xbf")) /* of a Windows editor, or of several files */
            line += 3, length -= 3;
        if (memchr(line, 0x1b, length) != NULL || memchr(line, 0xc2, length) != NULL)
            gl_prefix_strip_escapes(line);
        read_pieces(log, arena, &place, line);
    }
    if (reader->failed)
        return gl_fail_at(err, GL_ERROR_SYSTEM, &(gl_mark){.file = file}, NULL,
                          "it cannot be read to its end");
    if (understood(log) == before)
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = file}, NULL,
                          "NCCL says nothing in it; wanted: output of a program that ran with "
                          "NCCL_DEBUG=INFO");
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
    for (size_t i = 0; i < log->host_count; i++)
        log->hosts[i].ranks_seen = 0;
    for (int i = 0; i < log->ranks && (size_t)i < log->rank_capacity; i++)
        if (log->ranks_table[i].host >= 0)
            log->hosts[log->ranks_table[i].host].ranks_seen++;
}

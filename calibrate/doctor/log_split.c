/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/log_split.h"

#include "calibrate/import/prefix.h"
#include "common/hash.h"
#include "common/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 128 };

/* ---- hosts ---- */

/* The slot that holds the name, or the empty one where it belongs. */
static size_t slot_of(const gl_log *log, const char *name, size_t length)
{
    size_t slot = (size_t)gl_hash_add(GL_HASH_START, name, length) & (log->index_size - 1);
    for (; log->index[slot] != 0; slot = (slot + 1) & (log->index_size - 1)) {
        const char *held = log->hosts[log->index[slot] - 1].name;
        if (strncmp(held, name, length) == 0 && held[length] == '\0')
            break;
    }
    return slot;
}

static int find_host(const gl_log *log, const char *name, size_t length)
{
    return (int)log->index[slot_of(log, name, length)] - 1;
}

int gl_log_host(gl_log *log, gl_arena *arena, const char *name, size_t length)
{
    if (log->host_count > 0) { /* lines of one host often follow each other */
        const char *last = log->hosts[log->last_host].name;
        if (strncmp(last, name, length) == 0 && last[length] == '\0')
            return (int)log->last_host;
    }
    if (length == 0 || length > NAME_MAX_BYTES)
        return -1;
    size_t slot = slot_of(log, name, length);
    if (log->index[slot] == 0) {
        char text[NAME_MAX_BYTES + 1], printable[NAME_MAX_BYTES + 1];
        if (log->host_count == GL_LOG_HOST_LIMIT)
            return -1;
        snprintf(text, sizeof text, "%.*s", (int)length, name);
        if (strcmp(gl_printable(text, printable, sizeof printable), text) != 0)
            return -1; /* no host has such a name */
        log->hosts = gl_arena_grow(arena, log->hosts, &log->host_capacity, log->host_count + 1,
                                   sizeof *log->hosts);
        log->hosts[log->host_count] =
            (gl_log_nccl_host){.name = gl_arena_strdup(arena, text),
                               .said = GL_ARENA_NEW(arena, gl_host_said, 1),
                               .gpu = ""};
        log->index[slot] = (uint32_t)++log->host_count;
    }
    log->last_host = log->index[slot] - 1;
    return (int)log->last_host;
}

/* ---- prefixes ---- */

/* Is this the end of "<stdout>" and its kin? A name in pasted text may be "<host>". */
static bool ends_stream(const char *word, size_t end)
{
    static const char *const streams[] = {"<stdout>", "<stderr>", "<stddiag>"};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        size_t length = strlen(streams[i]);
        if (end >= length && memcmp(word + end - length, streams[i], length) == 0)
            return true;
    }
    return false;
}

/* Behind the tag of a launcher that is glued to the host: "[1,0]<stdout>:vm". */
static size_t tag_length(const char *word, size_t length)
{
    for (size_t i = length; i > 0; i--)
        if (word[i - 1] == ']' || ends_stream(word, i))
            return i < length && word[i] == ':' ? i + 1 : i;
    return 0;
}

/* Behind a time that is glued to the host: "2025-05-16T16:39:51.208-07:00vm". */
static size_t stamp_length(const char *word, size_t length)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    size_t i = 0;
    for (; form[i] != '\0'; i++)
        if (i == length || (form[i] == 'd' ? !isdigit((unsigned char)word[i]) : word[i] != form[i]))
            return 0;
    if (i < length && (word[i] == '.' || word[i] == ','))
        for (i++; i < length && isdigit((unsigned char)word[i]);)
            i++;
    if (i < length && word[i] == 'Z')
        return i + 1;
    if (i + 6 <= length && (word[i] == '+' || word[i] == '-') && word[i + 3] == ':')
        return i + 6;
    return i;
}

/* Bytes in front of the host that another writer left there. A known host decides; else numbers of
 * a row ("-1node01", "0.00N/A") go. Behind another piece that lost its end of line nothing tells
 * where a name begins that is not known: then it is all of it, and none. */
static size_t glued_length(const gl_log *log, const char *word, size_t length, bool again)
{
    bool numeric = isdigit((unsigned char)word[0]) || word[0] == '-' || word[0] == '.' ||
                   strncmp(word, "N/A", 3) == 0;
    if ((!again && !numeric) || find_host(log, word, length) >= 0)
        return 0;
    for (size_t i = 1; i < length; i++)
        if (find_host(log, word + i, length - i) >= 0)
            return i;
    if (again)
        return length;
    if (strncmp(word, "N/A", 3) == 0)
        return 3;
    if (word[0] != '-')
        return 0;
    size_t i = 1;
    while (i < length && isdigit((unsigned char)word[i]))
        i++;
    return i < length ? i : 0;
}

static void read_prefix(gl_log *log, gl_arena *arena, char *line, char *mark, bool again,
                        gl_log_piece *piece)
{
    char *end = line + gl_prefix_host_end(line, (size_t)(mark - line));
    piece->host = -1;
    piece->thread = piece->process = 0;
    piece->start = mark;
    if (end == line)
        return;
    char *word = line + gl_prefix_word_back(line, (size_t)(end - line));
    size_t tag = tag_length(word, (size_t)(end - word));
    word += tag;
    word += stamp_length(word, (size_t)(end - word));
    size_t length = gl_prefix_host_length(word, (size_t)(end - word));
    if (length == 0)
        return;
    size_t glued = glued_length(log, word, length, again);
    piece->start = glued < length ? word + glued : word;
    const char *ids = word + length; /* ":PID:TID" */
    piece->thread = gl_hash_add(GL_HASH_START, ids, (size_t)(end - ids));
    const char *second = memchr(ids + 1, ':', (size_t)(end - ids - 1));
    piece->process =
        gl_hash_add(GL_HASH_START, ids, (size_t)((second != NULL ? second : end) - ids));
    piece->host = gl_log_host(log, arena, word + glued, length - glued);
}

bool gl_log_split_next(gl_log *log, gl_arena *arena, char *line, char *from, bool again,
                       gl_log_piece *piece)
{
    for (char *mark = strstr(from, "NCCL "); mark != NULL; mark = strstr(mark + 5, "NCCL ")) {
        piece->is_cut = false;
        piece->is_warning = strncmp(mark + 5, "WARN ", 5) == 0;
        if (!piece->is_warning && strncmp(mark + 5, "INFO ", 5) != 0)
            continue;
        piece->text = mark + 10;
        read_prefix(log, arena, line, mark, again, piece);
        if (piece->start < from)
            piece->start = from;
        return true;
    }
    return false;
}

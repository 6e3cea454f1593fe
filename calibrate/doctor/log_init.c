/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which ranks began the init of a communicator and did not complete it. */
#include "calibrate/doctor/log_lines.h"

#include "common/text.h"

#include <stdlib.h>
#include <string.h>

/* Where it stands; the count when it does not. */
typedef bool is_entry(const gl_log_init *entry, const gl_log_init *wanted);

static size_t find(const gl_log *log, is_entry *is, const gl_log_init *wanted)
{
    size_t i = 0;
    while (i < log->init_count && !is(&log->inits[i], wanted))
        i++;
    return i;
}

static void close_all(gl_log *log, is_entry *is, const gl_log_init *wanted)
{
    for (size_t i = find(log, is, wanted); i < log->init_count; i = find(log, is, wanted))
        log->inits[i] = log->inits[--log->init_count];
}

static void open_one(gl_log *log, gl_arena *arena, const gl_log_place *place,
                     const gl_log_piece *piece, gl_log_init entry)
{
    if (log->init_count == GL_LOG_INIT_LIMIT)
        return;
    if (log->init_quotes < GL_LOG_INIT_LIMIT) {
        log->init_quotes++;
        gl_quote_once(&entry.quote, arena, place->file, place->line, piece->start);
    }
    entry.file = place->file;
    log->inits = gl_arena_grow(arena, log->inits, &log->init_capacity, log->init_count + 1,
                               sizeof *log->inits);
    log->inits[log->init_count++] = entry;
}

/* One rank has one address of a communicator; lines that lost their host are anybody's. */
static bool is_same_rank(const gl_log_init *entry, const gl_log_init *wanted)
{
    return entry->stage == GL_INIT_COMM && entry->comm == wanted->comm &&
           entry->rank == wanted->rank &&
           (entry->host == wanted->host || entry->host < 0 || wanted->host < 0);
}

static bool is_same_thread(const gl_log_init *entry, const gl_log_init *wanted)
{
    return entry->stage != GL_INIT_NETWORK && entry->host == wanted->host &&
           entry->thread == wanted->thread;
}

static bool is_same_process(const gl_log_init *entry, const gl_log_init *wanted)
{
    return entry->stage == GL_INIT_NETWORK && entry->host == wanted->host &&
           entry->process == wanted->process;
}

static bool is_unsettled(const gl_log_init *entry, const gl_log_init *wanted)
{
    (void)wanted;
    return !entry->is_settled;
}

static bool is_of_file(const gl_log_init *entry, const gl_log_init *wanted)
{
    return entry->file == wanted->file;
}

static gl_log_comm *comm_of(gl_log *log, uint64_t id, int ranks)
{
    for (size_t i = 0; i < log->comm_count; i++)
        if (log->comms[i].id == id && log->comms[i].ranks == ranks)
            return &log->comms[i];
    if (log->comm_count == GL_LOG_COMM_LIMIT)
        return NULL;
    log->comms[log->comm_count] = (gl_log_comm){.id = id, .ranks = ranks};
    return &log->comms[log->comm_count++];
}

bool gl_log_is_completed(const gl_log *log, uint64_t id, int ranks)
{
    for (size_t i = 0; i < log->comm_count; i++)
        if ((id == 0 || log->comms[i].id == id) && log->comms[i].ranks == ranks)
            return log->comms[i].completed > 0;
    return log->comm_count == GL_LOG_COMM_LIMIT; /* nobody knows */
}

static uint64_t hex_after(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    return found != NULL ? strtoull(found + strlen(word), NULL, 16) : 0;
}

/* "… comm 0x5 rank 1 nranks 16 … commId 0x7 - Init START" (since 2.18), "comm 0x5 rank 1 nRanks 16
 * nNodes 2 …" (since 2.20), "comm 0x5 rank 1 nranks 16 … - Init COMPLETE". A torn line of the
 * second kind of nranks closes as well: it cannot be known what it said. */
void gl_log_note_init(gl_log *log, gl_arena *arena, const gl_log_place *place,
                      const gl_log_piece *piece, const char *text, long rank, long ranks)
{
    gl_log_init entry = {.stage = GL_INIT_COMM,
                         .comm = hex_after(text, "comm 0x"),
                         .id = hex_after(text, "commId 0x"),
                         .host = piece->host,
                         .thread = piece->thread,
                         .process = piece->process,
                         .rank = (int)rank,
                         .ranks = (int)ranks};
    bool starts = strstr(text, "Init START") != NULL;
    bool goes_on = strstr(text, " nRanks ") != NULL;
    if (ranks < 2 || strstr(text, "Abort") != NULL)
        return;
    log->has_init_start = log->has_init_start || starts;
    close_all(log, is_same_process, &entry);
    if (starts || goes_on) {
        entry.is_bare = !starts;
        if (find(log, is_same_rank, &entry) == log->init_count)
            open_one(log, arena, place, piece, entry);
        return;
    }
    close_all(log, is_same_rank, &entry);
    close_all(log, is_same_thread, &entry);
    gl_log_comm *comm = comm_of(log, entry.id, entry.ranks);
    if (comm != NULL)
        comm->completed++;
}

/* "Init timings - ncclCommInitRank: rank 5 nranks 16 total 1.34 …": it is complete. */
void gl_log_note_init_timings(gl_log *log, const gl_log_piece *piece)
{
    gl_log_init entry = {.host = piece->host, .thread = piece->thread};
    close_all(log, is_same_thread, &entry);
}

/* What only versions without "Init START" need: "Using network IB" of a process that never comes
 * further, "Trees [0] 1/-1/-1->0->-1 …" of a rank that never completes. */
void gl_log_note_init_stage(gl_log *log, gl_arena *arena, const gl_log_place *place,
                            const gl_log_piece *piece, gl_init_stage stage, const char *text)
{
    gl_log_init entry = {.stage = stage,
                         .host = piece->host,
                         .thread = piece->thread,
                         .process = piece->process,
                         .rank = -1};
    if (log->has_init_start || piece->host < 0)
        return;
    if (stage == GL_INIT_NETWORK) {
        if (find(log, is_same_process, &entry) == log->init_count)
            open_one(log, arena, place, piece, entry);
        return;
    }
    const char *own = strstr(text, "->");
    if (own != NULL)
        entry.rank = (int)strtol(own + 2, NULL, 10);
    close_all(log, is_same_process, &entry);
    if (find(log, is_same_thread, &entry) == log->init_count)
        open_one(log, arena, place, piece, entry);
}

void gl_log_begin_run(gl_log *log)
{
    for (size_t i = 0; i < log->init_count; i++)
        log->inits[i].is_settled = true;
}

void gl_log_end_run(gl_log *log)
{
    close_all(log, is_unsettled, NULL);
}

void gl_log_end_file(gl_log *log, const gl_log_piece *last)
{
    gl_log_init wanted = {.host = last->host, .thread = last->thread};
    size_t i = find(log, is_same_thread, &wanted);
    if (i < log->init_count)
        log->inits[i].is_last = true;
}

void gl_log_forget_inits_of(gl_log *log, const char *file)
{
    gl_log_init wanted = {.file = file};
    close_all(log, is_of_file, &wanted);
}

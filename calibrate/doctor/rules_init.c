/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Communicators whose init began and did not end. */
#include "calibrate/doctor/rules.h"

#include <stdlib.h>
#include <string.h>

enum { HOSTS_SHOWN = 4, RANGES_SHOWN = 6, PROCESSES_MIN = 2 };

/* NCCL until 2.17 does not say that an init starts. */
static bool is_old(const gl_log *log)
{
    char *end;
    long major = strtol(log->version, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return !log->has_init_start && major == 2 && minor < 18;
}

/* Entries of one communicator; of old versions all together. */
static bool belongs(const gl_log_init *entry, const gl_log_init *first)
{
    return entry->stage == first->stage && entry->id == first->id && entry->ranks == first->ranks;
}

static size_t count_of(const gl_log *log, const gl_log_init *first)
{
    size_t count = 0;
    for (size_t i = 0; i < log->init_count; i++)
        count += belongs(&log->inits[i], first);
    return count;
}

/* One of them spoke last while others had completed: the log may be cut off before the rest. */
static bool may_be_cut(const gl_log *log, const gl_log_init *first)
{
    if (!gl_log_is_completed(log, first->id, first->ranks))
        return false;
    for (size_t i = 0; i < log->init_count; i++)
        if (belongs(&log->inits[i], first) && log->inits[i].is_last)
            return true;
    return false;
}

/* A line that is not about the start is worth something only where starts or ends are logged; that
 * a process chose a network, where other lines of the init would be there. */
static bool counts(const gl_log *log, const gl_log_init *entry)
{
    if (entry->stage == GL_INIT_COMM)
        return (!entry->is_bare || log->has_init_start ||
                gl_log_is_completed(log, entry->id, entry->ranks)) &&
               !may_be_cut(log, entry);
    return is_old(log) &&
           (entry->stage == GL_INIT_TREES ||
            (log->said[GL_SAID_CHANNEL].count == 0 && count_of(log, entry) >= PROCESSES_MIN));
}

/* The communicator that most ranks did not complete. */
static const gl_log_init *worst_of(const gl_log *log, size_t *most)
{
    const gl_log_init *worst = NULL;
    *most = 0;
    for (size_t i = 0; i < log->init_count; i++) {
        const gl_log_init *entry = &log->inits[i];
        if ((worst != NULL && belongs(entry, worst)) || !counts(log, entry))
            continue;
        size_t count = count_of(log, entry);
        if (count > *most) {
            *most = count;
            worst = entry;
        }
    }
    return worst;
}

/* "gpu-01, gpu-02 and 6 other hosts"; "" when no line names one. */
static const char *hosts_of(gl_diagnosis *d, const gl_log_init *first)
{
    const gl_log *log = d->facts->log;
    bool *seen = GL_ARENA_NEW(d->arena, bool, log->host_count + 1);
    const char *text = "";
    size_t hosts = 0;
    for (size_t i = 0; i < log->init_count; i++) {
        const gl_log_init *entry = &log->inits[i];
        if (!belongs(entry, first) || entry->host < 0 || seen[entry->host])
            continue;
        seen[entry->host] = true;
        if (hosts++ < HOSTS_SHOWN)
            text = gl_arena_printf(d->arena, "%s%s%s", text, hosts > 1 ? ", " : "",
                                   log->hosts[entry->host].name);
    }
    return hosts > HOSTS_SHOWN
               ? gl_arena_printf(d->arena, "%s and %zu other hosts", text, hosts - HOSTS_SHOWN)
               : text;
}

/* "8-15, 17": the ranks that are marked as wanted. */
static const char *ranges_of(gl_diagnosis *d, const bool *marks, int ranks, bool wanted)
{
    const char *text = "";
    int shown = 0;
    for (int i = 0; i < ranks; i++) {
        int last = i;
        if (marks[i] != wanted)
            continue;
        while (last + 1 < ranks && marks[last + 1] == wanted)
            last++;
        if (shown++ == RANGES_SHOWN)
            return gl_arena_printf(d->arena, "%s, ...", text);
        text = last > i
                   ? gl_arena_printf(d->arena, "%s%s%d-%d", text, shown > 1 ? ", " : "", i, last)
                   : gl_arena_printf(d->arena, "%s%s%d", text, shown > 1 ? ", " : "", i);
        i = last;
    }
    return text;
}

/* Those that are named: there may be more than fit a table. */
static int ranks_of(const gl_log_init *entry)
{
    return entry->ranks < GL_LOG_RANK_LIMIT ? entry->ranks : GL_LOG_RANK_LIMIT;
}

static const bool *started_of(gl_diagnosis *d, const gl_log_init *first)
{
    const gl_log *log = d->facts->log;
    bool *started = GL_ARENA_NEW(d->arena, bool, (size_t)ranks_of(first));
    for (size_t i = 0; i < log->init_count; i++)
        if (belongs(&log->inits[i], first) && log->inits[i].rank >= 0 &&
            log->inits[i].rank < ranks_of(first))
            started[log->inits[i].rank] = true;
    return started;
}

/* What is known of a communicator whose ranks said that they start. */
static void describe_comm(gl_diagnosis *d, gl_finding *f, const gl_log_init *first, size_t open)
{
    const gl_log *log = d->facts->log;
    const bool *started = started_of(d, first);
    const char *hosts = hosts_of(d, first), *ranks = ranges_of(d, started, ranks_of(first), true);
    const char *where = hosts[0] != '\0' ? gl_arena_printf(d->arena, ", on %s", hosts) : "";
    if (gl_log_is_completed(log, first->id, first->ranks)) {
        f->title = gl_arena_printf(d->arena,
                                   "%zu of %d ranks never completed the init of their "
                                   "communicator%s",
                                   open, first->ranks, where);
        f->meaning = gl_arena_printf(d->arena, "Ranks %s stopped while others completed: %s", ranks,
                                     f->meaning);
    } else if (open < (size_t)first->ranks) {
        f->title = gl_arena_printf(d->arena,
                                   "%zu of %d ranks started the init of a communicator%s, and none "
                                   "completed it; the others never show up",
                                   open, first->ranks, where);
        f->meaning = gl_arena_printf(
            d->arena, "Ranks %s are not in the logs: they never arrived, or they log elsewhere. %s",
            ranges_of(d, started, ranks_of(first), false), f->meaning);
    } else {
        f->title = gl_arena_printf(
            d->arena, "All %d ranks started the init of a communicator%s, and none completed it",
            first->ranks, where);
    }
}

static void check_init(gl_diagnosis *d, const gl_rule *rule)
{
    size_t open;
    const gl_log *log = d->facts->log;
    const gl_log_init *first = worst_of(log, &open);
    if (first == NULL || open <= log->glued_pieces)
        return;
    gl_quote proof = first->quote;
    if (proof.text == NULL) /* too many to quote each */
        proof = first->stage == GL_INIT_COMM ? gl_said_first(d, GL_SAID_MANY_RANK_COMM)
                                             : log->version_quote;
    gl_finding *f = gl_found(d, rule, proof);
    const char *hosts = hosts_of(d, first);
    if (first->stage == GL_INIT_COMM)
        describe_comm(d, f, first, open);
    else
        f->title =
            gl_arena_printf(d->arena,
                            "%zu %s began the init of a communicator on %s and never "
                            "completed it",
                            open, first->stage == GL_INIT_TREES ? "ranks" : "processes", hosts);
}

static const gl_rule rules[] = {
    {"init-incomplete", GL_WARNING, "The init of a communicator did not complete",
     "The log ends, and a rank waits for others: one that failed, hangs or was never started, or a "
     "network on which they do not reach each other.",
     "Look at the hosts and ranks that are named or missing: their own logs, whether their "
     "processes run, NCCL_SOCKET_IFNAME, firewalls, NCCL_IB_HCA; a log that was cut off at a "
     "line's end looks the same.",
     .check = check_init},
};

const gl_rules gl_rules_init = {rules, sizeof rules / sizeof *rules};

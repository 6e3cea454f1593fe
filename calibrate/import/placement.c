/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which collective, how many ranks, on how many nodes: from the device list, the rows' shape and
 * the ratio of their bandwidths, and the user, none of whom may contradict another. */
#include "calibrate/import/evaluation.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- collective ---- */

enum { NO_COLLECTIVE = GL_COLLECTIVE_COUNT };

static bool is_same_name(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* "all_reduce_perf" → GL_ALL_REDUCE; NO_COLLECTIVE when it is another test. */
static int by_test_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *start = slash != NULL ? slash + 1 : name;
    const char *end = strstr(start, "_perf");
    size_t length = end != NULL ? (size_t)(end - start) : strlen(start);
    for (int i = 0; i < GL_COLLECTIVE_COUNT; i++)
        if (is_same_name(start, length, gl_collective_name((gl_collective)i)))
            return i;
    return NO_COLLECTIVE;
}

static const gl_parsed_row *largest_row(const gl_evaluation *e)
{
    const gl_parsed_row *largest = NULL;
    for (size_t i = 0; i < e->parsed->row_count; i++)
        if (e->use[i] && (largest == NULL || e->parsed->rows[i].size_bytes > largest->size_bytes))
            largest = &e->parsed->rows[i];
    assert(largest != NULL); /* a run without usable rows is not placed */
    return largest;
}

/* size / (count × element): 1 where a rank's buffer is the size, n where the size counts all. */
static double buffers_per_size(const gl_parsed_row *row)
{
    gl_dtype dtype;
    if (!gl_dtype_parse(row->type, &dtype) || row->count < 1)
        return NAN;
    return row->size_bytes / (row->count * gl_dtype_bytes(dtype));
}

static unsigned bit(gl_collective collective)
{
    return 1u << collective;
}

/* Which collectives print rows of this shape. */
static unsigned candidates(const gl_evaluation *e, const gl_parsed_row *row)
{
    bool reduces = row->redop[0] != '\0' && strcmp(row->redop, "none") != 0;
    bool blank_redop = e->parsed->redop_in_header && row->redop[0] == '\0';
    bool divided = buffers_per_size(row) > 1.5;
    if (reduces)
        return divided ? bit(GL_REDUCE_SCATTER) : bit(row->root >= 0 ? GL_REDUCE : GL_ALL_REDUCE);
    if (!divided)
        return bit(row->root >= 0 ? GL_BROADCAST : GL_SENDRECV);
    if (row->root >= 0)
        return bit(GL_GATHER) | bit(GL_SCATTER);
    return blank_redop ? bit(GL_ALLTOALL) : bit(GL_ALL_GATHER) | bit(GL_ALLTOALL);
}

/* alltoall has no in-place form: since 2.13.1 its columns say N/A. */
static bool has_in_place(const gl_parsed_run *run)
{
    for (size_t i = 0; i < run->row_count; i++)
        if (run->rows[i].in_place && run->rows[i].time.value > 0)
            return true;
    return false;
}

/* Finds a collective's name in the file's, '_' and '-' aside. */
static bool names_collective(const char *path, gl_collective collective)
{
    const char *name = gl_collective_name(collective);
    for (const char *start = gl_evaluate_source(path); *start != '\0'; start++) {
        const char *a = start, *b = name;
        while (*b != '\0') {
            while (*a == '_' || *a == '-')
                a++;
            while (*b == '_')
                b++;
            if (tolower((unsigned char)*a) != *b)
                break;
            a++;
            b++;
        }
        if (*b == '\0')
            return true;
    }
    return false;
}

static int narrow(const gl_evaluation *e, unsigned set)
{
    int found = NO_COLLECTIVE, count = 0;
    if (set == (bit(GL_ALL_GATHER) | bit(GL_ALLTOALL)) && !has_in_place(e->parsed))
        return GL_ALLTOALL;
    for (int pass = 0; pass < 2 && count != 1; pass++) {
        count = 0;
        for (int i = 0; i < GL_COLLECTIVE_COUNT; i++) {
            bool named = names_collective(e->path, (gl_collective)i);
            if ((set & 1u << i) != 0 && (pass == 0 || named)) {
                found = i;
                count++;
            }
        }
    }
    return count == 1 ? found : NO_COLLECTIVE;
}

bool gl_evaluation__collective(gl_evaluation *e)
{
    const char *name = e->parsed->test_name;
    int found = name[0] != '\0' ? by_test_name(name) : NO_COLLECTIVE;
    if (name[0] != '\0' && found == NO_COLLECTIVE)
        return gl_evaluation__refuse(e, 0,
                                     "%.60s is not a test of a collective that curves are "
                                     "kept for",
                                     name);
    if (found != NO_COLLECTIVE && e->options->has_collective &&
        found != (int)e->options->collective)
        return gl_evaluation__refuse(e, 0, "the file holds %s, --collective says %s",
                                     gl_collective_name((gl_collective)found),
                                     gl_collective_name(e->options->collective));
    if (found == NO_COLLECTIVE && e->options->has_collective)
        found = (int)e->options->collective;
    if (found == NO_COLLECTIVE)
        found = narrow(e, candidates(e, largest_row(e)));
    if (found == NO_COLLECTIVE)
        return gl_evaluation__refuse(
            e, 0,
            "the text does not say which collective this is (its rows fit several, such as "
            "all_gather and alltoall): give --collective");
    e->collective = (gl_collective)found;
    return true;
}

/* ---- ranks ---- */

/* What busbw / algbw of a row allows. */
typedef struct range {
    double low, high;
} range;

static bool ratio_of(const gl_parsed_row *row, range *ratio)
{
    double a = row->algbw.value, b = row->busbw.value;
    double ea = row->algbw.error * 1.01, eb = row->busbw.error * 1.01;
    if (!isfinite(a) || !isfinite(b) || !(a > ea))
        return false;
    ratio->low = (b - eb) / (a + ea) * (1 - 1e-6);
    ratio->high = (b + eb) / (a - ea) * (1 + 1e-6);
    return true;
}

/* Ranks that a ratio stands for: n = 2/(2−r) for all_reduce, 1/(1−r) for the others of factor
 * (n−1)/n. Infinite at and beyond the limit. */
static double ranks_of_ratio(gl_collective collective, double ratio)
{
    double limit = collective == GL_ALL_REDUCE ? 2 : 1;
    return ratio < limit ? limit / (limit - ratio) : (double)INFINITY;
}

static bool tells_ranks(gl_collective collective)
{
    return gl_bus_factor(collective, 2) != gl_bus_factor(collective, 4);
}

/* What all used rows together allow; false when they contradict each other. */
static bool common_ratio(const gl_evaluation *e, range *all)
{
    range ratio;
    *all = (range){0, INFINITY};
    for (size_t i = 0; i < e->parsed->row_count; i++) {
        if (!e->use[i] || !ratio_of(&e->parsed->rows[i], &ratio))
            continue;
        all->low = fmax(all->low, ratio.low);
        all->high = fmin(all->high, ratio.high);
    }
    return all->low <= all->high;
}

/* The whole numbers of ranks in a range of ratios, perhaps none. */
static range whole_ranks(const gl_evaluation *e, const range *ratio)
{
    return (range){fmax(1, ceil(ranks_of_ratio(e->collective, ratio->low) - 1e-9)),
                   floor(ranks_of_ratio(e->collective, ratio->high) + 1e-9)};
}

static bool ranks_by_ratio(const gl_evaluation *e, range *ranks)
{
    range all;
    bool agree = common_ratio(e, &all);
    *ranks = whole_ranks(e, &all);
    return agree && ranks->low <= ranks->high;
}

/* Of the used rows that do not show the factor, the one whose ratio is known best. */
static const gl_parsed_row *sharpest_row(const gl_evaluation *e, double factor, range *ratio)
{
    const gl_parsed_row *best = NULL;
    for (size_t i = 0; i < e->parsed->row_count; i++) {
        range r;
        if (e->use[i] && ratio_of(&e->parsed->rows[i], &r) && (factor < r.low || factor > r.high) &&
            (best == NULL || r.high - r.low < ratio->high - ratio->low)) {
            best = &e->parsed->rows[i];
            *ratio = r;
        }
    }
    return best;
}

static void describe_ranks(const gl_evaluation *e, const range *ratio, char *text, size_t size)
{
    range ranks = whole_ranks(e, ratio);
    double low = ranks_of_ratio(e->collective, ratio->low);
    double high = ranks_of_ratio(e->collective, ratio->high);
    if (!tells_ranks(e->collective) || !isfinite(low))
        snprintf(text, size, "which no number of ranks gives");
    else if (!isfinite(high))
        snprintf(text, size, "which is %.0f ranks or more", ranks.low);
    else if (ranks.high < ranks.low)
        snprintf(text, size, "which would be %.2f ranks", (low + high) / 2);
    else if (ranks.low == ranks.high)
        snprintf(text, size, "which is %.0f ranks", ranks.low);
    else
        snprintf(text, size, "which is %.0f to %.0f ranks", ranks.low, ranks.high);
}

static bool refuse_ratio(gl_evaluation *e, int ranks, const char *source)
{
    range sharpest = {0, 0}, all;
    char implied[120];
    double factor = gl_bus_factor(e->collective, ranks);
    const gl_parsed_row *row = sharpest_row(e, factor, &sharpest);
    if (!common_ratio(e, &all))
        all = sharpest;
    describe_ranks(e, &all, implied, sizeof implied);
    return gl_evaluation__refuse(e, row->line,
                                 "busbw / algbw is %.5g for %s, %s; %s says %d ranks (factor %.5g)",
                                 (all.low + all.high) / 2, gl_collective_name(e->collective),
                                 implied, source, ranks, factor);
}

/* How a row's ratio stands to the factor of a number of ranks. */
typedef enum verdict { FITS, NEAR_MISS, FAR_OFF, SILENT } verdict;

static verdict judge_ratio(const gl_evaluation *e, size_t index, double factor)
{
    range ratio;
    if (!e->use[index] || !ratio_of(&e->parsed->rows[index], &ratio))
        return SILENT;
    if (factor >= ratio.low && factor <= ratio.high)
        return FITS;
    return factor * 1.03 >= ratio.low && factor * 0.97 <= ratio.high ? NEAR_MISS : FAR_OFF;
}

/* Every row must show the factor of this many ranks. A few that are far off are mangled and left
 * out; one that misses by a little is a sharp witness for another number. */
static bool check_factor(gl_evaluation *e, int ranks, const char *source)
{
    double factor = gl_bus_factor(e->collective, ranks);
    size_t counts[SILENT + 1] = {0};
    for (size_t i = 0; i < e->parsed->row_count; i++)
        counts[judge_ratio(e, i, factor)]++;
    size_t known = counts[FITS] + counts[NEAR_MISS] + counts[FAR_OFF];
    if (counts[NEAR_MISS] > 0 || counts[FAR_OFF] * 10 > known)
        return refuse_ratio(e, ranks, source);
    for (size_t i = 0; i < e->parsed->row_count; i++)
        if (judge_ratio(e, i, factor) == FAR_OFF)
            e->use[i] = false;
    if (counts[FAR_OFF] > 0)
        gl_evaluation__warn(e,
                            "%zu of %zu values left out: busbw / algbw is not the factor of %d "
                            "ranks",
                            counts[FAR_OFF], known, ranks);
    return true;
}

/* The group that is reported: that of the first device. Splitting by NCCL_TESTS_SPLIT makes several
 * of (normally) one size. */
static int group_size(const gl_parsed_run *run, int group)
{
    int count = 0;
    for (size_t i = 0; i < run->device_count; i++)
        count += run->devices[i].group == group;
    return count;
}

/* Ranks by the device list (or what stands for it), 0 when nothing lists them. */
static int listed_ranks(const gl_parsed_run *run, const char **source)
{
    *source = "the device list";
    if (run->only_first_device) {
        *source = "the configuration (ngpus x nthreads)";
        return run->gpus > 0 && run->threads > 0 && run->gpus <= 100000 && run->threads <= 1000
                   ? run->gpus * run->threads
                   : 0;
    }
    return run->device_count > 0 ? group_size(run, run->devices[0].group) : 0;
}

static bool unlisted_ranks(gl_evaluation *e, int *ranks)
{
    range possible = {0, 0};
    double buffers = buffers_per_size(largest_row(e));
    if (tells_ranks(e->collective) && !ranks_by_ratio(e, &possible))
        return gl_evaluation__refuse(e, 0,
                                     "busbw / algbw differs from row to row as for no number "
                                     "of ranks: these rows were not printed by one run");
    if (tells_ranks(e->collective) && possible.low == possible.high && possible.low < 1e6) {
        *ranks = (int)possible.low;
        return true;
    }
    /* Where the size counts all ranks, size and count tell the number exactly. */
    if (e->collective != GL_ALL_REDUCE && tells_ranks(e->collective) && buffers == floor(buffers) &&
        buffers >= possible.low && buffers <= possible.high && buffers >= 2 && buffers < 1e6) {
        *ranks = (int)buffers;
        return true;
    }
    if (!tells_ranks(e->collective))
        return gl_evaluation__refuse(
            e, 0,
            "the file lists no devices, and %s does not show the number of ranks: give --ranks",
            gl_collective_name(e->collective));
    if (!isfinite(possible.high))
        return gl_evaluation__refuse(
            e, 0,
            "the file lists no devices, and busbw / algbw only shows that there are at least "
            "%.0f ranks: give --ranks",
            possible.low);
    return gl_evaluation__refuse(
        e, 0,
        "the file lists no devices, and busbw / algbw only shows that there are %.0f to %.0f "
        "ranks: give --ranks",
        possible.low, possible.high);
}

static bool find_ranks(gl_evaluation *e, int *ranks)
{
    const char *source;
    int listed = listed_ranks(e->parsed, &source);
    int wanted = e->options->ranks;
    if (listed > 0 && wanted > 0 && listed != wanted)
        return gl_evaluation__refuse(e, 0, "%s says %d ranks, --ranks says %d", source, listed,
                                     wanted);
    if (listed == 0 && wanted > 0)
        source = "--ranks";
    *ranks = listed > 0 ? listed : wanted;
    if (*ranks == 0) {
        source = "the ratio of the largest rows";
        if (!unlisted_ranks(e, ranks))
            return false;
    }
    if (*ranks < 2)
        return gl_evaluation__refuse(e, 0,
                                     "%s says one rank, but bandwidths are above zero: the "
                                     "list of devices is incomplete",
                                     source);
    return check_factor(e, *ranks, source);
}

/* ---- nodes ---- */

/* Distinct hosts of a group and its ranks on the fullest one (host index in *fullest). */
static int count_hosts(const gl_evaluation *e, int group, int *most, int *fullest)
{
    const gl_parsed_run *run = e->parsed;
    int hosts = 0;
    int *ranks = GL_ARENA_NEW(e->arena, int, (size_t)run->host_count);
    *most = *fullest = 0;
    for (size_t i = 0; i < run->device_count; i++) {
        if (run->devices[i].group != group)
            continue;
        int host = run->devices[i].host;
        hosts += ranks[host]++ == 0;
        if (ranks[host] > *most) {
            *most = ranks[host];
            *fullest = host;
        }
    }
    return hosts;
}

static int compare_devices(const void *a, const void *b)
{
    const gl_parsed_device *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->bus > y->bus) - (x->bus < y->bus);
}

/* Do two ranks claim one device of one host? Then several machines share that name (containers). */
static bool repeats_devices(const gl_evaluation *e)
{
    const gl_parsed_run *run = e->parsed;
    gl_parsed_device *sorted = GL_ARENA_NEW(e->arena, gl_parsed_device, run->device_count);
    memcpy(sorted, run->devices, run->device_count * sizeof *sorted);
    qsort(sorted, run->device_count, sizeof *sorted, compare_devices);
    for (size_t i = 1; i < run->device_count; i++)
        if (sorted[i].bus != 0 && compare_devices(&sorted[i - 1], &sorted[i]) == 0)
            return true;
    return false;
}

/* Groups that have ranks on a host, at the same time. */
static int groups_on_host(const gl_evaluation *e, int host)
{
    const gl_parsed_run *run = e->parsed;
    int groups = 0;
    bool *seen = GL_ARENA_NEW(e->arena, bool, GL_PARSED_RANKS_MAX);
    for (size_t i = 0; i < run->device_count; i++) {
        int group = run->devices[i].group;
        if (run->devices[i].host != host || group < 0 || group >= GL_PARSED_RANKS_MAX)
            continue;
        groups += !seen[group];
        seen[group] = true;
    }
    return groups > 0 ? groups : 1;
}

/* Nodes when the list of hosts says one number and NCCL's log or the user another. */
static bool settle_nodes(gl_evaluation *e, int hosts, int *nodes)
{
    int logged = e->parsed->log.nodes, wanted = e->options->nodes;
    bool shared_name = repeats_devices(e);
    *nodes = hosts;
    if (shared_name && logged <= hosts && wanted <= hosts)
        return gl_evaluation__refuse(e, 0,
                                     "ranks of one host name share a PCI bus id: several "
                                     "machines (or containers) have the same name; give "
                                     "--nodes");
    if (shared_name) {
        *nodes = wanted > 0 ? wanted : logged;
        gl_evaluation__warn(e, "%d nodes share %d host name%s", *nodes, hosts,
                            hosts == 1 ? "" : "s");
    } else if (logged > 0 && logged != hosts) {
        gl_evaluation__warn(e,
                            "NCCL counts %d nodes, the device list has %d host%s: %s; stored as %d",
                            logged, hosts, hosts == 1 ? "" : "s",
                            logged > hosts ? "ranks of one host were kept apart (containers, or "
                                             "P2P and SHM switched off)"
                                           : "several hosts make one NVLink domain, or the log is "
                                             "of another run",
                            hosts);
    }
    if (wanted > 0 && wanted != *nodes)
        return gl_evaluation__refuse(e, 0, "the device list has %d host%s, --nodes says %d", *nodes,
                                     *nodes == 1 ? "" : "s", wanted);
    return true;
}

static bool unlisted_nodes(gl_evaluation *e, int ranks, int *nodes)
{
    const gl_parsed_run *run = e->parsed;
    int logged = run->log.nodes, wanted = e->options->nodes;
    bool one_process = run->gpus > 0 && run->threads > 0 && run->gpus <= 100000 &&
                       run->threads <= 1000 && run->gpus * run->threads == ranks;
    if (logged > 0 && wanted > 0 && logged != wanted)
        return gl_evaluation__refuse(e, 0, "NCCL's log says %d nodes, --nodes says %d", logged,
                                     wanted);
    if (one_process && wanted > 1)
        return gl_evaluation__refuse(e, 0,
                                     "one process ran all %d ranks, on one node; --nodes says "
                                     "%d",
                                     ranks, wanted);
    *nodes = logged > 0 ? logged : wanted > 0 ? wanted : one_process ? 1 : 0;
    if (*nodes == 0)
        return gl_evaluation__refuse(e, 0,
                                     "the file lists no devices, so that the number of nodes "
                                     "is not known: give --nodes");
    return true;
}

static bool check_nodes(gl_evaluation *e, int ranks, int nodes)
{
    return nodes <= ranks ||
           gl_evaluation__refuse(e, 0, "%d ranks cannot be on %d nodes", ranks, nodes);
}

bool gl_evaluation__placement(gl_evaluation *e)
{
    const gl_parsed_run *run = e->parsed;
    gl_placement p = {.concurrent_groups = 1};
    if (!find_ranks(e, &p.ranks))
        return false;
    if (run->device_count == 0 || run->only_first_device) {
        if (!unlisted_nodes(e, p.ranks, &p.nodes) || !check_nodes(e, p.ranks, p.nodes))
            return false;
        p.ranks_per_node = (p.ranks + p.nodes - 1) / p.nodes;
    } else {
        int fullest, group = run->devices[0].group;
        int hosts = count_hosts(e, group, &p.ranks_per_node, &fullest);
        if (!settle_nodes(e, hosts, &p.nodes) || !check_nodes(e, p.ranks, p.nodes))
            return false;
        if (p.nodes != hosts)
            p.ranks_per_node = (p.ranks + p.nodes - 1) / p.nodes;
        if (group_size(run, group) < (int)run->device_count)
            p.concurrent_groups = groups_on_host(e, fullest);
    }
    e->placement = p;
    return true;
}

/* ---- transport ---- */

/* Does the log, though it does not settle the wire, rule this one out? */
static bool is_ruled_out(const gl_evaluation *e, gl_transport transport)
{
    const gl_nccl_log_channels *seen = &e->parsed->log.channels;
    bool network = seen->net_ib > 0 || seen->net_socket > 0 || seen->net_other > 0;
    bool asks_network = transport == GL_TRANSPORT_NET_IB || transport == GL_TRANSPORT_NET_ROCE ||
                        transport == GL_TRANSPORT_NET_SOCKET;
    if (network)
        return !asks_network;
    return seen->p2p > 0 && e->placement.nodes == 1 &&
           (asks_network || transport == GL_TRANSPORT_SHM);
}

bool gl_evaluation__transport(gl_evaluation *e)
{
    const char *why;
    gl_transport proven = gl_nccl_log_transport(&e->parsed->log, e->placement.nodes, &why);
    gl_transport wanted = e->options->transport;
    bool asked = e->options->has_transport && wanted != GL_TRANSPORT_UNKNOWN;
    if (asked && ((proven != GL_TRANSPORT_UNKNOWN && proven != wanted) ||
                  (proven == GL_TRANSPORT_UNKNOWN && is_ruled_out(e, wanted))))
        return gl_evaluation__refuse(e, 0, "the log shows %s (%s), --transport says %s",
                                     proven != GL_TRANSPORT_UNKNOWN ? gl_transport_name(proven)
                                                                    : "another transport",
                                     why, gl_transport_name(wanted));
    e->transport = proven != GL_TRANSPORT_UNKNOWN ? proven : asked ? wanted : proven;
    e->nics = gl_nccl_log_nics(&e->parsed->log);
    if (e->transport == GL_TRANSPORT_UNKNOWN)
        gl_evaluation__warn(e, "transport unknown%s%s%s: give --transport",
                            why[0] != '\0' ? " (" : "", why, why[0] != '\0' ? ")" : "");
    return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/calibration.h"

#include "common/datadir.h"
#include "common/store/store.h"
#include "common/text.h"
#include "planner/input/file_text.h"
#include "planner/input/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES = 256, LABELS_MAX = 64, SAMPLES_MIN = 2 };

typedef struct picker {
    const gl_calibration_request *request;
    const char *file;
    gl_store *store;
    gl_catalog catalog;
    gl_arena *arena;
    gl_texts *warnings;
    gl_error *err;
    size_t repeated;   /* curves left out because another has the same key */
    size_t incomplete; /* curves taken from runs that did not end well */
    size_t failed;     /* curves of which no sample passed validation */
} picker;

/* A curve that may be taken, and what decides between curves of the same key. */
typedef struct candidate {
    const gl_curve *curve;
    const gl_run *run;
} candidate;

static bool fail(const picker *p, const char *message)
{
    gl_mark mark = {.file = p->file};
    return gl_fail_at(p->err, GL_ERROR_INPUT, &mark, NULL, "%s", message);
}

/* ---- runs ---- */

static bool run_wanted(const picker *p, const gl_run *run)
{
    return p->request->label == NULL || strcmp(p->request->label, run->label) == 0;
}

static const gl_run *find_run(const picker *p, int64_t id)
{
    /* Runs are sorted by id. */
    size_t low = 0, high = p->catalog.run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->catalog.runs[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    const gl_run *run = low < p->catalog.run_count ? &p->catalog.runs[low] : NULL;
    return run != NULL && run->id == id && run_wanted(p, run) ? run : NULL;
}

static const char *labels_text(const picker *p, char *text, size_t size)
{
    const char *labels[LABELS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < p->catalog.run_count && count < LABELS_MAX; i++) {
        const char *label = p->catalog.runs[i].label;
        bool known = label[0] == '\0';
        for (size_t k = 0; k < count; k++)
            known = known || strcmp(labels[k], label) == 0;
        if (!known)
            labels[count++] = label;
    }
    return count > 0 ? gl_list_names(labels, count, text, size) : "none";
}

static bool check_label(const picker *p)
{
    char labels[LIST_BYTES], message[LIST_BYTES + 128];
    for (size_t i = 0; i < p->catalog.run_count; i++)
        if (run_wanted(p, &p->catalog.runs[i]))
            return true;
    if (p->request->label == NULL)
        return fail(p, "the calibration database holds no runs");
    snprintf(message, sizeof message, "no run has the label '%.60s'; labels: %s", p->request->label,
             labels_text(p, labels, sizeof labels));
    return fail(p, message);
}

/* The GPU that all wanted runs name; runs that name none do not count. */
static bool find_gpu(const picker *p, const char **gpu)
{
    char message[256];
    *gpu = "";
    for (size_t i = 0; i < p->catalog.run_count; i++) {
        const gl_run *run = &p->catalog.runs[i];
        if (!run_wanted(p, run) || run->gpu[0] == '\0')
            continue;
        if ((*gpu)[0] != '\0' && strcmp(*gpu, run->gpu) != 0) {
            snprintf(message, sizeof message,
                     "holds runs of different GPUs (%.60s, %.60s); choose by label: FILE#LABEL",
                     *gpu, run->gpu);
            return fail(p, message);
        }
        *gpu = run->gpu;
    }
    return true;
}

/* ---- transports ---- */

static bool in_tier(const gl_curve *curve, gl_calibration_tier tier)
{
    return (curve->placement.nodes > 1) == (tier == GL_ACROSS_NODES);
}

static bool usable(const picker *p, const gl_curve *curve, gl_calibration_tier tier)
{
    return in_tier(curve, tier) && curve->sample_count >= SAMPLES_MIN &&
           find_run(p, curve->run_id) != NULL;
}

static bool fail_transports(const picker *p, gl_calibration_tier tier, const bool *present)
{
    const char *names[GL_TRANSPORT_COUNT];
    char list[LIST_BYTES], labels[LIST_BYTES], message[512];
    size_t count = 0;
    for (int t = 0; t < GL_TRANSPORT_COUNT; t++)
        if (present[t] && t != GL_TRANSPORT_UNKNOWN)
            names[count++] = gl_transport_name((gl_transport)t);
    const char *where = tier == GL_INSIDE_NODES ? "inside a node" : "across nodes";
    gl_list_names(names, count, list, sizeof list);
    if (p->request->transport != GL_TRANSPORT_UNKNOWN)
        snprintf(message, sizeof message, "holds no curves over %s %s, only over %s",
                 gl_transport_name(p->request->transport), where, list);
    else
        snprintf(message, sizeof message,
                 "holds curves over several transports %s (%s); choose runs by label: FILE#LABEL "
                 "(labels: %.120s), or filter when importing",
                 where, list, labels_text(p, labels, sizeof labels));
    return fail(p, message);
}

/* What is known wins over what is not: a log without lines that tell could be of any transport. */
static void warn_unknown(const picker *p, gl_calibration_tier tier, gl_transport taken,
                         size_t count)
{
    if (taken != GL_TRANSPORT_UNKNOWN && count > 0)
        gl_warn(p->warnings, p->arena, &(gl_mark){.file = p->file}, NULL,
                "curves %s of an unknown transport: %zu, left out beside those over %s; import "
                "with --transport what belongs to them",
                tier == GL_INSIDE_NODES ? "inside a node" : "across nodes", count,
                gl_transport_name(taken));
}

/* Which transport of a tier to take. A link's own wins, and without a link the only one that is
 * known; curves that name none serve where there are no others. *found is false when the tier has
 * no curves. */
static bool choose_transport(const picker *p, gl_calibration_tier tier, gl_transport *transport,
                             bool *found)
{
    bool present[GL_TRANSPORT_COUNT] = {false};
    size_t known = 0, unknown = 0;
    gl_transport wanted = p->request->transport;
    for (size_t i = 0; i < p->catalog.curve_count; i++) {
        const gl_curve *curve = &p->catalog.curves[i];
        if (!usable(p, curve, tier))
            continue;
        known += curve->transport != GL_TRANSPORT_UNKNOWN && !present[curve->transport];
        unknown += curve->transport == GL_TRANSPORT_UNKNOWN;
        present[curve->transport] = true;
    }
    *found = known + unknown > 0;
    *transport = GL_TRANSPORT_UNKNOWN;
    for (int t = 0; t < GL_TRANSPORT_COUNT; t++)
        if (present[t] && t != GL_TRANSPORT_UNKNOWN &&
            (wanted == GL_TRANSPORT_UNKNOWN || t == (int)wanted))
            *transport = (gl_transport)t;
    bool clear = wanted == GL_TRANSPORT_UNKNOWN ? known <= 1
                                                : known == 0 || unknown > 0 || *transport == wanted;
    warn_unknown(p, tier, *transport, unknown);
    return clear || fail_transports(p, tier, present);
}

/* ---- one curve per key ---- */

static int compare_ints(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Curves of floating-point types stand for each other: the wire sees bytes. */
static int compare_keys(const gl_curve *a, const gl_curve *b)
{
    const int64_t keys[][2] = {
        {a->collective, b->collective},
        {gl_dtype_is_integer(a->dtype), gl_dtype_is_integer(b->dtype)},
        {a->placement.ranks, b->placement.ranks},
        {a->placement.nodes, b->placement.nodes},
        {a->placement.ranks_per_node, b->placement.ranks_per_node},
        {a->placement.concurrent_groups, b->placement.concurrent_groups},
        {a->in_place, b->in_place},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i][0] != keys[i][1])
            return compare_ints(keys[i][0], keys[i][1]);
    return 0;
}

/* Training moves BF16; of the others, the nearer in width first. */
static int dtype_rank(gl_dtype dtype)
{
    static const gl_dtype order[] = {GL_BF16, GL_FP16, GL_FP32, GL_FP8, GL_FP64};
    int rank = 0;
    while (rank < 5 && order[rank] != dtype)
        rank++;
    return rank;
}

/* Negative when `a` is to be preferred. */
static int compare_merit(const candidate *a, const candidate *b)
{
    int complete = (b->run->state == GL_RUN_COMPLETE) - (a->run->state == GL_RUN_COMPLETE);
    if (complete != 0)
        return complete;
    int newer = strcmp(gl_run_taken_at(b->run), gl_run_taken_at(a->run));
    if (newer != 0)
        return newer;
    if (a->run->id != b->run->id)
        return compare_ints(b->run->id, a->run->id);
    int dtype = dtype_rank(a->curve->dtype) - dtype_rank(b->curve->dtype);
    if (dtype != 0)
        return dtype;
    int sum = (strcmp(b->curve->redop, "sum") == 0) - (strcmp(a->curve->redop, "sum") == 0);
    return sum != 0 ? sum : compare_ints(a->curve->id, b->curve->id);
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    int key = compare_keys(x->curve, y->curve);
    return key != 0 ? key : compare_merit(x, y);
}

static candidate *list_candidates(const picker *p, gl_calibration_tier tier, gl_transport transport,
                                  size_t *count)
{
    candidate *list = GL_ARENA_NEW(p->arena, candidate, p->catalog.curve_count);
    *count = 0;
    for (size_t i = 0; i < p->catalog.curve_count; i++) {
        const gl_curve *curve = &p->catalog.curves[i];
        if (curve->transport == transport && usable(p, curve, tier))
            list[(*count)++] = (candidate){.curve = curve, .run = find_run(p, curve->run_id)};
    }
    if (*count > 0)
        qsort(list, *count, sizeof *list, compare_candidates);
    return list;
}

/* Did nccl-tests find wrong data in every sample? */
static bool none_valid(const gl_curve *curve)
{
    size_t valid = 0;
    for (size_t i = 0; i < curve->sample_count; i++)
        valid += !(curve->samples[i].wrong > 0);
    return valid == 0;
}

/* Takes the best curve of each key that has valid samples, and reads them. */
static bool take_curves(picker *p, const candidate *list, size_t count, gl_curve **curves,
                        size_t *taken)
{
    *curves = GL_ARENA_NEW(p->arena, gl_curve, count);
    *taken = 0;
    for (size_t i = 0; i < count; i++) {
        if (*taken > 0 && compare_keys(&(*curves)[*taken - 1], list[i].curve) == 0) {
            p->repeated++;
            continue;
        }
        gl_curve *curve = &(*curves)[*taken];
        *curve = *list[i].curve;
        if (!gl_store_read_samples(p->store, p->arena, curve, p->err))
            return false;
        if (none_valid(curve)) {
            p->failed++;
            continue;
        }
        (*taken)++;
        p->incomplete += list[i].run->state != GL_RUN_COMPLETE;
    }
    return true;
}

static bool load_tier(picker *p, gl_calibration_tier tier, gl_curve **curves, size_t *count)
{
    gl_transport transport = GL_TRANSPORT_UNKNOWN;
    bool found;
    size_t candidates;
    *count = 0;
    if (!choose_transport(p, tier, &transport, &found))
        return false;
    if (!found)
        return p->request->tier == GL_BOTH_TIERS ||
               fail(p, tier == GL_INSIDE_NODES ? "holds no curves inside a node"
                                               : "holds no curves across nodes");
    candidate *list = list_candidates(p, tier, transport, &candidates);
    return take_curves(p, list, candidates, curves, count);
}

/* ---- rates ---- */

static void take_rates(const picker *p, gl_calibration *out)
{
    const gl_catalog *c = &p->catalog;
    gl_compute_rate *compute = GL_ARENA_NEW(p->arena, gl_compute_rate, c->compute_count);
    gl_overlap_rate *overlap = GL_ARENA_NEW(p->arena, gl_overlap_rate, c->overlap_count);
    for (size_t i = 0; i < c->compute_count; i++)
        if (find_run(p, c->compute[i].run_id) != NULL)
            compute[out->compute_count++] = c->compute[i];
    for (size_t i = 0; i < c->overlap_count; i++)
        if (find_run(p, c->overlap[i].run_id) != NULL)
            overlap[out->overlap_count++] = c->overlap[i];
    out->compute = compute;
    out->overlap = overlap;
}

/* ---- the whole ---- */

static bool load_curves(picker *p, gl_calibration *out)
{
    gl_calibration_tier tier = p->request->tier;
    bool inside = tier == GL_INSIDE_NODES || tier == GL_BOTH_TIERS;
    bool across = tier == GL_ACROSS_NODES || tier == GL_BOTH_TIERS;
    if (inside && !load_tier(p, GL_INSIDE_NODES, &out->inside, &out->inside_count))
        return false;
    if (across && !load_tier(p, GL_ACROSS_NODES, &out->across, &out->across_count))
        return false;
    if (p->failed > 0)
        gl_warn(p->warnings, p->arena, &(gl_mark){.file = p->file}, NULL,
                "curves left out because all samples failed validation: %zu", p->failed);
    if (out->inside_count + out->across_count == 0)
        return fail(p, p->failed > 0
                           ? "holds no curve to plan with: all samples failed validation"
                           : "the calibration database holds no curve with two samples or more");
    if (p->repeated > 0)
        gl_warn(p->warnings, p->arena, &(gl_mark){.file = p->file}, NULL,
                "curves measured again later or in another type: %zu; of each the newest complete "
                "run's is taken",
                p->repeated);
    if (p->incomplete > 0)
        gl_warn(p->warnings, p->arena, &(gl_mark){.file = p->file}, NULL,
                "curves from runs that were interrupted or still go on: %zu", p->incomplete);
    return true;
}

/* Bundled and own databases read alike. */
const char *gl_calibration_name(const char *file, const char *label, gl_arena *arena)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash != NULL ? slash + 1 : file;
    size_t length = strlen(name) - (gl_ends_with(name, ".db") ? 3 : 0);
    name = gl_arena_strndup(arena, name, length);
    return label == NULL ? name : gl_arena_printf(arena, "%s#%s", name, label);
}

static bool load_from(picker *p, gl_calibration *out)
{
    if (!gl_store_read_catalog(p->store, p->arena, &p->catalog, p->err) || !check_label(p) ||
        !find_gpu(p, &out->gpu) || !load_curves(p, out))
        return false;
    take_rates(p, out);
    out->name = gl_calibration_name(p->file, p->request->label, p->arena);
    return true;
}

bool gl_calibration_load(const gl_calibration_request *request, gl_arena *arena,
                         gl_calibration *out, gl_texts *warnings, gl_error *err)
{
    gl_calibration read = {0};
    picker p = {.request = request,
                .file = gl_arena_strdup(arena, request->file),
                .arena = arena,
                .warnings = warnings,
                .err = err};
    if (!gl_store_open(request->file, &p.store, err))
        return false;
    bool loaded = load_from(&p, &read);
    gl_store_close(p.store);
    if (loaded)
        *out = read;
    return loaded;
}

const char *gl_calibration_find(const char *name, const char *base, gl_arena *arena,
                                const char **label)
{
    const char *beside = base != NULL ? gl_file_beside(arena, base, name) : name;
    const char *hash = strrchr(name, '#');
    *label = NULL;
    if (gl_file_exists(beside))
        return beside;
    if (hash != NULL) {
        name = gl_arena_strndup(arena, name, (size_t)(hash - name));
        beside = base != NULL ? gl_file_beside(arena, base, name) : name;
        *label = hash + 1;
    }
    if (gl_file_exists(beside))
        return beside;
    return gl_datadir_find(arena, "calibrations", name, "db");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/digest.h"

#include "common/hash.h"

#include <string.h>

/* Two 64-bit hashes with different multipliers (FNV-1a's, and one of MurmurHash). Good enough
 * against chance; somebody who forges a run can only make his own vanish. */
static void add_bytes(gl_digest *digest, const void *bytes, size_t length)
{
    const unsigned char *c = bytes;
    digest->high = gl_hash_add(digest->high, bytes, length);
    for (size_t i = 0; i < length; i++) {
        digest->low = (digest->low + c[i] + 1) * UINT64_C(0xc6a4a7935bd1e995);
        digest->low ^= digest->low >> 47;
    }
}

static void add_text(gl_digest *digest, const char *text)
{
    add_bytes(digest, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
}

static void add_integer(gl_digest *digest, int64_t value)
{
    add_bytes(digest, &value, sizeof value);
}

/* NaNs have many forms and are all "not measured". */
static void add_real(gl_digest *digest, double value)
{
    if (value != value)
        add_text(digest, "-");
    else
        add_bytes(digest, &value, sizeof value);
}

void gl_digest_begin(gl_digest *digest)
{
    digest->high = GL_HASH_START;
    digest->low = 0;
    digest->transports = 0;
    digest->named = false;
    digest->values = 0;
}

void gl_digest_end(gl_digest *digest, const gl_run *run)
{
    if (digest->values > 0)
        return;
    const char *texts[] = {run->started_at,     run->tool,         run->tool_version,
                           run->backend,        run->host,         run->gpu,
                           run->driver_version, run->cuda_version, run->nccl_version,
                           run->environment,    run->source,       run->label,
                           run->parameters,     run->warnings};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add_text(digest, texts[i]);
    add_integer(digest, run->state);
}

static void add_sample(gl_digest *digest, const gl_sample *sample)
{
    add_real(digest, sample->size_bytes);
    add_real(digest, sample->time_median_s);
    add_real(digest, sample->time_p05_s);
    add_real(digest, sample->time_p95_s);
    add_real(digest, sample->time_min_s);
    add_real(digest, sample->wrong);
    add_integer(digest, sample->iterations);
}

void gl_digest_curve(gl_digest *digest, const gl_curve *curve)
{
    const int64_t integers[] = {curve->collective,
                                curve->dtype,
                                curve->placement.ranks,
                                curve->placement.nodes,
                                curve->placement.ranks_per_node,
                                curve->placement.concurrent_groups,
                                curve->nics,
                                curve->in_place,
                                curve->root};
    add_text(digest, "curve");
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        add_integer(digest, integers[i]);
    add_text(digest, curve->redop);
    add_text(digest, curve->algorithm);
    add_text(digest, curve->protocol);
    for (size_t i = 0; i < curve->sample_count; i++)
        add_sample(digest, &curve->samples[i]);
    digest->transports = (digest->transports + (uint64_t)curve->transport + 1) * GL_HASH_PRIME;
    digest->named = digest->named || curve->transport != GL_TRANSPORT_UNKNOWN;
    digest->values += curve->sample_count;
}

void gl_digest_compute(gl_digest *digest, const gl_compute_rate *rate)
{
    digest->values++;
    add_text(digest, "compute");
    add_text(digest, rate->kind);
    add_integer(digest, rate->dtype);
    add_integer(digest, rate->m);
    add_integer(digest, rate->n);
    add_integer(digest, rate->k);
    add_real(digest, rate->time_s);
    add_real(digest, rate->time_p95_s);
}

void gl_digest_overlap(gl_digest *digest, const gl_overlap_rate *rate)
{
    digest->values++;
    add_text(digest, "overlap");
    add_integer(digest, rate->transport);
    add_integer(digest, rate->collective);
    add_real(digest, rate->size_bytes);
    add_integer(digest, rate->m);
    add_integer(digest, rate->n);
    add_integer(digest, rate->k);
    add_real(digest, rate->compute_alone_s);
    add_real(digest, rate->communication_alone_s);
    add_real(digest, rate->together_s);
}

/* Runs are sorted by id. */
static gl_digest *digest_of(const gl_catalog *catalog, gl_digest *digests, int64_t id)
{
    size_t low = 0, high = catalog->run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (catalog->runs[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return &digests[low];
}

bool gl_digest_store(gl_store *store, gl_arena *arena, gl_catalog *catalog, gl_digest **out,
                     gl_error *err)
{
    gl_digest *digests = GL_ARENA_NEW(arena, gl_digest, catalog->run_count);
    for (size_t i = 0; i < catalog->run_count; i++)
        gl_digest_begin(&digests[i]);
    for (size_t i = 0; i < catalog->curve_count; i++) {
        gl_curve *curve = &catalog->curves[i];
        if (!gl_store_read_samples(store, arena, curve, err))
            return false;
        gl_digest_curve(digest_of(catalog, digests, curve->run_id), curve);
    }
    for (size_t i = 0; i < catalog->compute_count; i++)
        gl_digest_compute(digest_of(catalog, digests, catalog->compute[i].run_id),
                          &catalog->compute[i]);
    for (size_t i = 0; i < catalog->overlap_count; i++)
        gl_digest_overlap(digest_of(catalog, digests, catalog->overlap[i].run_id),
                          &catalog->overlap[i]);
    for (size_t i = 0; i < catalog->run_count; i++)
        gl_digest_end(&digests[i], &catalog->runs[i]);
    *out = digests;
    return true;
}

static bool measured_same(const gl_digest *a, const gl_digest *b)
{
    return a->high == b->high && a->low == b->low;
}

size_t gl_digest_find(const gl_digest *digests, size_t count, const gl_digest *wanted)
{
    size_t i = 0;
    while (i < count &&
           !(measured_same(&digests[i], wanted) && digests[i].transports == wanted->transports))
        i++;
    return i;
}

size_t gl_digest_find_unnamed(const gl_digest *digests, size_t count, const gl_digest *wanted)
{
    size_t i = 0;
    while (i < count && !(measured_same(&digests[i], wanted) && digests[i].named != wanted->named))
        i++;
    return i;
}

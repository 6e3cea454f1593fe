/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/uncertainty.h"

#include "common/hash.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which source each row of a stage rests on; stages that share their rows share this. */
typedef struct stage_sources {
    const gl_stage_plan *plan;
    int *source;             /* by row */
    gl_network_time *scaled; /* by row, times of the draw at hand */
} stage_sources;

typedef struct sampler {
    const gl_uncertainty_input *in;
    gl_arena *arena;
    gl_uncertainty *out;
    size_t capacity;
    stage_sources *shared; /* one for each distinct set of rows */
    size_t shared_count;
    int *shared_of;              /* by stage */
    gl_stage_plan *stages;       /* of the draw at hand */
    double *factor;              /* by source */
    int compute, model, overlap; /* indices of these sources */
} sampler;

/* ---- sources ---- */

static int add_source(sampler *s, gl_error_source source)
{
    gl_uncertainty *u = s->out;
    u->sources =
        gl_arena_grow(s->arena, u->sources, &s->capacity, u->source_count + 1, sizeof *u->sources);
    u->sources[u->source_count] = source;
    return (int)u->source_count++;
}

static int find_source(const sampler *s, const char *name)
{
    for (size_t i = 0; i < s->out->source_count; i++) {
        if (strcmp(s->out->sources[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

static bool is_measured(gl_evidence evidence)
{
    return evidence == GL_EVIDENCE_MEASURED || evidence == GL_EVIDENCE_INTERPOLATED;
}

/* A curve is one source; so is what a link and a rule say to a collective. */
static int source_of_row(sampler *s, const gl_stage_plan *plan, size_t row)
{
    const gl_network_time *t = &plan->times[row];
    const gl_traffic_row *r = &plan->traffic.rows[row];
    const char *name =
        is_measured(t->evidence)
            ? t->source
            : gl_arena_printf(s->arena, "%s of %s, %d ranks on %d node%s", t->source,
                              gl_collective_name(r->collective), r->placement.ranks,
                              r->placement.nodes, r->placement.nodes == 1 ? "" : "s");
    int found = find_source(s, name);
    if (found >= 0)
        return found;
    return add_source(s, (gl_error_source){.kind = GL_ERROR_OF_NETWORK,
                                           .name = name,
                                           .evidence = t->evidence,
                                           .measurable = !is_measured(t->evidence)});
}

static double row_s(const gl_stage_plan *plan, size_t row)
{
    const gl_traffic_row *r = &plan->traffic.rows[row];
    return plan->times[row].time_s * r->load_factor * (double)r->calls_per_step;
}

static void add_rows(sampler *s, stage_sources *shared)
{
    const gl_stage_plan *plan = shared->plan;
    size_t rows = plan->traffic.row_count;
    shared->source = GL_ARENA_NEW(s->arena, int, rows);
    shared->scaled = GL_ARENA_NEW(s->arena, gl_network_time, rows);
    for (size_t i = 0; i < rows; i++) {
        shared->scaled[i] = plan->times[i];
        shared->source[i] = plan->times[i].time_s > 0 ? source_of_row(s, plan, i) : -1;
    }
}

/* Sigma of a source: that of its rows, by their times; its row: the longest. */
static void weigh_rows(sampler *s)
{
    size_t count = s->out->source_count;
    double *sum_s = GL_ARENA_NEW(s->arena, double, count);
    double *longest_s = GL_ARENA_NEW(s->arena, double, count);
    for (size_t i = 0; i < s->shared_count; i++) {
        const stage_sources *shared = &s->shared[i];
        for (size_t j = 0; j < shared->plan->traffic.row_count; j++) {
            int k = shared->source[j];
            if (k < 0)
                continue;
            gl_error_source *source = &s->out->sources[k];
            double time_s = row_s(shared->plan, j);
            source->slower_sigma += time_s * shared->plan->times[j].error_frac;
            sum_s[k] += time_s;
            if (source->row == NULL || time_s > longest_s[k]) {
                source->row = &shared->plan->traffic.rows[j];
                longest_s[k] = time_s;
            }
        }
    }
    for (size_t k = 0; k < count; k++) {
        gl_error_source *source = &s->out->sources[k];
        if (sum_s[k] > 0)
            source->slower_sigma /= sum_s[k];
        if (source->kind == GL_ERROR_OF_NETWORK)
            source->faster_sigma = source->slower_sigma;
    }
}

static void find_shared(sampler *s)
{
    int pp = s->in->workload->parallel.pp;
    s->shared = GL_ARENA_NEW(s->arena, stage_sources, (size_t)pp);
    s->shared_of = GL_ARENA_NEW(s->arena, int, (size_t)pp);
    for (int i = 0; i < pp; i++) {
        const gl_stage_plan *plan = &s->in->stages[i];
        size_t k = 0;
        while (k < s->shared_count && s->shared[k].plan->times != plan->times)
            k++;
        if (k == s->shared_count) {
            s->shared[s->shared_count++].plan = plan;
            add_rows(s, &s->shared[k]);
        }
        s->shared_of[i] = (int)k;
    }
}

static void find_sources(sampler *s)
{
    const gl_compute *c = s->in->compute;
    const gl_gpu *gpu = s->in->cluster->gpu;
    bool stated = c->evidence == GL_EVIDENCE_STATED, measured = s->in->cluster->compute_count > 0;
    const char *name =
        gpu != NULL ? gl_arena_printf(s->arena, "rates of %s", gpu->name) : "rates of the GPU";
    s->compute = add_source(s, (gl_error_source){.kind = GL_ERROR_OF_COMPUTE,
                                                 .name = stated ? "the compute time stated" : name,
                                                 .evidence = c->evidence,
                                                 .faster_sigma = c->error_frac,
                                                 .slower_sigma = c->error_frac,
                                                 .measurable = !stated && !measured});
    s->model = add_source(s, (gl_error_source){.kind = GL_ERROR_OF_MODEL,
                                               .name = "what the model of compute leaves out",
                                               .evidence = c->evidence,
                                               .faster_sigma = c->model_faster_frac,
                                               .slower_sigma = c->model_slower_frac});
    s->overlap = add_source(s, (gl_error_source){.kind = GL_ERROR_OF_OVERLAP,
                                                 .name = "what hidden communication costs",
                                                 .evidence = s->in->cluster->overlap_count > 0
                                                                 ? GL_EVIDENCE_MEASURED
                                                                 : GL_EVIDENCE_CATALOGUE,
                                                 .faster_sigma = s->in->overlap_sigma,
                                                 .slower_sigma = s->in->overlap_sigma,
                                                 .measurable = s->in->cluster->overlap_count == 0});
    find_shared(s);
    weigh_rows(s);
}

/* ---- draws ---- */

static double factor_at(const gl_error_source *source, double z)
{
    return exp(z * (z < 0 ? source->faster_sigma : source->slower_sigma));
}

/* The step with each source off by its factor, as the closed forms have it. */
static double step_s(sampler *s)
{
    for (size_t k = 0; k < s->shared_count; k++) {
        stage_sources *shared = &s->shared[k];
        for (size_t i = 0; i < shared->plan->traffic.row_count; i++) {
            double factor = shared->source[i] >= 0 ? s->factor[shared->source[i]] : 1;
            shared->scaled[i].time_s = shared->plan->times[i].time_s * factor;
            for (int tier = 0; tier < 2; tier++)
                shared->scaled[i].tier_s[tier] = shared->plan->times[i].tier_s[tier] * factor;
        }
    }
    gl_scales scales = {s->factor[s->compute] * s->factor[s->model], {1, 1}, s->factor[s->overlap]};
    gl_arena *scratch = gl_arena_create();
    gl_schedule schedule =
        gl_schedule_eval(s->in->workload, s->in->compute, s->stages, &scales, scratch);
    gl_arena_destroy(scratch);
    return schedule.time_s;
}

static void reset_factors(sampler *s)
{
    for (size_t i = 0; i < s->out->source_count; i++)
        s->factor[i] = 1;
}

/* A source draws the same numbers wherever it occurs. */
static unsigned long seed_of(const char *name, unsigned long seed)
{
    uint32_t hash = gl_hash32_add(GL_HASH32_START, name, strlen(name));
    return (hash ^ (uint32_t)(seed * 2654435761u)) | 1u;
}

/*
 * Latin hypercube: each source takes the middle of each of n equally likely parts of its
 * distribution once, in an order of its own. Deciles of few draws are then as good as those of many
 * independent ones (McKay et al. 1979).
 */
const double *gl_uncertainty_draws(const char *name, unsigned long seed, size_t count,
                                   gl_arena *arena)
{
    double *z = GL_ARENA_NEW(arena, double, count);
    for (size_t i = 0; i < count; i++)
        z[i] = gsl_cdf_ugaussian_Pinv(((double)i + 0.5) / (double)count);
    /* gsl_rng_alloc may find no memory, and draws that are not shuffled would be wrong. */
    const gsl_rng rng = {gsl_rng_taus2, gl_arena_alloc(arena, 1, gsl_rng_taus2->size)};
    gsl_rng_set(&rng, seed_of(name, seed));
    gsl_ran_shuffle(&rng, z, count, sizeof *z);
    return z;
}

static void draw(sampler *s, double middle_s)
{
    size_t n = s->in->draws, count = s->out->source_count;
    double *draws_s = GL_ARENA_NEW(s->arena, double, n);
    double *sorted = GL_ARENA_NEW(s->arena, double, n);
    const double **z = GL_ARENA_NEW(s->arena, const double *, count);
    for (size_t k = 0; k < count; k++)
        z[k] = gl_uncertainty_draws(s->out->sources[k].name, s->in->seed, n, s->arena);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < count; k++)
            s->factor[k] = factor_at(&s->out->sources[k], z[k][i]);
        draws_s[i] = sorted[i] = step_s(s) / middle_s * s->in->time_s;
    }
    gsl_sort(sorted, 1, n);
    s->out->draws_s = draws_s;
    s->out->draw_count = n;
    s->out->p10_s = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.1);
    s->out->p50_s = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.5);
    s->out->p90_s = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.9);
}

/* ---- what each source is worth ---- */

static int compare_shares(const void *a, const void *b)
{
    double x = ((const gl_error_source *)a)->variance_share;
    double y = ((const gl_error_source *)b)->variance_share;
    return (x < y) - (x > y);
}

/* Each source alone at its P10 and P90. */
static void weigh_sources(sampler *s, double middle_s)
{
    double sum = 0, scale = s->in->time_s / middle_s;
    for (size_t k = 0; k < s->out->source_count; k++) {
        gl_error_source *source = &s->out->sources[k];
        s->factor[k] = factor_at(source, -GL_P90_OF_SIGMA);
        source->p10_change_s = (step_s(s) - middle_s) * scale;
        s->factor[k] = factor_at(source, GL_P90_OF_SIGMA);
        source->p90_change_s = (step_s(s) - middle_s) * scale;
        s->factor[k] = 1;
        source->variance_share = pow(source->p90_change_s - source->p10_change_s, 2);
        sum += source->variance_share;
    }
    for (size_t k = 0; k < s->out->source_count && sum > 0; k++)
        s->out->sources[k].variance_share /= sum;
    qsort(s->out->sources, s->out->source_count, sizeof *s->out->sources, compare_shares);
}

/* Share of the variance that measuring a source would settle. Measured rates also end the suspicion
 * that a machine is slower than the catalogue says (compute.c). */
static double settled_share(const gl_uncertainty *u, const gl_error_source *source)
{
    double share = source->measurable ? source->variance_share : 0;
    for (size_t i = 0; i < u->source_count && source->kind == GL_ERROR_OF_COMPUTE; i++) {
        const gl_error_source *model = &u->sources[i];
        double both = model->faster_sigma + model->slower_sigma;
        if (model->kind == GL_ERROR_OF_MODEL && both > 0 && share > 0)
            share += model->variance_share * (1 - pow(2 * model->faster_sigma / both, 2));
    }
    return share;
}

/* Both sides shrink with the root of the variance that is left. */
static void choose_measurement(gl_uncertainty *u, double time_s)
{
    for (size_t k = 0; k < u->source_count; k++) {
        double share = settled_share(u, &u->sources[k]);
        if (!(share > u->settled_share))
            continue;
        u->narrowing = &u->sources[k];
        u->settled_share = share;
    }
    double left = sqrt(1 - u->settled_share);
    u->narrowed_p10_s = time_s - (time_s - u->p10_s) * left;
    u->narrowed_p90_s = time_s + (u->p90_s - time_s) * left;
}

void gl_uncertainty_build(const gl_uncertainty_input *input, gl_arena *arena, gl_uncertainty *out)
{
    *out = (gl_uncertainty){.p10_s = (double)NAN, .p50_s = (double)NAN, .p90_s = (double)NAN};
    if (!input->compute->known)
        return;
    int pp = input->workload->parallel.pp;
    sampler s = {.in = input, .arena = arena, .out = out};
    find_sources(&s);
    s.stages = GL_ARENA_NEW(arena, gl_stage_plan, (size_t)pp);
    for (int i = 0; i < pp; i++) {
        s.stages[i] = input->stages[i];
        s.stages[i].times = s.shared[s.shared_of[i]].scaled;
    }
    s.factor = GL_ARENA_NEW(arena, double, out->source_count);
    reset_factors(&s);
    double middle_s = step_s(&s);
    draw(&s, middle_s);
    reset_factors(&s);
    weigh_sources(&s, middle_s);
    choose_measurement(out, input->time_s);
}

const char *gl_error_kind_name(gl_error_kind kind)
{
    static const char *const names[GL_ERROR_KIND_COUNT] = {
        [GL_ERROR_OF_COMPUTE] = "compute rates",
        [GL_ERROR_OF_MODEL] = "compute model",
        [GL_ERROR_OF_NETWORK] = "network",
        [GL_ERROR_OF_OVERLAP] = "overlap",
    };
    return names[kind];
}

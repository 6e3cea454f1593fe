/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/trace.h"

#include "planner/core/simulation.h"

#include <math.h>
#include <stdlib.h>

/* Each is some 200 bytes of text, which wait in memory until all are there (common/output.h). */
static const double SIZE_MAX_ENTRIES = 2e6;

/* Times are multiples of 1/64 us, which binary fractions hold exactly: start + duration of a slice
 * is the start of the next one to the last digit, and slices do not overlap by rounding. */
static const double TICKS_PER_S = 64e6;
/* … as long as they are this small, which is four years. */
static const double TICKS_MAX = 9007199254740992.0;

enum { SLICE_ENTRY = 'X', ARROW_START = 's', ARROW_END = 'f' };

typedef struct entry {
    int64_t start, end; /* ticks */
    int64_t microbatch;
    int64_t arrow; /* id */
    size_t row;
    int stage, chunk;
    gl_stream stream;
    gl_event_kind kind;
    char type;
} entry;

typedef struct collector {
    const gl_plan *plan;
    gl_arena *arena;
    entry *entries;
    size_t count, capacity;
    int chunks;
    int64_t microbatches, next_arrow;
    int64_t *begun; /* by phase, virtual stage and microbatch: when a pass begins, in ticks; −1 */
} collector;

static int64_t ticks(double s)
{
    return llround(s * TICKS_PER_S);
}

/* ---- collecting ---- */

static entry *append(collector *c, const entry *e)
{
    c->entries =
        gl_arena_grow(c->arena, c->entries, &c->capacity, c->count + 1, sizeof *c->entries);
    c->entries[c->count] = *e;
    return &c->entries[c->count++];
}

static int64_t *begin_of(const collector *c, bool backward, int virtual_stage, int64_t microbatch)
{
    int64_t stages = (int64_t)c->plan->workload->parallel.pp * c->chunks;
    return &c->begun[((backward ? stages : 0) + virtual_stage) * c->microbatches + microbatch];
}

static int virtual_stage(const collector *c, const entry *e)
{
    return e->chunk * c->plan->workload->parallel.pp + e->stage;
}

static void collect(void *context, const gl_event *event)
{
    collector *c = context;
    const entry e = {.start = ticks(event->start_s),
                     .end = ticks(event->end_s),
                     .microbatch = event->microbatch,
                     .row = event->row,
                     .stage = event->stage,
                     .chunk = event->chunk,
                     .stream = event->stream,
                     .kind = event->kind,
                     .type = SLICE_ENTRY};
    if (e.end <= e.start)
        return;
    append(c, &e);
    if (e.stream != GL_STREAM_COMPUTE || e.microbatch < 0)
        return;
    int64_t *begun = begin_of(c, e.kind == GL_EVENT_BACKWARD, virtual_stage(c, &e), e.microbatch);
    if (*begun < 0)
        *begun = e.start;
}

/* An arrow from a send to the pass that it lets begin. */
static void add_arrow(collector *c, const entry *send)
{
    bool back = send->stream == GL_STREAM_SEND_BACK;
    int pp = c->plan->workload->parallel.pp, to = virtual_stage(c, send) + (back ? -1 : 1);
    int64_t begun = *begin_of(c, back, to, send->microbatch);
    if (begun < send->end) /* a pass too short for a slice */
        return;
    entry end = *send;
    entry start = *send;
    start.type = ARROW_START;
    end.type = ARROW_END;
    end.start = begun;
    end.stage = to % pp;
    end.stream = GL_STREAM_COMPUTE;
    start.arrow = end.arrow = c->next_arrow++;
    append(c, &start);
    append(c, &end);
}

static void add_arrows(collector *c)
{
    size_t slices = c->count;
    for (size_t i = 0; i < slices; i++) {
        const entry send = c->entries[i];
        if (send.stream == GL_STREAM_SEND || send.stream == GL_STREAM_SEND_BACK)
            add_arrow(c, &send);
    }
}

/* By time; a slice before the arrow that leaves or reaches it. */
static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->type != y->type)
        return x->type == SLICE_ENTRY ? -1 : y->type == SLICE_ENTRY ? 1 : x->type - y->type;
    if (x->stage != y->stage)
        return x->stage - y->stage;
    if (x->stream != y->stream)
        return (int)x->stream - (int)y->stream;
    return x->arrow < y->arrow ? -1 : x->arrow > y->arrow;
}

/* ---- writing ---- */

static void write_text(gl_json *json, const char *key, const char *text)
{
    gl_json_key(json, key);
    gl_json_text(json, text);
}

static void write_integer(gl_json *json, const char *key, int64_t value)
{
    gl_json_key(json, key);
    gl_json_integer(json, value);
}

/* Microseconds. */
static void write_time(gl_json *json, const char *key, int64_t time)
{
    gl_json_key(json, key);
    gl_json_real(json, (double)time / (TICKS_PER_S / 1e6));
}

static void write_place(gl_json *json, int process, gl_stream stream)
{
    write_integer(json, "pid", process);
    write_integer(json, "tid", (int64_t)stream + 1);
}

static void write_metadata(gl_json *json, int process, int stream, const char *name,
                           const char *key, const char *text, int64_t number)
{
    gl_json_object(json);
    write_text(json, "ph", "M");
    write_text(json, "name", name);
    write_place(json, process, (gl_stream)stream);
    gl_json_key(json, "args");
    gl_json_object(json);
    if (text != NULL)
        write_text(json, key, text);
    else
        write_integer(json, key, number);
    gl_json_end(json, '}');
    gl_json_end(json, '}');
}

static void write_names(gl_trace *trace, const gl_plan *plan, const gl_simulation *simulation,
                        const char *scenario, gl_arena *arena)
{
    gl_json *json = &trace->json;
    for (int i = 0; i < plan->workload->parallel.pp; i++) {
        int process = trace->next_process + i;
        const char *name = trace->several ? gl_arena_printf(arena, "stage %d, %s", i, scenario)
                                          : gl_arena_printf(arena, "stage %d", i);
        write_metadata(json, process, 0, "process_name", "name", name, 0);
        write_metadata(json, process, 0, "process_labels", "labels", scenario, 0);
        write_metadata(json, process, 0, "process_sort_index", "sort_index", NULL, process);
        for (int k = 0; k < GL_STREAM_COUNT; k++) {
            if (!(simulation->stages[i].busy_s[k] > 0))
                continue;
            write_metadata(json, process, k, "thread_name", "name", gl_stream_name((gl_stream)k),
                           0);
            write_metadata(json, process, k, "thread_sort_index", "sort_index", NULL, k);
        }
    }
}

/* "forward mb 3", "forward mb 3 chunk 1", "gradients", "activations mb 3" */
static void write_name(gl_json *json, const collector *c, const entry *e)
{
    static const char *const passes[] = {"forward", "backward", "optimizer"};
    const char *what = e->stream == GL_STREAM_COMPUTE
                           ? passes[e->kind]
                           : c->plan->stage_plans[e->stage].traffic.rows[e->row].operation;
    char text[160];
    if (e->microbatch < 0)
        snprintf(text, sizeof text, "%s", what);
    else if (c->chunks == 1)
        snprintf(text, sizeof text, "%s mb %lld", what, (long long)e->microbatch);
    else
        snprintf(text, sizeof text, "%s mb %lld chunk %d", what, (long long)e->microbatch,
                 e->chunk);
    write_text(json, "name", text);
}

/* How many calls a slice stands for: inline ones of a pass are drawn together. */
static double calls_of(const collector *c, const entry *e, const gl_traffic_row *row)
{
    if (e->stream != GL_STREAM_TP && e->stream != GL_STREAM_CP && e->stream != GL_STREAM_EP)
        return 1;
    return (double)row->calls_per_step / (double)c->microbatches / c->chunks;
}

static void write_arguments(gl_json *json, const collector *c, const entry *e)
{
    const gl_stage_plan *stage = &c->plan->stage_plans[e->stage];
    gl_json_key(json, "args");
    gl_json_object(json);
    if (e->microbatch >= 0) {
        write_integer(json, "microbatch", e->microbatch);
        write_integer(json, "chunk", e->chunk);
    }
    if (e->stream != GL_STREAM_COMPUTE) {
        const gl_traffic_row *row = &stage->traffic.rows[e->row];
        const gl_network_time *time = &stage->times[e->row];
        write_text(json, "collective", gl_collective_name(row->collective));
        write_integer(json, "bytes", row->size_bytes);
        gl_json_key(json, "calls");
        gl_json_real(json, calls_of(c, e, row));
        write_integer(json, "ranks", row->placement.ranks);
        write_text(json, "algorithm", time->algorithm);
        write_text(json, "transport", gl_transport_name(time->transport));
        write_text(json, "evidence", gl_evidence_name(time->evidence));
    }
    gl_json_end(json, '}');
}

static void write_entry(gl_trace *trace, const collector *c, const entry *e)
{
    gl_json *json = &trace->json;
    const char type[] = {e->type, '\0'};
    bool slice = e->type == SLICE_ENTRY;
    gl_json_object(json);
    write_text(json, "ph", type);
    write_name(json, c, e);
    write_text(json, "cat",
               !slice                           ? "send"
               : e->stream == GL_STREAM_COMPUTE ? "compute"
                                                : "communication");
    write_place(json, trace->next_process + e->stage, e->stream);
    write_time(json, "ts", e->start);
    if (slice) {
        write_time(json, "dur", e->end - e->start);
        write_arguments(json, c, e);
    } else {
        write_integer(json, "id", e->arrow);
    }
    if (e->type == ARROW_END)
        write_text(json, "bp", "e");
    gl_json_end(json, '}');
}

/* ---- all of it ---- */

double gl_trace_size(const gl_plan *plan)
{
    const gl_parallel *p = &plan->workload->parallel;
    double sends = p->pp > 1 ? 2.0 * p->pp * gl_parallel_chunks(p) : 0;
    double arrows = 2 * sends * (double)gl_workload_microbatches(plan->workload);
    return gl_simulation_events(plan->workload, plan->stage_plans) + arrows;
}

bool gl_trace_check(const gl_plan *plan, double size, gl_error *err)
{
    if (!plan->compute.known)
        return gl_fail(err, GL_ERROR_INPUT,
                       "--format trace shows a step in time, and compute time is not known: state "
                       "model.sequence with a known GPU, or compute.step");
    if (plan->step.time_s * TICKS_PER_S > TICKS_MAX)
        return gl_fail(
            err, GL_ERROR_INPUT,
            "the trace would be of %.3g seconds, more than %.3g: a step that takes years "
            "is not drawn",
            plan->step.time_s, TICKS_MAX / TICKS_PER_S);
    if (size > SIZE_MAX_ENTRIES)
        return gl_fail(err, GL_ERROR_INPUT,
                       "the trace would have about %.3g entries, more than %.3g: trace fewer "
                       "microbatches (batch.global), or fewer scenarios",
                       size, SIZE_MAX_ENTRIES);
    return true;
}

void gl_trace_begin(gl_trace *trace, gl_output *out, bool several)
{
    *trace = (gl_trace){.several = several};
    gl_json_begin(&trace->json, out);
    trace->json.one_line_from = 3;
    gl_json_object(&trace->json);
    write_text(&trace->json, "displayTimeUnit", "ms");
    gl_json_key(&trace->json, "traceEvents");
    gl_json_array(&trace->json);
}

void gl_trace_add(gl_trace *trace, const gl_plan *plan, const char *scenario, gl_arena *scratch)
{
    static const gl_scales as_predicted = {1, {1, 1}, 1};
    const gl_workload *w = plan->workload;
    collector c = {.plan = plan,
                   .arena = scratch,
                   .chunks = w->parallel.pp > 1 ? gl_parallel_chunks(&w->parallel) : 1,
                   .microbatches = gl_workload_microbatches(w),
                   .next_arrow = trace->next_arrow};
    size_t passes = 2 * (size_t)w->parallel.pp * (size_t)c.chunks * (size_t)c.microbatches;
    c.begun = GL_ARENA_NEW(scratch, int64_t, passes);
    for (size_t i = 0; i < passes; i++)
        c.begun[i] = -1;
    gl_simulation simulation =
        gl_simulate(w, &plan->compute, plan->stage_plans, &as_predicted, collect, &c, scratch);
    add_arrows(&c);
    qsort(c.entries, c.count, sizeof *c.entries, compare_entries);
    write_names(trace, plan, &simulation, scenario, scratch);
    for (size_t i = 0; i < c.count; i++)
        write_entry(trace, &c, &c.entries[i]);
    trace->next_process += w->parallel.pp;
    trace->next_arrow = c.next_arrow;
}

void gl_trace_end(gl_trace *trace)
{
    gl_json_end(&trace->json, ']');
    gl_json_end(&trace->json, '}');
}

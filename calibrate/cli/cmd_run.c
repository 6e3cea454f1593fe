/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/acceptance_source.h"
#include "calibrate/cli/commands.h"
#include "calibrate/cli/curve_table.h"
#include "calibrate/cli/progress.h"
#include "calibrate/import/setting.h"
#include "calibrate/measure/locality.h"
#include "calibrate/measure/memory.h"
#include "calibrate/measure/session.h"
#include "common/clock.h"
#include "common/interrupt.h"
#include "common/render.h"
#include "common/store/store.h"
#include "common/terminal.h"
#include "common/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

typedef enum backend_choice { BACKEND_NCCL, BACKEND_MPI } backend_choice;

typedef struct options {
    const char *db, *label, *ops, *min, *max, *ranks, *dtype, *acceptance, *cluster;
    backend_choice backend;
    double budget_s, precision;
    bool compute, overlap, concurrent, keep_host, quiet, verbose;
} options;

static const char *const backend_names[] = {"nccl", "mpi", NULL};

static const gl_option option_table[] = {
    {"db", 'd', GL_OPTION_TEXT, "FILE.db",
     "Database to measure into. The same command goes on where it was interrupted.",
     offsetof(options, db), 0, 0, 0, NULL},
    {"label", 'l', GL_OPTION_TEXT, "NAME", "Your name for this run.", offsetof(options, label), 0,
     0, 0, NULL},
    {"backend", 'b', GL_OPTION_CHOICE, "B",
     "Between GPUs, or host buffers over MPI (default nccl).", offsetof(options, backend), 0, 0, 0,
     backend_names},
    {"ops", 0, GL_OPTION_TEXT, "LIST",
     "Collectives, with commas (default: " GL_MEASURED_COLLECTIVES ").", offsetof(options, ops), 0,
     0, 0, NULL},
    {"min", 0, GL_OPTION_TEXT, "SIZE", "Smallest message, in bytes or as 1MiB (default 8).",
     offsetof(options, min), 0, 0, 0, NULL},
    {"max", 0, GL_OPTION_TEXT, "SIZE", "Largest message, as memory allows (default 8GiB).",
     offsetof(options, max), 0, 0, 0, NULL},
    {"ranks", 'r', GL_OPTION_TEXT, "LIST",
     "Sizes of groups (default 2,4,8,... and all; in a node, one a node, whole nodes).",
     offsetof(options, ranks), 0, 0, 0, NULL},
    {"dtype", 't', GL_OPTION_TEXT, "T",
     "Type of the elements (default bf16 with nccl, fp32 with mpi).", offsetof(options, dtype), 0,
     0, 0, NULL},
    {"acceptance", 'a', GL_OPTION_TEXT, "FILE",
     "Measure what a plan needs: a list of 'gpulink-plan accept --list', or MODEL.yaml with "
     "--cluster. Exit status 1 when some of it was not measured.",
     offsetof(options, acceptance), 0, 0, 0, NULL},
    {"cluster", 'c', GL_OPTION_TEXT, "PLANNED",
     "With --acceptance MODEL.yaml: the cluster that was planned.", offsetof(options, cluster), 0,
     0, 0, NULL},
    {"budget", 0, GL_OPTION_QUANTITY, "TIME",
     "Time to spend on measuring, such as 10min (default 120s).", offsetof(options, budget_s),
     GL_SECONDS, 0.1, 1e6, NULL},
    {"precision", 'p', GL_OPTION_QUANTITY, "PART",
     "Of medians (95 % interval) and between sizes (default 2%).", offsetof(options, precision),
     GL_FRACTION, 0.001, 0.5, NULL},
    {"compute", 0, GL_OPTION_FLAG, NULL, "Also measure GEMMs, memory and launches of the GPUs.",
     offsetof(options, compute), 0, 0, 0, NULL},
    {"overlap", 0, GL_OPTION_FLAG, NULL,
     "Also measure what compute and communication lose together.", offsetof(options, overlap), 0, 0,
     0, NULL},
    {"concurrent", 0, GL_OPTION_FLAG, NULL,
     "Also measure all groups of a kind at once, as training runs them.",
     offsetof(options, concurrent), 0, 0, 0, NULL},
    {"keep-host", 0, GL_OPTION_FLAG, NULL,
     "Store the name of the first host (default: no host names are stored).",
     offsetof(options, keep_host), 0, 0, 0, NULL},
    {"quiet", 'q', GL_OPTION_FLAG, NULL, "Print errors only.", offsetof(options, quiet), 0, 0, 0,
     NULL},
    {"verbose", 'v', GL_OPTION_FLAG, NULL,
     "Print all warnings, and without a terminal a line for each curve.",
     offsetof(options, verbose), 0, 0, 0, NULL},
    {0}};

/* ---- the command line ---- */

enum { RANKS_MAX = 64 };

/* The lists of the command line. */
typedef struct lists {
    gl_collective collectives[GL_COLLECTIVE_COUNT];
    int collective_count;
    int ranks[RANKS_MAX];
    int rank_count;
    gl_acceptance_list acceptance;
} lists;

#define LIST_MAX_BYTES 1e15 /* a list has no largest size but its own and what fits */

/* Copies the next item of "a,b,c" and moves on. False at the end. */
static bool next_item(const char **list, char *item, size_t size)
{
    size_t length = strcspn(*list, ",");
    if (**list == '\0')
        return false;
    snprintf(item, size, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

static bool fail_collective(const char *item, gl_error *err)
{
    const char *names[GL_COLLECTIVE_COUNT];
    size_t count = 0;
    char shown[64], guess[128];
    for (int i = 0; i < GL_COLLECTIVE_COUNT; i++)
        if (gl_collective_is_measured((gl_collective)i))
            names[count++] = gl_collective_name((gl_collective)i);
    return gl_fail_at(
        err, GL_ERROR_USAGE, NULL, "--ops", "'%s' is none of " GL_MEASURED_COLLECTIVES "%s",
        gl_printable(item, shown, sizeof shown), gl_guess(item, names, count, guess, sizeof guess));
}

static bool parse_ops(const char *text, lists *l, gl_error *err)
{
    char item[64];
    for (int i = 0; i < GL_COLLECTIVE_COUNT && text == NULL; i++)
        if (gl_collective_is_measured((gl_collective)i))
            l->collectives[l->collective_count++] = (gl_collective)i;
    while (text != NULL && next_item(&text, item, sizeof item)) {
        gl_collective found;
        if (!gl_collective_parse(item, &found) || !gl_collective_is_measured(found))
            return fail_collective(item, err);
        for (int i = 0; i < l->collective_count; i++)
            if (l->collectives[i] == found)
                return gl_fail_at(err, GL_ERROR_USAGE, NULL, "--ops", "%s is given twice", item);
        l->collectives[l->collective_count++] = found;
    }
    return l->collective_count > 0 ||
           gl_fail_at(err, GL_ERROR_USAGE, NULL, "--ops", "the list is empty");
}

static bool parse_ranks(const char *text, lists *l, gl_error *err)
{
    char item[64];
    while (text != NULL && next_item(&text, item, sizeof item)) {
        long long ranks;
        gl_error reason;
        if (!gl_parse_integer(item, &ranks, &reason))
            return gl_fail_at(err, GL_ERROR_USAGE, NULL, "--ranks", "%s", reason.message);
        if (ranks < 2 || ranks > 1000000)
            return gl_fail_at(err, GL_ERROR_USAGE, NULL, "--ranks",
                              "%lld: a group has 2 to 1000000 ranks", ranks);
        for (int i = 0; i < l->rank_count; i++)
            if (l->ranks[i] == (int)ranks)
                return gl_fail_at(err, GL_ERROR_USAGE, NULL, "--ranks", "%lld is given twice",
                                  ranks);
        if (l->rank_count == RANKS_MAX)
            return gl_fail_at(err, GL_ERROR_USAGE, NULL, "--ranks", "more than %d sizes",
                              RANKS_MAX);
        l->ranks[l->rank_count++] = (int)ranks;
    }
    return true;
}

static bool parse_size(const char *option, const char *text, double *size, gl_error *err)
{
    gl_error reason;
    if (!gl_parse_size(text, size, &reason))
        return gl_fail_at(err, GL_ERROR_USAGE, NULL, option, "%s", reason.message);
    if (*size < 1 || *size > 1e15)
        return gl_fail_at(err, GL_ERROR_USAGE, NULL, option, "%s is not between 1 B and 1 PB",
                          text);
    return true;
}

/* Which process is this, before MPI knows? What starts several says it in the environment. */
static bool is_first_process(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID", "MV2_COMM_WORLD_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank != NULL && rank[0] != '\0')
            return strcmp(rank, "0") == 0;
    }
    return true;
}

static bool resolve_range(const options *o, lists *l, gl_session_options *session, gl_error *err)
{
    const char *min = o->min != NULL ? o->min : "8", *max = o->max != NULL ? o->max : "8GiB";
    if (o->cluster != NULL)
        return gl_fail(err, GL_ERROR_USAGE, "--cluster goes with --acceptance MODEL.yaml alone");
    if (!parse_ops(o->ops, l, err) || !parse_ranks(o->ranks, l, err) ||
        !parse_size("--min", min, &session->min_bytes, err) ||
        !parse_size("--max", max, &session->max_bytes, err))
        return false;
    return session->min_bytes <= session->max_bytes ||
           gl_fail(err, GL_ERROR_USAGE, "--min %s is above --max %s", min, max);
}

/* A list says all of it: what else would say it differently is refused. */
static bool resolve_list(const options *o, lists *l, gl_session_options *session, gl_arena *arena,
                         gl_error *err)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {{"--ops", o->ops != NULL},
                  {"--ranks", o->ranks != NULL},
                  {"--min", o->min != NULL},
                  {"--max", o->max != NULL},
                  {"--concurrent", o->concurrent}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].given)
            return gl_fail(err, GL_ERROR_USAGE,
                           "--acceptance says what to measure: %s does not go with it",
                           others[i].name);
    if (!gl_acceptance_source_load(o->acceptance, o->cluster, is_first_process(), arena,
                                   &l->acceptance, err))
        return false;
    session->acceptance = &l->acceptance;
    session->min_bytes = 1;
    session->max_bytes = LIST_MAX_BYTES;
    return true;
}

static bool resolve(const options *o, lists *l, gl_session_options *session, gl_arena *arena,
                    gl_error *err)
{
    if (o->db == NULL)
        return gl_fail(err, GL_ERROR_USAGE, "--db is missing: the database to measure into");
    if (!(o->acceptance != NULL ? resolve_list(o, l, session, arena, err)
                                : resolve_range(o, l, session, err)))
        return false;
    if (o->dtype != NULL && !gl_dtype_parse(o->dtype, &session->dtype))
        return gl_fail_at(err, GL_ERROR_USAGE, NULL, "--dtype",
                          "'%.40s' is unknown; there are bf16, fp16, fp32, fp64, fp8, int8, int32",
                          o->dtype);
    session->collectives = l->collectives;
    session->collective_count = l->collective_count;
    session->ranks = l->rank_count > 0 ? l->ranks : NULL;
    session->rank_count = l->rank_count;
    session->db = o->db;
    session->label = o->label;
    session->budget_s = o->budget_s;
    session->precision = o->precision;
    session->concurrent = o->concurrent;
    session->compute = o->compute;
    session->overlap = o->overlap;
    session->keep_host = o->keep_host;
    return true;
}

static bool stop_wanted(void)
{
    return gl_interrupt_seen() != 0;
}

/* ---- what is printed ---- */

static void show_progress(void *context, const gl_session_progress *progress)
{
    (void)context;
    gl_progress_show(progress);
}

/* Without a terminal, as under mpirun: a line for each curve. */
static void log_progress(void *context, const gl_session_progress *progress)
{
    char text[200];
    int *last = context;
    if (*last != progress->curves_done)
        fprintf(stderr, "%s\n", gl_progress_text(progress, text, sizeof text));
    *last = progress->curves_done;
}

static bool load_curves(const char *path, int64_t run_id, gl_arena *arena, gl_table *table,
                        gl_error *err)
{
    gl_store *store;
    gl_catalog catalog;
    if (!gl_store_open(path, &store, err))
        return false;
    bool ok = gl_store_read_catalog(store, arena, &catalog, err);
    for (size_t i = 0; ok && i < catalog.curve_count; i++) {
        if (catalog.curves[i].run_id != run_id)
            continue;
        ok = gl_store_read_samples(store, arena, &catalog.curves[i], err);
        if (ok)
            gl_curve_table_add(table, &catalog.curves[i]);
    }
    gl_store_close(store);
    return ok;
}

/* The curves of the run, if it has any, read back from the file: as show prints them. */
static bool print_summary(const char *path, const gl_session_result *result, gl_arena *arena,
                          gl_error *err)
{
    gl_table *table = gl_curve_table(arena);
    gl_scenario scenario = {.name = path, .tables = &table, .table_count = 1};
    const gl_report report = {.scenarios = &scenario, .scenario_count = 1};
    const gl_render_options how = {.width = gl_terminal_width(true), .only_table = "curves"};
    if (!load_curves(path, result->run_id, arena, table, err))
        return false;
    return table->row_count == 0 || gl_render_to(NULL, &report, GL_FORMAT_TABLE, &how, err);
}

static void say_end(const options *o, const gl_session_result *r)
{
    char peak[40];
    double around = r->wall_s - r->measuring_s;
    fprintf(stderr, "run %lld %s: %d curves, %d points (%d new)\n", (long long)r->run_id,
            r->stopped ? "stopped, the same command goes on" : "complete", r->curves, r->points,
            r->new_points);
    fprintf(stderr, "%.1f s, of which %.1f s (%.0f %%) did not measure; peak memory %s\n",
            r->wall_s, around, r->wall_s > 0 ? 100 * around / r->wall_s : 0.0,
            gl_format_gib(gl_memory_peak(), peak, sizeof peak));
    if (r->short_curves > 0)
        fprintf(stderr, "%d of the curves end below the largest size, for time or memory%s\n",
                r->short_curves, o->verbose ? ":" : " (show says which)");
    if (o->verbose)
        gl_calibrate_say_lines("", r->warnings);
    if (r->wrong_points > 0)
        fprintf(stderr,
                "%d points have WRONG RESULTS: this machine does not compute as it should\n",
                r->wrong_points);
}

/* ---- the work ---- */

static int report_failure(gl_backend *backend, const gl_session_result *result, const gl_error *err)
{
    if (result->backend_failed && !backend->leader) {
        /* If the leader sees it as well, it marks the run and ends everybody meanwhile. */
        nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    }
    if (backend->leader || result->backend_failed)
        gl_calibrate_report(&gl_calibrate_run, err);
    if (result->backend_failed)
        backend->vtable->abort(backend, (int)err->status);
    return (int)err->status;
}

/* A list that is not measured in full does not prove the machine. */
static bool says_unmet(const gl_session_result *r)
{
    if (r->unmet[0] == '\0' || r->stopped)
        return false;
    fprintf(stderr, "%s: not all of the list was measured:\n", GL_CALIBRATE_PROGRAM);
    gl_calibrate_say_lines("", r->unmet);
    return true;
}

static int report_success(const options *o, const gl_session_result *result, gl_arena *arena)
{
    gl_error err;
    if (!o->quiet) {
        if (!print_summary(o->db, result, arena, &err))
            return gl_calibrate_report(&gl_calibrate_run, &err);
        say_end(o, result);
    } else if (result->wrong_points > 0) {
        fprintf(stderr, "%s: %d points have wrong results\n", GL_CALIBRATE_PROGRAM,
                result->wrong_points);
    }
    bool unmet = says_unmet(result);
    return result->wrong_points > 0 ? (int)GL_ERROR_DEVICE : unmet ? 1 : (int)GL_OK;
}

static int measure(gl_backend *backend, const options *o, gl_session_options *session,
                   gl_arena *arena)
{
    gl_session_result result;
    gl_error err = {0};
    bool shows = backend->leader && !o->quiet && isatty(STDERR_FILENO);
    int last_curve = -1;
    char now[40];
    gl_calibrate_now(now, sizeof now);
    session->started_at = now;
    session->environment = gl_settings_kept(arena, (const char *const *)environ);
    session->locality = backend->leader ? gl_measure_locality(arena) : NULL;
    session->clock_s = gl_monotonic_s;
    session->stopped = stop_wanted;
    session->progress = shows ? show_progress : o->verbose ? log_progress : NULL;
    /* cppcheck-suppress autoVariables ; the session runs in this function */
    session->progress_context = &last_curve;
    gl_interrupt_catch();
    bool ok = gl_session_run(backend, session, arena, &result, &err);
    if (shows)
        gl_progress_end();
    if (!ok)
        return report_failure(backend, &result, &err);
    int status = backend->leader ? report_success(o, &result, arena) : GL_OK;
    return (int)backend->vtable->agree(backend, status);
}

static bool open_backend(backend_choice choice, gl_backend **backend, gl_error *err)
{
    return choice == BACKEND_MPI ? gl_backend_mpi_open(backend, err)
                                 : gl_backend_nccl_open(backend, err);
}

static int start(const options *o, gl_session_options *session, gl_arena *arena)
{
    gl_backend *backend;
    gl_error err;
    if (!open_backend(o->backend, &backend, &err)) {
        if (is_first_process())
            gl_calibrate_report(&gl_calibrate_run, &err);
        return (int)err.status;
    }
    int status = measure(backend, o, session, arena);
    /* Stopped by a signal: say so to who started us, as the signal itself would have. */
    int stopped_by = (int)backend->vtable->agree(backend, (double)gl_interrupt_seen());
    backend->vtable->close(backend);
    return status == GL_OK && stopped_by != 0 ? 128 + stopped_by : status;
}

static int run_run(int argc, char **argv, gl_arena *arena)
{
    options o = {.label = "", .budget_s = 120, .precision = 0.02};
    gl_session_options session = {0};
    lists l = {0};
    gl_texts arguments = {0};
    gl_error err;
    bool help = false;
    if (!gl_options_parse(&gl_calibrate_run, argc, argv, arena, &o, &arguments, &help, &err) ||
        (!help && !resolve(&o, &l, &session, arena, &err)))
        return is_first_process() ? gl_calibrate_report(&gl_calibrate_run, &err) : (int)err.status;
    if (help)
        return is_first_process() ? gl_calibrate_help(&gl_calibrate_run) : GL_OK;
    return start(&o, &session, arena);
}

const gl_command gl_calibrate_run = {
    .name = "run",
    .synopsis = "--db FILE.db [options]",
    .summary = "measure collectives between GPUs (nccl) or host buffers (mpi) into a database",
    .examples = "gpulink-calibrate run --db lab.db --label \"8 x H200\" --compute --overlap\n"
                "mpirun -n 4 gpulink-calibrate run --backend mpi --db host.db --max 64MiB\n"
                "gpulink-calibrate run --db new.db --acceptance list.csv",
    .options = option_table,
    .minimum_arguments = 0,
    .maximum_arguments = 0,
    .run = run_run};

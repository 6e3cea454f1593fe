/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/commands.h"
#include "calibrate/cli/progress.h"
#include "calibrate/import/importer.h"
#include "calibrate/import/nccl_log.h"
#include "common/clock.h"
#include "common/text.h"

#include <stdio.h>
#include <string.h>

typedef struct options {
    const char *db, *label, *gpu, *transport, *collective, *algorithm, *protocol;
    long long nodes, ranks;
    bool keep_host, quiet, verbose;
} options;

static const gl_option option_table[] = {
    {"db", 'd', GL_OPTION_TEXT, "FILE.db", "Database to add to; created if it is not there.",
     offsetof(options, db), 0, 0, 0, NULL},
    {"label", 'l', GL_OPTION_TEXT, "NAME", "Your name for these runs.", offsetof(options, label), 0,
     0, 0, NULL},
    {"nodes", 'n', GL_OPTION_INTEGER, "N", "Number of nodes, for files without a device list.",
     offsetof(options, nodes), 0, 1, 1000000, NULL},
    {"ranks", 0, GL_OPTION_INTEGER, "N", "Number of ranks, for files without a device list.",
     offsetof(options, ranks), 0, 2, 1000000, NULL},
    {"transport", 't', GL_OPTION_TEXT, "T",
     "nvlink, pcie-p2p, shm, net-ib, net-roce, net-socket or host, where the log does not tell "
     "(lines of NCCL_DEBUG=INFO do).",
     offsetof(options, transport), 0, 0, 0, NULL},
    {"gpu", 'g', GL_OPTION_TEXT, "NAME", "Name of the GPU (default: from the device list).",
     offsetof(options, gpu), 0, 0, 0, NULL},
    {"collective", 'c', GL_OPTION_TEXT, "C",
     "Collective, for texts that do not say it, such as all_gather.", offsetof(options, collective),
     0, 0, 0, NULL},
    {"algorithm", 0, GL_OPTION_TEXT, "A", "NCCL_ALGO of the run, such as ring, where no log tells.",
     offsetof(options, algorithm), 0, 0, 0, NULL},
    {"protocol", 0, GL_OPTION_TEXT, "P",
     "NCCL_PROTO of the run, such as simple, where no log tells.", offsetof(options, protocol), 0,
     0, 0, NULL},
    {"keep-host", 0, GL_OPTION_FLAG, NULL,
     "Store the name of the first host (default: no host names are stored).",
     offsetof(options, keep_host), 0, 0, 0, NULL},
    {"quiet", 'q', GL_OPTION_FLAG, NULL, "Print errors only.", offsetof(options, quiet), 0, 0, 0,
     NULL},
    {"verbose", 'v', GL_OPTION_FLAG, NULL, "Print a line for each curve.",
     offsetof(options, verbose), 0, 0, 0, NULL},
    {0}};

static bool find_name(const char *option, const char *text, const char *(*name_of)(int), int count,
                      int *found, gl_error *err)
{
    const char *names[64];
    char shown[64], guess[128], list[256] = "";
    for (int i = 0; i < count; i++) {
        names[i] = name_of(i);
        if (strcmp(text, names[i]) == 0) {
            *found = i;
            return true;
        }
    }
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], "unknown") != 0) /* what leaving the option out means */
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                     list[0] != '\0' ? ", " : "", names[i]);
    return gl_fail_at(err, GL_ERROR_USAGE, NULL, option, "'%s' is unknown%s allowed: %s",
                      gl_printable(text, shown, sizeof shown),
                      gl_did_you_mean(text, names, (size_t)count, guess, sizeof guess), list);
}

static const char *transport_name(int index)
{
    return gl_transport_name((gl_transport)index);
}

static const char *collective_name(int index)
{
    return gl_collective_name((gl_collective)index);
}

static const char *algorithm_name(int index)
{
    return gl_nccl_algorithms[index];
}

static const char *protocol_name(int index)
{
    return gl_nccl_protocols[index];
}

/* A name is one line that fits into a table. */
static bool check_name(const char *option, const char *name, gl_error *err)
{
    enum { LENGTH_MAX = 200 };
    if (name == NULL)
        return true;
    if (strlen(name) > LENGTH_MAX)
        return gl_fail_at(err, GL_ERROR_USAGE, NULL, option, "a name of %zu bytes; at most %d",
                          strlen(name), LENGTH_MAX);
    char printable[LENGTH_MAX + 8];
    if (strcmp(gl_printable(name, printable, sizeof printable), name) != 0)
        return gl_fail_at(err, GL_ERROR_USAGE, NULL, option,
                          "a name is one line of printable UTF-8, not \"%s\"", printable);
    return true;
}

static bool resolve(const options *o, gl_import_options *said, gl_error *err)
{
    int index = 0;
    *said = (gl_import_options){.label = o->label,
                                .gpu = o->gpu,
                                .nodes = (int)o->nodes,
                                .ranks = (int)o->ranks,
                                .keep_host = o->keep_host};
    if (o->db == NULL)
        return gl_fail(err, GL_ERROR_USAGE, "--db is missing: the database to write to");
    if (!check_name("--label", o->label, err) || !check_name("--gpu", o->gpu, err))
        return false;
    if (o->transport != NULL) {
        if (!find_name("--transport", o->transport, transport_name, GL_TRANSPORT_COUNT, &index,
                       err))
            return false;
        said->has_transport = true;
        said->transport = (gl_transport)index;
    }
    if (o->collective != NULL) {
        if (!find_name("--collective", o->collective, collective_name, GL_COLLECTIVE_COUNT, &index,
                       err))
            return false;
        said->has_collective = true;
        said->collective = (gl_collective)index;
    }
    if (o->algorithm != NULL) {
        if (!find_name("--algorithm", o->algorithm, algorithm_name, GL_NCCL_ALGORITHMS + 1, &index,
                       err))
            return false;
        said->algorithm = algorithm_name(index);
    }
    if (o->protocol != NULL) {
        if (!find_name("--protocol", o->protocol, protocol_name, GL_NCCL_PROTOCOLS + 1, &index,
                       err))
            return false;
        said->protocol = protocol_name(index);
    }
    return true;
}

/* ---- what was done ---- */

static void say_curve(const gl_curve *curve)
{
    fprintf(stderr, "  %s %s%s%s, %s, %zu sizes\n", gl_collective_name(curve->collective),
            gl_dtype_name(curve->dtype), curve->redop[0] != '\0' ? " " : "", curve->redop,
            curve->in_place ? "in place" : "out of place", curve->sample_count);
}

static void say_run(const char *path, const gl_import_run *run, bool verbose)
{
    size_t samples = 0;
    for (size_t i = 0; i < run->curve_count; i++)
        samples += run->curves[i].sample_count;
    if (run->curve_count > 0) {
        const gl_curve *c = &run->curves[0];
        fprintf(stderr, "%s: %s, %d ranks on %d node%s, %s: %zu curve%s, %zu samples%s\n", path,
                gl_collective_name(c->collective), c->placement.ranks, c->placement.nodes,
                c->placement.nodes == 1 ? "" : "s", gl_transport_name(c->transport),
                run->curve_count, run->curve_count == 1 ? "" : "s", samples,
                run->run.state == GL_RUN_COMPLETE ? "" : " (incomplete run)");
    } else {
        fprintf(stderr, "%s: %zu compute rates, %zu overlap rates\n", path, run->compute_count,
                run->overlap_count);
    }
    for (size_t i = 0; verbose && i < run->curve_count; i++)
        say_curve(&run->curves[i]);
    gl_calibrate_say_lines("flagged: ", run->run.warnings);
}

/* ---- the work ---- */

/* Files that were read within this time are written in one transaction, which waits for the disk
 * once. Nothing is reported before it is on the disk. */
enum { BATCH_MAX = 1024 };
static const double BATCH_S = 0.25;

typedef struct work {
    const options *options;
    const gl_import_options *said;
    gl_store *store; /* opened for the first file that has something to store */
    gl_import_result batch[BATCH_MAX];
    const char *names[BATCH_MAX];
    size_t batch_count;
    double batch_began_s;
    size_t files, runs;
    size_t unnamed; /* runs that were stored without a known transport */
    int status;
    gl_status_line line;
} work;

static void fail(work *w, const gl_error *err)
{
    gl_status_line_clear(&w->line);
    int status = gl_calibrate_report(NULL, err);
    if (w->status == GL_OK)
        w->status = status;
}

/* Runs that were left out of a file whose other runs are good. */
static void report_refused(work *w, const gl_import_result *result)
{
    if (result->refused_count > 0)
        gl_status_line_clear(&w->line);
    for (size_t i = 0; i < result->refused_count; i++) {
        char text[1400];
        fprintf(stderr, "%s: %s (this run was left out)\n", GL_CALIBRATE_PROGRAM,
                gl_error_text(&result->refused[i], text, sizeof text));
        if (w->status == GL_OK)
            w->status = (int)result->refused[i].status;
    }
}

/* Curves of a log that says no transport, and of a command that says none either. */
static bool is_unnamed(const gl_import_run *run)
{
    for (size_t i = 0; i < run->curve_count; i++)
        if (run->curves[i].transport != GL_TRANSPORT_UNKNOWN)
            return false;
    return run->curve_count > 0;
}

/* Once for all files, with what to do. */
static void say_unnamed(const work *w)
{
    if (w->unnamed == 0)
        return;
    fprintf(stderr,
            "%s: warning: the transport of %zu run%s is not known, and a plan takes such curves "
            "only where nothing else was measured. Say it: the same command with --transport "
            "nvlink (or pcie-p2p, shm, net-ib, net-roce, net-socket) names the curves that are "
            "stored and adds none\n",
            GL_CALIBRATE_PROGRAM, w->unnamed, w->unnamed == 1 ? "" : "s");
}

static void say_named(const char *path, const gl_import_run *run)
{
    fprintf(stderr,
            "%s: run %lld (%s) was in the database already, and its transport is known now: %s\n",
            path, (long long)run->same_as, run->same_source,
            gl_transport_name(run->curves[0].transport));
}

static void say_known(const char *path, const gl_import_result *result, size_t known)
{
    fprintf(stderr, "%s: %zu of %zu runs were in the database already, to the last digit:", path,
            known, result->run_count);
    const char *comma = "";
    for (size_t i = 0; i < result->run_count; i++)
        if (result->runs[i].same_as != 0 && !result->runs[i].named) {
            fprintf(stderr, "%s run %lld (%s)", comma, (long long)result->runs[i].same_as,
                    result->runs[i].same_source);
            comma = ",";
        }
    fputc('\n', stderr);
}

static void say_result(work *w, const char *path, const gl_import_result *result)
{
    size_t known = 0, named = 0;
    for (size_t i = 0; i < result->run_count; i++) {
        named += result->runs[i].named;
        known += result->runs[i].same_as != 0 && !result->runs[i].named;
        w->unnamed += result->runs[i].same_as == 0 && is_unnamed(&result->runs[i]);
    }
    gl_status_line_clear(&w->line);
    w->files++;
    w->runs += result->run_count - known - named;
    if (w->options->quiet)
        return;
    if (known > 0)
        say_known(path, result, known);
    for (size_t i = 0; i < result->run_count; i++) {
        if (result->runs[i].named)
            say_named(path, &result->runs[i]);
        if (result->runs[i].same_as == 0)
            say_run(path, &result->runs[i], w->options->verbose);
    }
}

/* False when the database cannot be written: then the other files cannot either. */
static bool write_batch(work *w)
{
    gl_error err;
    bool ok = w->batch_count == 0 ||
              ((w->store != NULL || gl_store_open_writable(w->options->db, &w->store, &err)) &&
               gl_import_write(w->store, w->batch, w->batch_count, &err));
    for (size_t i = 0; i < w->batch_count; i++) {
        if (ok)
            say_result(w, w->names[i], &w->batch[i]);
        gl_arena_destroy(w->batch[i].arena);
    }
    w->batch_count = 0;
    if (!ok)
        fail(w, &err);
    return ok;
}

/* False when the database cannot be written. */
static bool import_one(work *w, const char *path)
{
    gl_import_result result;
    gl_error err;
    gl_arena *arena = gl_arena_create();
    bool ok = gl_import_file(path, w->said, arena, &result, &err), go_on = true;
    if (!ok || result.refused_count > 0) /* messages stand in the order of the files */
        go_on = write_batch(w);
    report_refused(w, &result);
    if (!ok)
        fail(w, &err);
    if (!ok || !go_on) {
        gl_arena_destroy(arena);
        return go_on;
    }
    if (w->batch_count == 0)
        w->batch_began_s = gl_monotonic_s();
    w->names[w->batch_count] = strcmp(path, "-") == 0 ? "standard input" : path;
    w->batch[w->batch_count++] = result;
    return (w->batch_count < BATCH_MAX && gl_monotonic_s() - w->batch_began_s < BATCH_S) ||
           write_batch(w);
}

static int import_files(const options *o, const gl_import_options *said, const gl_texts *files,
                        gl_arena *arena)
{
    work *w = GL_ARENA_NEW(arena, work, 1);
    w->options = o;
    w->said = said;
    bool go_on = true;
    w->line = gl_status_line_start(o->quiet);
    for (size_t i = 0; i < files->count && go_on; i++) {
        gl_progress_file(&w->line, i + 1, files->count, files->items[i]);
        go_on = import_one(w, files->items[i]);
    }
    gl_status_line_clear(&w->line);
    write_batch(w);
    if (!o->quiet && files->count > 1)
        fprintf(stderr, "%zu of %zu files imported: %zu runs\n", w->files, files->count, w->runs);
    if (!o->quiet)
        say_unnamed(w);
    gl_store_close(w->store);
    return w->status;
}

static int run_import(int argc, char **argv, gl_arena *arena)
{
    options o = {0};
    gl_import_options said;
    gl_texts files = {0};
    gl_error err;
    char recorded_at[40];
    int status;
    if (!gl_calibrate_parse(&gl_calibrate_import, argc, argv, arena, &o, &files, &status))
        return status;
    if (!resolve(&o, &said, &err))
        return gl_calibrate_report(&gl_calibrate_import, &err);
    gl_calibrate_now(recorded_at, sizeof recorded_at);
    said.recorded_at = recorded_at;
    return import_files(&o, &said, &files, arena);
}

const gl_command gl_calibrate_import = {
    .name = "import",
    .synopsis = "FILE... --db FILE.db [options]",
    .summary = "add output of nccl-tests or rccl-tests (text or -J) to a database; - is standard "
               "input",
    .examples =
        "gpulink-calibrate import all_reduce.txt --db lab.db --label \"two H200\"\n"
        "mpirun ... all_gather_perf -b 8 -e 8G -f 2 | gpulink-calibrate import - --db lab.db",
    .options = option_table,
    .minimum_arguments = 1,
    .maximum_arguments = -1,
    .run = run_import};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/commands.h"
#include "calibrate/import/merge.h"

#include <stdio.h>

typedef struct options {
    const char *db;
    bool quiet;
} options;

static const gl_option option_table[] = {{"db", 'd', GL_OPTION_TEXT, "OUT.db",
                                          "Database to add to; created if it is not there.",
                                          offsetof(options, db), 0, 0, 0, NULL},
                                         {"quiet", 'q', GL_OPTION_FLAG, NULL, "Print errors only.",
                                          offsetof(options, quiet), 0, 0, 0, NULL},
                                         {0}};

static bool merge(const options *o, const gl_texts *files, gl_error *err)
{
    gl_merge_counts counts;
    if (o->db == NULL)
        return gl_fail(err, GL_ERROR_USAGE, "--db is missing: the database to write to");
    if (!gl_merge_files(files->items, files->count, o->db, &counts, err))
        return false;
    if (!o->quiet)
        fprintf(stderr, "%s: %zu runs added, %zu were there already\n", o->db, counts.added,
                counts.known);
    return true;
}

static int run_merge(int argc, char **argv, gl_arena *arena)
{
    options o = {0};
    gl_texts files = {0};
    gl_error err;
    int status;
    if (!gl_calibrate_parse(&gl_calibrate_merge, argc, argv, arena, &o, &files, &status))
        return status;
    return merge(&o, &files, &err) ? GL_OK : gl_calibrate_report(&gl_calibrate_merge, &err);
}

const gl_command gl_calibrate_merge = {
    .name = "merge",
    .synopsis = "A.db B.db... --db OUT.db",
    .summary = "put the runs of several databases into one; a run that occurs twice is kept once",
    .examples = "gpulink-calibrate merge rack1.db rack2.db --db all.db",
    .options = option_table,
    .minimum_arguments = 1,
    .maximum_arguments = -1,
    .run = run_merge};

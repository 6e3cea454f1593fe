/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/runs_file.h"

#include "common/csv.h"
#include "common/text.h"
#include "planner/core/workload.h"
#include "planner/input/cluster_file.h"
#include "planner/input/file_text.h"
#include "planner/input/notes.h"

#include <math.h>
#include <string.h>

enum {
    LIST_BYTES = 320,
    GUESS_BYTES = 160,
    SHOWN_BYTES = 64,
    RUNS_MAX = 10000,
    SETTINGS_MAX = 100
};

typedef enum column_type { TEXT, REQUIRED_TEXT, MATCHED_TEXT, INTEGER, NUMBER } column_type;

#define AS_ROW(key, name, type, unit, path, doc) {name, type, unit, path, doc},
static const struct {
    const char *name;
    column_type type;
    const char *unit, *path, *doc;
} columns[GL_RUN_COLUMN_COUNT] = {GL_RUN_COLUMNS(AS_ROW)};

bool gl_run_column_is_matched(gl_run_column column)
{
    return columns[column].type == MATCHED_TEXT;
}

const char *gl_run_column_name(gl_run_column column)
{
    return columns[column].name;
}

const char *gl_run_column_path(gl_run_column column)
{
    return columns[column].path;
}

gl_run_column gl_run_column_find(const char *name, size_t length)
{
    int i = 0;
    while (i < GL_RUN_COLUMN_COUNT &&
           (strncmp(columns[i].name, name, length) != 0 || columns[i].name[length] != '\0'))
        i++;
    return (gl_run_column)i;
}

/* ---- header ---- */

typedef struct reader {
    const gl_csv_file *csv;
    gl_run_column *meanings; /* by column of the file */
    gl_arena *arena;
    gl_diagnostics *diagnostics;
} reader;

static void diagnose_column(const reader *r, const gl_csv_cell *cell)
{
    const char *names[GL_RUN_COLUMN_COUNT];
    char guess[GUESS_BYTES], list[LIST_BYTES], shown[SHOWN_BYTES];
    for (int i = 0; i < GL_RUN_COLUMN_COUNT; i++)
        names[i] = columns[i].name;
    gl_mark mark = gl_csv_mark(r->csv, cell);
    gl_guess(cell->text, names, GL_RUN_COLUMN_COUNT, guess, sizeof guess);
    gl_printable(cell->text, shown, sizeof shown);
    if (guess[0] != '\0')
        gl_diagnose(r->diagnostics, &mark, NULL, "unknown column '%s'%s", shown, guess);
    else
        gl_diagnose(r->diagnostics, &mark, NULL, "unknown column '%s'; allowed: %s", shown,
                    gl_list_names(names, GL_RUN_COLUMN_COUNT, list, sizeof list));
}

static void read_header(reader *r)
{
    bool seen[GL_RUN_COLUMN_COUNT] = {false};
    const gl_csv_file *csv = r->csv;
    r->meanings = GL_ARENA_NEW(r->arena, gl_run_column, csv->columns);
    for (size_t i = 0; i < csv->columns; i++) {
        const char *name = csv->cells[i].text;
        r->meanings[i] = gl_run_column_find(name, strlen(name));
        if (r->meanings[i] == GL_RUN_COLUMN_COUNT)
            diagnose_column(r, &csv->cells[i]);
        else
            seen[r->meanings[i]] = true;
    }
    gl_mark mark = {.file = csv->name, .line = csv->cells[0].line, .column = 1};
    if (!seen[GL_RUN_ID])
        gl_diagnose(r->diagnostics, &mark, NULL, "the column 'id' is missing");
    if (!seen[GL_RUN_STEP] && !seen[GL_RUN_TOKENS])
        gl_diagnose(r->diagnostics, &mark, NULL,
                    "needs a column 'measured_step_s' or 'measured_tokens_s_gpu'");
}

/* ---- cells ---- */

static void read_integer(const reader *r, gl_known_run *run, gl_run_column column)
{
    gl_error err;
    long long value;
    const char *text = run->texts[column], *name = columns[column].name;
    if (!gl_parse_integer(text, &value, &err))
        gl_diagnose(r->diagnostics, &run->marks[column], name, "%s", err.message);
    else if (value < 1 || value > 1000000000000)
        gl_diagnose(r->diagnostics, &run->marks[column], name,
                    "'%.40s' is out of range; allowed: 1 to 1e12", text);
    else
        run->numbers[column] = (double)value;
}

static void read_number(const reader *r, gl_known_run *run, gl_run_column column)
{
    gl_error err;
    double value;
    const char *text = run->texts[column], *name = columns[column].name;
    if (!gl_parse_quantity(text, GL_NUMBER, &value, &err))
        gl_diagnose(r->diagnostics, &run->marks[column], name, "%s", err.message);
    else if (!(value >= 1e-6 && value <= 1e15))
        gl_diagnose(r->diagnostics, &run->marks[column], name,
                    "'%.40s' is out of range; allowed: 1e-6 to 1e15", text);
    else
        run->numbers[column] = value;
}

static void read_text(const reader *r, gl_known_run *run, gl_run_column column)
{
    char printed[SHOWN_BYTES * 32];
    const char *text = run->texts[column];
    if (strlen(text) >= sizeof printed)
        gl_diagnose(r->diagnostics, &run->marks[column], columns[column].name,
                    "is longer than %zu bytes", sizeof printed - 1);
    else if (strcmp(gl_printable(text, printed, sizeof printed), text) != 0)
        gl_diagnose(r->diagnostics, &run->marks[column], columns[column].name,
                    "holds a character that cannot be printed");
}

static void read_cell(const reader *r, gl_known_run *run, gl_run_column column)
{
    column_type type = columns[column].type;
    if (run->texts[column][0] == '\0') {
        if (type == REQUIRED_TEXT)
            gl_diagnose(r->diagnostics, &run->marks[column], columns[column].name, "is empty");
        return;
    }
    if (type == INTEGER)
        read_integer(r, run, column);
    else if (type == NUMBER)
        read_number(r, run, column);
    else
        read_text(r, run, column);
}

/* ---- settings ---- */

static bool is_cluster_setting(const char *key)
{
    return gl_starts_with(key, "cluster.") || strcmp(key, "prices") == 0;
}

/* Fields, types and ranges are those of the descriptions. */
static void check_settings(const reader *r, const gl_known_run *run)
{
    const gl_mark *mark = &run->marks[GL_RUN_SETTINGS];
    gl_yaml_node roots[2] = {{.kind = GL_YAML_MAPPING}, {.kind = GL_YAML_MAPPING}};
    gl_workload workload = gl_workload_defaults();
    gl_cluster cluster = {0};
    const struct {
        const gl_field *fields;
        void *target;
    } documents[2] = {{gl_model_fields, &workload}, {gl_cluster_fields, &cluster}};
    for (size_t i = 0; i < run->setting_count; i++) {
        const gl_setting *setting = &run->settings[i];
        gl_yaml_tree tree = {.root = &roots[is_cluster_setting(setting->key)]};
        gl_error err;
        if (!gl_yaml_put(&tree, r->arena, mark, setting->key, setting->value, &err))
            gl_diagnose_error(r->diagnostics, &err);
    }
    for (int i = 0; i < 2; i++) {
        const gl_yaml_tree tree = {.file = r->csv->name, .root = &roots[i]};
        gl_fields_load(gl_fields_optional(documents[i].fields, r->arena), &tree, r->arena,
                       documents[i].target, r->diagnostics);
    }
}

/* "key=value; key=value" */
static void read_settings(const reader *r, gl_known_run *run)
{
    const char *rest = run->texts[GL_RUN_SETTINGS];
    const gl_mark *mark = &run->marks[GL_RUN_SETTINGS];
    if (*rest == '\0')
        return;
    run->settings = GL_ARENA_NEW(r->arena, gl_setting, SETTINGS_MAX);
    while (*rest != '\0') {
        size_t length = strcspn(rest, ";");
        const char *one = gl_arena_strndup(r->arena, rest, length);
        rest += length + (rest[length] == ';');
        one += strspn(one, " ");
        const char *equals = strchr(one, '=');
        if (*one == '\0')
            continue;
        if (equals == NULL || run->setting_count == SETTINGS_MAX) {
            gl_diagnose(r->diagnostics, mark, "settings", "'%.60s' is %s", one,
                        equals == NULL ? "not of the form key=value" : "one too many (100)");
            return;
        }
        run->settings[run->setting_count++] =
            (gl_setting){.key = gl_arena_strndup(r->arena, one, (size_t)(equals - one)),
                         .value = equals + 1,
                         .option = "settings"};
    }
    check_settings(r, run);
}

/* ---- rows ---- */

/* A step's time, or what follows from tokens per second. */
static double measured_s(const gl_known_run *run)
{
    const double *n = run->numbers;
    if (!isnan(n[GL_RUN_STEP]))
        return n[GL_RUN_STEP];
    return n[GL_RUN_GLOBAL_BATCH] * n[GL_RUN_SEQ] / (n[GL_RUN_TOKENS] * n[GL_RUN_GPUS]);
}

static void read_row(const reader *r, size_t row, gl_known_run *run)
{
    const gl_csv_file *csv = r->csv;
    gl_mark here = {.file = csv->name, .line = gl_csv_cell_at(csv, row, 0)->line, .column = 1};
    *run = (gl_known_run){.mark = here};
    for (int i = 0; i < GL_RUN_COLUMN_COUNT; i++) {
        run->texts[i] = "";
        run->marks[i] = here;
        run->numbers[i] = (double)NAN;
    }
    for (size_t i = 0; i < csv->columns; i++) {
        const gl_csv_cell *cell = gl_csv_cell_at(csv, row, i);
        run->texts[r->meanings[i]] = cell->text;
        run->marks[r->meanings[i]] = gl_csv_mark(csv, cell);
    }
    for (int i = 0; i < GL_RUN_COLUMN_COUNT; i++)
        read_cell(r, run, (gl_run_column)i);
    read_settings(r, run);
    run->measured_s = measured_s(run);
}

static void check_new(const gl_known_runs *runs, const gl_known_run *run,
                      gl_diagnostics *diagnostics)
{
    char shown[SHOWN_BYTES];
    for (size_t i = 0; i < runs->count; i++) {
        const gl_known_run *other = &runs->items[i];
        if (strcmp(other->texts[GL_RUN_ID], run->texts[GL_RUN_ID]) != 0)
            continue;
        gl_diagnose(diagnostics, &run->marks[GL_RUN_ID], "id", "'%s' is there already (%.200s:%d)",
                    gl_printable(run->texts[GL_RUN_ID], shown, sizeof shown), other->mark.file,
                    other->mark.line);
        return;
    }
}

/* ---- files ---- */

static bool read_runs(const gl_csv_file *csv, gl_arena *arena, gl_known_runs *runs,
                      gl_diagnostics *diagnostics)
{
    size_t before = diagnostics->count + diagnostics->dropped;
    reader r = {.csv = csv, .arena = arena, .diagnostics = diagnostics};
    read_header(&r);
    if (diagnostics->count + diagnostics->dropped != before)
        return false;
    if (runs->count + csv->rows > RUNS_MAX) {
        gl_mark mark = {.file = csv->name};
        return gl_diagnose(diagnostics, &mark, NULL, "brings the runs to %zu; at most %d are read",
                           runs->count + csv->rows, RUNS_MAX);
    }
    runs->items = gl_arena_grow(arena, runs->items, &runs->capacity, runs->count + csv->rows,
                                sizeof *runs->items);
    for (size_t row = 0; row < csv->rows; row++) {
        gl_known_run *run = &runs->items[runs->count];
        read_row(&r, row, run);
        check_new(runs, run, diagnostics);
        runs->count++;
    }
    return diagnostics->count + diagnostics->dropped == before;
}

bool gl_known_runs_parse(const char *name, const char *text, size_t length, gl_arena *arena,
                         gl_known_runs *runs, gl_diagnostics *diagnostics)
{
    gl_csv_file csv;
    gl_error err;
    if (!gl_csv_parse(name, text, length, GL_CSV_PLAIN, arena, &csv, &err))
        return gl_diagnose_error(diagnostics, &err);
    return read_runs(&csv, arena, runs, diagnostics);
}

bool gl_known_runs_load(const char *path, gl_arena *arena, gl_known_runs *runs,
                        gl_diagnostics *diagnostics)
{
    const char *text, *name = strcmp(path, "-") == 0 ? "standard input" : path;
    size_t length;
    gl_error err;
    if (!gl_file_text_read(path, arena, &text, &length, &err))
        return gl_diagnose_error(diagnostics, &err);
    return gl_known_runs_parse(name, text, length, arena, runs, diagnostics);
}

gl_table *gl_known_runs_schema(gl_arena *arena)
{
    static const char *const types[] = {[TEXT] = "text",
                                        [REQUIRED_TEXT] = "text, required",
                                        [MATCHED_TEXT] = "word of conventions.yaml",
                                        [INTEGER] = "integer",
                                        [NUMBER] = "number"};
    static const gl_column schema[] = {{"column", "Column", GL_NUMBER, GL_FOR_ALL},
                                       {"type", "Type", GL_NUMBER, GL_FOR_ALL},
                                       {"unit", "Unit", GL_NUMBER, GL_FOR_ALL},
                                       {"field", "Field", GL_NUMBER, GL_FOR_ALL},
                                       {"meaning", "Meaning", GL_NUMBER, GL_FOR_ALL}};
    gl_table *table = gl_table_create(arena, "runs", "Columns of a table of runs", schema, 5);
    for (int i = 0; i < GL_RUN_COLUMN_COUNT; i++) {
        gl_cell *cell = gl_table_add_row(table);
        cell[0] = gl_text(columns[i].name);
        cell[1] = gl_text(types[columns[i].type]);
        cell[2] = gl_known_text(columns[i].unit);
        cell[3] = gl_text(columns[i].path);
        cell[4] = gl_text(columns[i].doc);
    }
    return table;
}

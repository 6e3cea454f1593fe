/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/commands.h"
#include "calibrate/cli/doctor_report.h"
#include "calibrate/cli/progress.h"
#include "common/output_options.h"

#include <string.h>

extern char **environ;

typedef struct options {
    gl_texts topology, nvlink, p2p, log, xml, db;
    gl_output_options output;
} options;

static const gl_option option_table[] = {
    {"topo", 't', GL_OPTION_LIST, "FILE", "Output of nvidia-smi topo -m.",
     offsetof(options, topology), 0, 0, 0, NULL},
    {"nvlink", 'n', GL_OPTION_LIST, "FILE", "Output of nvidia-smi nvlink -s, or of nvlink -e.",
     offsetof(options, nvlink), 0, 0, 0, NULL},
    {"p2p", 'p', GL_OPTION_LIST, "FILE", "Output of nvidia-smi topo -p2p r (and w).",
     offsetof(options, p2p), 0, 0, 0, NULL},
    {"log", 'l', GL_OPTION_LIST, "FILE",
     "Output of a program that ran with NCCL_DEBUG=INFO, of all ranks.", offsetof(options, log), 0,
     0, 0, NULL},
    {"xml", 'x', GL_OPTION_LIST, "FILE",
     "Topology of NCCL, from NCCL_TOPO_DUMP_FILE or for NCCL_TOPO_FILE.", offsetof(options, xml), 0,
     0, 0, NULL},
    {"db", 'd', GL_OPTION_LIST, "FILE.db",
     "Calibration database: curves beside what is expected, stored texts.", offsetof(options, db),
     0, 0, 0, NULL},
    GL_OUTPUT_OPTIONS(options, output, GL_REPORT_FORMATS, 0,
                      "Only this table: findings, expected, job or settings."),
    {0}};

typedef struct input {
    gl_source source;
    const gl_texts *files;
} input;

enum { INPUTS = 7 };

/* The order in which facts are taken: of two lines that say the same, the first is the proof. */
static void list_inputs(const options *o, const gl_texts *others, input inputs[INPUTS])
{
    const input all[INPUTS] = {{GL_SOURCE_TOPOLOGY, &o->topology},
                               {GL_SOURCE_NVLINK, &o->nvlink},
                               {GL_SOURCE_P2P, &o->p2p},
                               {GL_SOURCE_XML, &o->xml},
                               {GL_SOURCE_LOG, &o->log},
                               {GL_SOURCE_UNKNOWN, others},
                               {GL_SOURCE_DB, &o->db}};
    memcpy(inputs, all, sizeof all);
}

static bool check_inputs(const input *inputs, size_t *count, gl_error *err)
{
    size_t standard_inputs = 0;
    *count = 0;
    for (int i = 0; i < INPUTS; i++)
        for (size_t k = 0; k < inputs[i].files->count; k++) {
            bool standard = strcmp(inputs[i].files->items[k], "-") == 0;
            standard_inputs += standard;
            (*count)++;
            if (standard && inputs[i].source == GL_SOURCE_DB)
                return gl_fail_at(err, GL_ERROR_USAGE, NULL, "--db",
                                  "a database cannot be read from standard input");
        }
    return standard_inputs <= 1 ||
           gl_fail(err, GL_ERROR_USAGE, "standard input can be read once; %zu options name it",
                   standard_inputs);
}

static bool gather(const options *o, const gl_texts *others, gl_facts *facts, gl_error *err)
{
    input inputs[INPUTS];
    size_t count, done = 0;
    list_inputs(o, others, inputs);
    if (!check_inputs(inputs, &count, err))
        return false;
    if (count == 0)
        return gl_facts_ask_machine(facts, (const char *const *)environ, err);
    gl_status_line line = gl_status_line_start(false);
    bool read = true;
    for (int i = 0; i < INPUTS; i++)
        for (size_t k = 0; k < inputs[i].files->count && read; k++) {
            const char *file = inputs[i].files->items[k];
            gl_progress_file(&line, ++done, count, file);
            read = gl_facts_read(facts, inputs[i].source, file, err);
        }
    gl_status_line_clear(&line);
    return read;
}

static bool diagnose(const options *o, const gl_texts *others, gl_arena *arena, bool *healthy,
                     gl_error *err)
{
    gl_facts facts;
    gl_expected expected;
    gl_table *tables[GL_DOCTOR_TABLES_MAX];
    gl_scenario scenario = {.tables = tables};
    const gl_report report = {.scenarios = &scenario, .scenario_count = 1};
    if (!gl_expected_load(arena, &expected, err))
        return false;
    gl_facts_begin(&facts, &expected, arena);
    if (!gather(o, others, &facts, err))
        return false;
    gl_facts_finish(&facts);
    gl_findings findings = gl_findings_of(&facts);
    *healthy = findings.count == 0 || findings.items[0].severity == GL_NOTE;
    bool people = gl_output_for_people(&o->output) && o->output.format != GL_FORMAT_HTML;
    gl_doctor_report(&facts, &findings, people && o->output.table == NULL, arena, &scenario);
    const char *doubt = gl_output_ending_doubt(&o->output, arena);
    if (doubt != NULL)
        gl_calibrate_say_lines("warning: ", doubt);
    return gl_output_render(&o->output, &report, "findings", err);
}

static int run_doctor(int argc, char **argv, gl_arena *arena)
{
    options o = {0};
    gl_texts others = {0};
    gl_error err;
    bool healthy = true;
    int status;
    if (!gl_calibrate_parse(&gl_calibrate_doctor, argc, argv, arena, &o, &others, &status))
        return status;
    if (!gl_output_options_check(&o.output, NULL, &err) ||
        !diagnose(&o, &others, arena, &healthy, &err))
        return gl_calibrate_report(&gl_calibrate_doctor, &err);
    return healthy ? GL_OK : 1;
}

const gl_command gl_calibrate_doctor = {
    .name = "doctor",
    .synopsis = "[FILE...] [--log F] [--topo F] [--nvlink F] [--db FILE.db] [options]",
    .summary = "says whether a fast link silently runs on a slow path, and why; without files it "
               "asks this machine",
    .examples = "gpulink-calibrate doctor\n"
                "nvidia-smi topo -m | gpulink-calibrate doctor --topo -\n"
                "gpulink-calibrate doctor --topo topo.txt --nvlink nvlink.txt --log job.log\n"
                "gpulink-calibrate doctor --log rank*.log --format json\n"
                "gpulink-calibrate doctor --db lab.db --table expected",
    .options = option_table,
    .minimum_arguments = 0,
    .maximum_arguments = -1,
    .run = run_doctor};

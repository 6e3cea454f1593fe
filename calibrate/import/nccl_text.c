/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/nccl_text.h"

#include "calibrate/import/nccl_row.h"
#include "common/text.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines that a run prints at most once: seeing one again means that a new run began. */
enum { STAGE_VERSION = 1, STAGE_START = 2, STAGE_PARAMETERS = 4, STAGE_FOOTER = 8 };

struct gl_nccl_text {
    gl_parsed_file *file;
    gl_parsed_run *run; /* NULL before the first line that belongs to one */
    gl_layout layout;
    bool pending; /* row lacks values that a later line may bring */
    gl_row_pieces row;
    char command[40]; /* "all_reduce_perf", from a command line before the table; may be empty */
    int line;
    gl_error *err;
};

gl_nccl_text *gl_nccl_text_begin(gl_parsed_file *file)
{
    gl_nccl_text *parser = GL_ARENA_NEW(file->arena, gl_nccl_text, 1);
    parser->file = file;
    gl_layout_default(&parser->layout);
    return parser;
}

/* ---- rows ---- */

static bool flush_row(gl_nccl_text *p)
{
    if (!p->pending)
        return true;
    p->pending = false;
    assert(p->run != NULL); /* a row belongs to one */
    if (p->row.value_count < 2 * p->layout.count)
        p->run->torn_rows++;
    for (int placement = 0; placement < 2; placement++) {
        gl_parsed_row row;
        if (gl_row_placement(&p->row, &p->layout, placement, &row) &&
            !gl_parsed_add_row(p->file, p->run, &row, p->err))
            return false;
    }
    return true;
}

/* ---- where runs begin ---- */

static bool new_run(gl_nccl_text *p)
{
    if (!flush_row(p))
        return false;
    p->run = gl_parsed_add_run(p->file, p->line, p->err);
    return p->run != NULL;
}

static bool need_run(gl_nccl_text *p)
{
    return p->run != NULL || new_run(p);
}

/* A line of `stage` came: it starts a run unless the present one has only just begun. */
static bool enter_stage(gl_nccl_text *p, unsigned stage)
{
    const gl_parsed_run *run = p->run;
    if ((run == NULL || (run->stages & (stage | STAGE_FOOTER)) != 0 || run->device_count > 0 ||
         run->has_header || run->row_count > 0 || p->pending) &&
        !new_run(p))
        return false;
    /* Lines of the debug log may precede the run they belong to; it is found at its first own. */
    if (p->run->stages == 0)
        p->run->line = p->line;
    p->run->stages |= stage;
    if (p->run->test_name[0] == '\0' && p->command[0] != '\0')
        p->run->test_name = gl_arena_strdup(p->file->arena, p->command);
    p->command[0] = '\0';
    return true;
}

/* A table without its own parameter line (pasted, or -N gone wrong): the ranks are those of the
 * run before, the operation is not known. */
static bool new_table(gl_nccl_text *p)
{
    gl_parsed_run *before = p->run;
    if (!new_run(p))
        return false;
    gl_parsed_run *run = p->run;
    run->tool = before->tool;
    run->tool_version = before->tool_version;
    run->backend = before->backend;
    run->nccl_version = before->nccl_version;
    run->devices = before->devices;
    run->device_count = before->device_count;
    run->device_capacity = before->device_count;
    run->hosts = before->hosts;
    run->host_count = before->host_count;
    run->host_capacity = (size_t)before->host_count;
    run->rank_zero_count = before->rank_zero_count;
    run->log = before->log;
    run->has_header = before->has_header;
    run->old_header = before->old_header;
    run->cpu_time = before->cpu_time;
    run->deviation_column = before->deviation_column;
    run->redop_in_header = before->redop_in_header;
    run->test_name = gl_arena_strdup(p->file->arena, p->command);
    p->command[0] = '\0';
    return true;
}

/* ---- lines of the frame ---- */

static int read_count(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    if (found == NULL)
        return -1;
    long value = strtol(found + strlen(word), NULL, 10);
    return value >= 0 && value <= 1000000000 ? (int)value : -1;
}

/* "nThread 1 nGpus 2 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1
 * validation: 0 graph: 0 unalign: 0" */
static bool read_parameters(gl_nccl_text *p, const char *text)
{
    if (!enter_stage(p, STAGE_PARAMETERS))
        return false;
    gl_parsed_run *run = p->run;
    run->threads = read_count(text, "nThread ");
    run->gpus = read_count(text, "nGpus ");
    run->warmup = read_count(text, "warmup iters: ");
    run->aggregated = read_count(text, "agg iters: ");
    run->validation = read_count(text, "validation: ");
    run->graph = read_count(text, "graph: ");
    const char *warmup = strstr(text, "warmup iters: ");
    run->iterations = read_count(warmup != NULL ? warmup + 14 : text, "iters: ");
    return true;
}

static const char *word_after(gl_arena *arena, const char *text, const char *word)
{
    const char *found = strstr(text, word);
    if (found == NULL)
        return "";
    found += strlen(word);
    while (*found == ' ')
        found++;
    size_t length = strcspn(found, " ");
    char printable[80];
    return gl_arena_strdup(arena,
                           gl_printable(gl_arena_strndup(arena, found, length < 60 ? length : 60),
                                        printable, sizeof printable));
}

static void set_tool(gl_parsed_run *run, bool is_rccl)
{
    run->tool = is_rccl ? "rccl-tests" : "nccl-tests";
    run->backend = is_rccl ? "rccl" : "nccl";
}

/* "nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22809" */
static bool read_tool(gl_nccl_text *p, const char *text, bool is_rccl)
{
    gl_arena *arena = p->file->arena;
    /* rccl-tests prints its version after the parameter line. */
    if (is_rccl ? !need_run(p) : !enter_stage(p, STAGE_VERSION))
        return false;
    set_tool(p->run, is_rccl);
    p->run->tool_version = word_after(arena, text, is_rccl ? "ersion" : "version ");
    if (p->run->tool_version[0] == ':')
        p->run->tool_version = word_after(arena, text, ":");
    const char *library = strstr(text, "-library=");
    if (library != NULL)
        p->run->nccl_version = gl_parsed_nccl_version(arena, strtol(library + 9, NULL, 10));
    return true;
}

/* "NCCL Tests compiled with NCCL 2.4": the version of 1.x. */
static bool read_old_tool(gl_nccl_text *p, const char *text)
{
    if (!enter_stage(p, STAGE_VERSION))
        return false;
    p->run->tool_version = "1";
    p->run->nccl_version = word_after(p->file->arena, text, "compiled with NCCL ");
    return true;
}

static bool read_start(gl_nccl_text *p, const char *text)
{
    if (!enter_stage(p, STAGE_START))
        return false;
    p->run->test_name = word_after(p->file->arena, text, "starting: ");
    return true;
}

/* "Rank  0 Group  0 Pid    653 on         vm device  0 [0000:00:06] NVIDIA H200" */
static bool read_device(gl_nccl_text *p, const gl_words *words, const char *line_end)
{
    size_t at = 0, on, device;
    while (at < words->count && !gl_word_is(words, at, "Rank"))
        at++;
    for (on = at; on < words->count && !gl_word_is(words, on, "on");)
        on++;
    for (device = on; device < words->count && !gl_word_is(words, device, "device");)
        device++;
    if (device + 2 >= words->count || on + 1 >= device || !need_run(p))
        return true;
    /* The rest of a run that printed rows is over when ranks are listed again. */
    if (p->run->row_count > 0 && !new_run(p))
        return false;
    gl_parsed_device found = {.rank = (int)strtol(words->items[at + 1].text, NULL, 10),
                              .device = (int)strtol(words->items[device + 1].text, NULL, 10)};
    if (words->items[device + 2].text[0] == '[')
        found.bus = gl_parsed_hash(words->items[device + 2].text, words->items[device + 2].length);
    if (gl_word_is(words, at + 2, "Group"))
        found.group = (int)strtol(words->items[at + 3].text, NULL, 10);
    char host[256], gpu[128], printable[128];
    snprintf(host, sizeof host, "%.*s", (int)words->items[on + 1].length,
             words->items[on + 1].text);
    const char *name = device + 3 < words->count ? words->items[device + 3].text : line_end;
    while (line_end > name && line_end[-1] == ' ')
        line_end--;
    snprintf(gpu, sizeof gpu, "%.*s", (int)(line_end - name), name);
    found.gpu = gl_printable(gpu, printable, sizeof printable);
    return gl_parsed_add_device(p->file, p->run, &found, host, p->err);
}

static bool read_header(gl_nccl_text *p, const gl_layout *layout)
{
    if (!need_run(p) || !flush_row(p))
        return false;
    if ((p->run->row_count > 0 || (p->run->stages & STAGE_FOOTER) != 0) && !new_table(p))
        return false;
    p->layout = *layout;
    p->run->has_header = true;
    p->run->old_header = layout->is_old;
    p->run->cpu_time = layout->cpu_time;
    p->run->redop_in_header = layout->has_redop;
    p->run->per_iteration = layout->count > 4;
    p->run->deviation_column = layout->columns[3] == GL_COL_DEVIATION;
    return true;
}

/* "Avg bus bandwidth    : 103.567 [OK|FAILED]" */
static bool read_average(gl_nccl_text *p, const char *text)
{
    gl_words words;
    if (!need_run(p) || !flush_row(p))
        return false;
    const char *colon = strchr(text, ':');
    if (colon == NULL)
        return true;
    gl_words_split(colon + 1, strlen(colon + 1), &words);
    gl_printed average;
    if (words.count == 0 || !gl_printed_read(words.items[0].text, words.items[0].length, &average))
        return true;
    p->run->average_busbw = (gl_printed){average.value * GL_GIGA, average.error * GL_GIGA};
    p->run->average_count++;
    p->run->stages |= STAGE_FOOTER;
    p->run->min_bw_failed = gl_word_is(&words, 1, "FAILED");
    return true;
}

/* "Out of bounds values : 0 OK" */
static bool read_out_of_bounds(gl_nccl_text *p, const char *text)
{
    if (!need_run(p) || !flush_row(p))
        return false;
    const char *colon = strchr(text, ':');
    if (colon == NULL)
        return true;
    p->run->out_of_bounds = strtod(colon + 1, NULL);
    p->run->check_failed = strstr(colon, "FAILED") != NULL;
    return true;
}

static bool read_failure(gl_nccl_text *p, const char *line, const char *text)
{
    if (!need_run(p) || !flush_row(p))
        return false;
    if (p->run->failure == NULL)
        p->run->failure = gl_parsed_failure(p->file->arena, p->run, line, text);
    return true;
}

/* ---- other programs ---- */

static const char *other_program(const char *line)
{
    static const struct {
        const char *sign, *program;
    } signs[] = {
        {"nccom-test", "nccom-test (AWS Neuron)"},
        {"time:avg(us)", "nccom-test (AWS Neuron)"},
        {"RDMA_Write BW Test", "ib_write_bw (perftest)"},
        {"RDMA_Read BW Test", "ib_read_bw (perftest)"},
        {"Send BW Test", "ib_send_bw (perftest)"},
        {"Write Latency Test", "ib_write_lat (perftest)"},
        {"BW peak[", "ib_write_bw (perftest)"},
        {"t_typical[usec]", "ib_write_lat (perftest)"},
        {"nvbandwidth", "nvbandwidth"},
        {"host_to_device_memcpy", "nvbandwidth"},
        {"memcpy CE CPU", "nvbandwidth"},
        {"memcpy SM", "nvbandwidth"},
        {"memcpy CE GPU", "nvbandwidth"},
        {"bandwidthTest", "bandwidthTest or p2pBandwidthLatencyTest (CUDA samples)"},
        {"P2P=Enabled", "p2pBandwidthLatencyTest (CUDA samples)"},
        {"P2P=Disabled", "p2pBandwidthLatencyTest (CUDA samples)"},
        {"P2P Connectivity Matrix", "p2pBandwidthLatencyTest (CUDA samples)"},
        {"oneCCL", "the oneCCL benchmark"},
        {"#repetitions", "Intel MPI Benchmarks or the oneCCL benchmark"},
        {"repetitions  t", "Intel MPI Benchmarks or the oneCCL benchmark"},
        {"t_avg[usec]", "Intel MPI Benchmarks or the oneCCL benchmark"},
        {"OSU MPI", "the OSU micro-benchmarks"},
        {"OSU NCCL", "the OSU micro-benchmarks"},
        {"Avg Latency(us)", "the OSU micro-benchmarks"},
        {"iperf", "iperf"},
        {"Interval           Transfer", "iperf"},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(line, signs[i].sign) != NULL)
            return signs[i].program;
    return NULL;
}

/* ---- dispatch ---- */

/* Keeps "all_reduce_perf" of a command line, for tables that do not say their operation. */
static void read_command(gl_nccl_text *p, const char *line)
{
    const char *end = strstr(line, "_perf");
    /* "Collective test concluded: x_perf" and "Writing JSON output to x_perf.json" are no commands.
     */
    if (end == NULL || strstr(line, "Collective test ") != NULL || strstr(line, ".json") != NULL)
        return;
    const char *start = end;
    while (start > line && (islower((unsigned char)start[-1]) || start[-1] == '_'))
        start--;
    if (end - start < 30 && end > start)
        snprintf(p->command, sizeof p->command, "%.*s_perf", (int)(end - start), start);
}

static const char *failure_text(const char *line)
{
    static const char *const signs[] = {"Test NCCL failure", "Test CUDA failure", "Test failure",
                                        "Test timeout",      "Invalid size",      "Invalid option",
                                        "invalid size",      "invalid option"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const char *found = strstr(line, signs[i]);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static bool read_row(gl_nccl_text *p, const gl_words *words, bool *is_row)
{
    gl_row_pieces row;
    const char *timestamp = NULL;
    *is_row = gl_row_read(words, p->file->arena, &p->layout, &row, &timestamp);
    if (!*is_row)
        return true;
    if (!need_run(p) || !flush_row(p))
        return false;
    if ((p->run->stages & STAGE_FOOTER) != 0 && !new_table(p))
        return false;
    row.row.line = p->line;
    p->row = row;
    p->pending = true;
    p->run->per_iteration = p->run->per_iteration || p->layout.count > 4;
    if (timestamp != NULL && p->run->started_at[0] == '\0')
        p->run->started_at =
            gl_arena_printf(p->file->arena, "%.10sT%.8s", timestamp, timestamp + 11);
    return row.value_count < 2 * p->layout.count || flush_row(p);
}

/* Whatever is neither row nor header. Markers are tried from the most to the least telling. */
static bool read_other(gl_nccl_text *p, const char *line, const gl_words *words)
{
    const char *found;
    if (strstr(line, "nThread ") != NULL && strstr(line, "minBytes ") != NULL)
        return read_parameters(p, line);
    if ((found = strstr(line, "nccl-tests version ")) != NULL)
        return read_tool(p, found, false);
    if ((found = strstr(line, "rccl-tests")) != NULL && strstr(found, "ersion") != NULL)
        return read_tool(p, found, true);
    if (strstr(line, "Tests compiled with NCCL ") != NULL)
        return read_old_tool(p, line);
    if (strstr(line, "Collective test starting: ") != NULL)
        return read_start(p, line);
    if (strstr(line, "Rank ") != NULL && strstr(line, " device ") != NULL)
        return read_device(p, words, line + strlen(line));
    if ((found = strstr(line, "Avg bus bandwidth")) != NULL)
        return read_average(p, found);
    if ((found = strstr(line, "Out of bounds values")) != NULL)
        return read_out_of_bounds(p, found);
    if ((found = failure_text(line)) != NULL)
        return read_failure(p, line, found);
    if ((found = strstr(line, "NCCL version ")) != NULL && need_run(p))
        gl_nccl_log_line(&p->run->log, p->file->arena, "", found);
    if (strstr(line, "RCCL version ") != NULL && need_run(p))
        set_tool(p->run, true);
    read_command(p, line);
    if (p->file->look_alike == NULL)
        p->file->look_alike = other_program(line);
    return true;
}

static bool read_own_line(gl_nccl_text *p, const char *line)
{
    gl_words words;
    gl_layout layout;
    bool is_row;
    gl_words_split(line, strlen(line), &words);
    if (words.count == 0)
        return true;
    if (!read_row(p, &words, &is_row))
        return false;
    if (is_row)
        return true;
    if (p->pending && gl_row_add_values(&words, &p->layout, &p->row))
        return p->row.value_count < 2 * p->layout.count || flush_row(p);
    if (gl_layout_read(&words, &layout))
        return read_header(p, &layout);
    return read_other(p, line, &words);
}

bool gl_nccl_text_line(gl_nccl_text *p, char *line, int number, gl_error *err)
{
    size_t head, host_length;
    const char *host, *text;
    static const gl_nccl_log no_log;
    p->line = number;
    p->err = err;
    gl_prefix_clean(line);
    const gl_nccl_log *log = p->run != NULL ? &p->run->log : &no_log;
    if (!gl_nccl_log_split(log, line, &head, &host, &host_length, &text))
        return read_own_line(p, line);
    if (!need_run(p))
        return false;
    char host_name[256];
    snprintf(host_name, sizeof host_name, "%.*s", (int)host_length, host);
    gl_nccl_log_line(&p->run->log, p->file->arena, host_name, text);
    line[head] = '\0';
    return read_own_line(p, line);
}

bool gl_nccl_text_end(gl_nccl_text *p, gl_error *err)
{
    p->err = err;
    return flush_row(p);
}

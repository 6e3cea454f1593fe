/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/doctor_report.h"

#include "calibrate/doctor/curves.h"
#include "common/output.h"

#include <math.h>

/* ---- findings ---- */

static const gl_column finding_columns[] = {
    {.name = "severity"},
    {.name = "finding"},
    {.name = "subject", .audience = GL_FOR_MACHINES},
    {.name = "title"},
    {.name = "meaning", .audience = GL_FOR_MACHINES},
    {.name = "advice", .audience = GL_FOR_MACHINES},
    {.name = "file"},
    {.name = "line"},
    {.name = "proof", .audience = GL_FOR_MACHINES},
    {.name = "more_proof", .audience = GL_FOR_MACHINES},
};

static const char *place(gl_arena *arena, const gl_quote *q)
{
    return q->line > 0 ? gl_arena_printf(arena, "%s:%d: %s", q->file, q->line, q->text)
                       : gl_arena_printf(arena, "%s: %s", q->file, q->text);
}

/* The same where a number would be "-". */
static gl_cell named(const char *text)
{
    return text != NULL && text[0] != '\0' ? gl_text(text) : gl_real((double)NAN);
}

static gl_table *finding_table(gl_arena *arena, const gl_findings *findings)
{
    gl_table *table = gl_table_create(arena, "findings", "Findings", finding_columns,
                                      sizeof finding_columns / sizeof *finding_columns);
    for (size_t i = 0; i < findings->count; i++) {
        const gl_finding *f = &findings->items[i];
        const gl_quote first = f->proof_count > 0 ? f->proofs[0] : (gl_quote){0};
        const char *more = "";
        for (size_t k = 1; k < f->proof_count; k++)
            more = gl_arena_printf(arena, "%s%s%s", more, k > 1 ? "\n" : "",
                                   place(arena, &f->proofs[k]));
        gl_cell *cell = gl_table_add_row(table);
        *cell++ = gl_text(gl_severity_name(f->severity));
        *cell++ = gl_text(f->id);
        *cell++ = gl_known_text(f->subject);
        *cell++ = gl_text(f->title);
        *cell++ = gl_text(f->meaning);
        *cell++ = gl_text(f->advice);
        *cell++ = gl_known_text(first.file);
        *cell++ = first.line > 0 ? gl_integer(first.line) : gl_text(NULL);
        *cell++ = gl_known_text(first.text);
        *cell++ = gl_known_text(more);
    }
    return table;
}

static const char *counted(gl_arena *arena, size_t count, const char *what)
{
    return gl_arena_printf(arena, "%zu %s%s", count, what, count == 1 ? "" : "s");
}

static const char *summary(gl_arena *arena, const gl_findings *findings)
{
    size_t counts[3] = {0};
    for (size_t i = 0; i < findings->count; i++)
        counts[findings->items[i].severity]++;
    const char *notes = counted(arena, counts[GL_NOTE], "note");
    if (counts[GL_FAULT] + counts[GL_WARNING] == 0)
        return counts[GL_NOTE] == 0 ? "No fault found"
                                    : gl_arena_printf(arena, "No fault found, %s", notes);
    return gl_arena_printf(arena, "%s, %s, %s", counted(arena, counts[GL_FAULT], "fault"),
                           counted(arena, counts[GL_WARNING], "warning"), notes);
}

static const char *headline(gl_arena *arena, const gl_findings *findings)
{
    static const char *const signs[] = {"note", "WARNING", "FAULT"};
    gl_output *out = gl_output_memory();
    gl_output_puts(out, summary(arena, findings));
    for (size_t i = 0; i < findings->count; i++) {
        const gl_finding *f = &findings->items[i];
        gl_output_printf(out, "\n\n%s  %s [%s]", signs[f->severity], f->title, f->id);
        for (size_t k = 0; k < f->proof_count; k++)
            gl_output_printf(out, "\n%s  %s", k == 0 ? "proof" : "and  ",
                             place(arena, &f->proofs[k]));
        gl_output_printf(out, "\nmeans  %s\ntry    %s", f->meaning, f->advice);
    }
    const char *text = gl_arena_strdup(arena, gl_output_text(out));
    gl_output_discard(out);
    return text;
}

/* ---- what the logs are of ---- */

static const gl_column job_columns[] = {
    {.name = "nccl_version", .heading = "NCCL"},
    {.name = "gpu", .heading = "GPU"},
    {.name = "ranks"},
    {.name = "nodes"},
    {.name = "hosts"},
    {.name = "network"},
    {.name = "channels_p2p", .heading = "channels P2P"},
    {.name = "channels_shm", .heading = "SHM"},
    {.name = "channels_rdma", .heading = "RDMA"},
    {.name = "channels_gdr", .heading = "with GPUDirect"},
    {.name = "channels_socket", .heading = "sockets"},
    {.name = "lines"},
};

static gl_table *job_table(gl_arena *arena, const gl_log *log)
{
    gl_table *table = gl_table_create(arena, "job", "What the logs show", job_columns,
                                      sizeof job_columns / sizeof *job_columns);
    if (log->line_count == 0)
        return table;
    const gl_said_line *said = log->said;
    gl_cell *cell = gl_table_add_row(table);
    *cell++ = named(log->version);
    *cell++ = named(log->gpu);
    *cell++ = log->ranks > 0 ? gl_integer(log->ranks) : gl_real((double)NAN);
    *cell++ = log->nodes > 0 ? gl_integer(log->nodes) : gl_real((double)NAN);
    *cell++ = gl_integer((int64_t)log->host_count);
    *cell++ = named(log->network);
    *cell++ = gl_integer((int64_t)said[GL_SAID_P2P].count);
    *cell++ = gl_integer((int64_t)said[GL_SAID_SHM].count);
    *cell++ = gl_integer((int64_t)(said[GL_SAID_NET_RDMA].count + said[GL_SAID_RDMA_SAME].count));
    *cell++ = gl_integer((int64_t)said[GL_SAID_GDR].count);
    *cell++ = gl_integer((int64_t)(said[GL_SAID_SOCKET].count + said[GL_SAID_SOCKET_SAME].count));
    *cell++ = gl_integer((int64_t)log->line_count);
    return table;
}

static const gl_column setting_columns[] = {
    {.name = "name", .heading = "setting"}, {.name = "value"}, {.name = "file"}, {.name = "line"}};

static gl_table *setting_table(gl_arena *arena, const gl_log *log)
{
    gl_table *table = gl_table_create(arena, "settings", "Settings of NCCL", setting_columns,
                                      sizeof setting_columns / sizeof *setting_columns);
    for (size_t i = 0; i < log->setting_count; i++) {
        const gl_log_setting *s = &log->settings[i];
        gl_cell *cell = gl_table_add_row(table);
        *cell++ = gl_text(s->name);
        *cell++ = gl_text(s->value);
        *cell++ = gl_known_text(s->quote.file);
        *cell++ = s->quote.line > 0 ? gl_integer(s->quote.line) : gl_text(NULL);
    }
    return table;
}

/* ---- expected values ---- */

static const gl_column expected_columns[] = {
    {.name = "file", .audience = GL_FOR_MACHINES},
    {.name = "curve_id", .heading = "curve"},
    {.name = "collective"},
    {.name = "dtype", .audience = GL_FOR_MACHINES},
    {.name = "group", .heading = "ranks", .audience = GL_FOR_PEOPLE},
    {.name = "ranks", .audience = GL_FOR_MACHINES},
    {.name = "nodes", .audience = GL_FOR_MACHINES},
    {.name = "ranks_per_node", .audience = GL_FOR_MACHINES},
    {.name = "concurrent_groups", .audience = GL_FOR_MACHINES},
    {.name = "transport", .audience = GL_FOR_MACHINES},
    {.name = "algorithm", .audience = GL_FOR_MACHINES},
    {.name = "link"},
    {.name = "line_busbw_bytes_per_s", .heading = "line rate", .dimension = GL_BYTES_PER_S},
    {.name = "assumed_busbw_bytes_per_s", .heading = "assumed", .dimension = GL_BYTES_PER_S},
    {.name = "typical_busbw_bytes_per_s", .heading = "typical", .dimension = GL_BYTES_PER_S},
    {.name = "typical_range", .heading = "usual GB/s", .audience = GL_FOR_PEOPLE},
    {.name = "typical_low_bytes_per_s", .dimension = GL_BYTES_PER_S, .audience = GL_FOR_MACHINES},
    {.name = "typical_high_bytes_per_s", .dimension = GL_BYTES_PER_S, .audience = GL_FOR_MACHINES},
    {.name = "measured_busbw_bytes_per_s", .heading = "measured", .dimension = GL_BYTES_PER_S},
    {.name = "share_of_line", .heading = "of line", .dimension = GL_FRACTION},
    {.name = "basis", .audience = GL_FOR_MACHINES},
    {.name = "source", .audience = GL_FOR_MACHINES},
};

static void add_expected(gl_table *table, const gl_facts *facts, const gl_facts_db *db,
                         size_t index)
{
    const gl_curve *c = &db->curves[index];
    gl_curve_verdict v = gl_curve_judge(facts, db, index);
    gl_cell *cell = gl_table_add_row(table);
    *cell++ = gl_text(db->file);
    *cell++ = gl_integer(c->id);
    *cell++ = gl_text(gl_collective_name(c->collective));
    *cell++ = gl_text(gl_dtype_name(c->dtype));
    *cell++ = c->placement.nodes == 1
                  ? gl_integer(c->placement.ranks)
                  : gl_text(gl_arena_printf(table->arena, "%d on %d", c->placement.ranks,
                                            c->placement.nodes));
    *cell++ = gl_integer(c->placement.ranks);
    *cell++ = gl_integer(c->placement.nodes);
    *cell++ = gl_integer(c->placement.ranks_per_node);
    *cell++ = gl_integer(c->placement.concurrent_groups);
    *cell++ = gl_text(gl_transport_name(c->transport));
    *cell++ = gl_known_text(c->algorithm);
    *cell++ = named(v.link);
    *cell++ = gl_real(v.expected.line);
    *cell++ = gl_real(v.expected.assumed);
    *cell++ = gl_real(v.expected.typical);
    *cell++ = isnan(v.expected.low)
                  ? gl_text(NULL)
                  : gl_text(gl_arena_printf(table->arena, "%.3g to %.3g", v.expected.low / 1e9,
                                            v.expected.high / 1e9));
    *cell++ = gl_real(v.expected.low);
    *cell++ = gl_real(v.expected.high);
    *cell++ = gl_real(v.measured);
    *cell++ = gl_real(v.measured / v.expected.line);
    *cell++ = gl_known_text(v.expected.basis);
    *cell++ = gl_known_text(v.expected.source);
}

static gl_table *expected_table(gl_arena *arena, const gl_facts *facts)
{
    gl_table *table =
        gl_table_create(arena, "expected", "Bus bandwidth at large sizes beside what is expected",
                        expected_columns, sizeof expected_columns / sizeof *expected_columns);
    for (size_t b = 0; b < facts->db_count; b++)
        for (size_t i = 0; i < facts->dbs[b].curve_count; i++)
            add_expected(table, facts, &facts->dbs[b], i);
    return table;
}

void gl_doctor_report(const gl_facts *facts, const gl_findings *findings, bool headline_only,
                      gl_arena *arena, gl_scenario *scenario)
{
    scenario->name = "doctor";
    scenario->headline = headline(arena, findings);
    if (!headline_only)
        scenario->tables[scenario->table_count++] = finding_table(arena, findings);
    scenario->tables[scenario->table_count++] = expected_table(arena, facts);
    scenario->tables[scenario->table_count++] = job_table(arena, facts->log);
    scenario->tables[scenario->table_count++] = setting_table(arena, facts->log);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured curves against what their link should reach. */
#include "calibrate/doctor/rules.h"

#include "calibrate/doctor/curves.h"

#include <string.h>

enum { CURVES_NAMED_MAX = 20 };

static gl_quote quote_of(gl_diagnosis *d, const gl_facts_db *db, const gl_curve *curve)
{
    const gl_placement *p = &curve->placement;
    const char *text = gl_arena_printf(
        d->arena, "curve %lld: %s, %d ranks on %d node%s, %s%s%s, %s", (long long)curve->id,
        gl_collective_name(curve->collective), p->ranks, p->nodes, p->nodes == 1 ? "" : "s",
        gl_transport_name(curve->transport), curve->algorithm[0] != '\0' ? ", " : "",
        curve->algorithm, curve->in_place ? "in place" : "out of place");
    return (gl_quote){.file = db->file, .text = text};
}

static double wrong_elements(const gl_curve *curve)
{
    double wrong = 0;
    for (size_t i = 0; i < curve->sample_count; i++)
        wrong += curve->samples[i].wrong > 0 ? curve->samples[i].wrong : 0;
    return wrong;
}

/* Runs that say it only as a whole: no sample of them has a count. */
static void check_validation(gl_diagnosis *d, const gl_rule *rule, const gl_facts_db *db)
{
    for (size_t r = 0; r < db->run_count; r++) {
        size_t length;
        double wrong = 0;
        const char *words = gl_run_validation_failure(&db->runs[r], &length);
        for (size_t c = 0; c < db->curve_count; c++)
            if (db->curves[c].run_id == db->runs[r].id)
                wrong += wrong_elements(&db->curves[c]);
        if (words == NULL || wrong > 0)
            continue;
        gl_finding *f = gl_found(d, rule, gl_quote_make(d->arena, db->file, 0, words, length));
        f->subject = gl_arena_printf(d->arena, "run %lld", (long long)db->runs[r].id);
        f->title = gl_arena_printf(d->arena, "Run %lld failed its own validation",
                                   (long long)db->runs[r].id);
    }
}

static void check_wrong(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t b = 0; b < d->facts->db_count; b++)
        check_validation(d, rule, &d->facts->dbs[b]);
    for (size_t b = 0; b < d->facts->db_count; b++)
        for (size_t c = 0; c < d->facts->dbs[b].curve_count; c++) {
            const gl_curve *curve = &d->facts->dbs[b].curves[c];
            double wrong = wrong_elements(curve);
            if (wrong > 0) {
                gl_finding *f = gl_found(d, rule, quote_of(d, &d->facts->dbs[b], curve));
                f->title = gl_arena_printf(d->arena, "%.0f wrong elements in a result", wrong);
            }
        }
}

/* In place and out of place are two measurements of one thing: one finding. */
static bool is_twin(const gl_facts_db *db, size_t curve)
{
    const gl_curve *a = &db->curves[curve], *b = curve > 0 ? a - 1 : NULL;
    return b != NULL && a->run_id == b->run_id && a->collective == b->collective &&
           a->in_place != b->in_place && a->placement.ranks == b->placement.ranks &&
           a->placement.nodes == b->placement.nodes;
}

static void check_slow(gl_diagnosis *d, const gl_rule *rule)
{
    size_t named = 0;
    for (size_t b = 0; b < d->facts->db_count; b++)
        for (size_t c = 0; c < d->facts->dbs[b].curve_count && named < CURVES_NAMED_MAX; c++) {
            gl_curve_verdict v = gl_curve_judge(d->facts, &d->facts->dbs[b], c);
            if (v.is_forced || !v.is_large || !(v.measured < 0.95 * v.expected.low))
                continue;
            if (named > 0 && is_twin(&d->facts->dbs[b], c))
                continue;
            named++;
            gl_finding *f =
                gl_found(d, rule, quote_of(d, &d->facts->dbs[b], &d->facts->dbs[b].curves[c]));
            f->subject =
                gl_arena_printf(d->arena, "curve %lld", (long long)d->facts->dbs[b].curves[c].id);
            f->title = gl_arena_printf(
                d->arena, "Bus bandwidth %.3g GB/s; typical for this link are %.3g to %.3g",
                v.measured / 1e9, v.expected.low / 1e9, v.expected.high / 1e9);
        }
}

static void check_above(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t b = 0; b < d->facts->db_count; b++)
        for (size_t c = 0; c < d->facts->dbs[b].curve_count; c++) {
            gl_curve_verdict v = gl_curve_judge(d->facts, &d->facts->dbs[b], c);
            if (!gl_expected_is_above(&v.expected, v.highest))
                continue;
            gl_finding *f =
                gl_found(d, rule, quote_of(d, &d->facts->dbs[b], &d->facts->dbs[b].curves[c]));
            f->title = gl_arena_printf(d->arena,
                                       "Bus bandwidth %.3g GB/s is above what the link can carry, "
                                       "%.3g",
                                       v.highest / 1e9, v.expected.limit / 1e9);
            return;
        }
}

/* Host memory or sockets in the measurements of GPUs that have NVLink on their board. */
static void check_transport(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t b = 0; b < d->facts->db_count; b++)
        for (size_t c = 0; c < d->facts->dbs[b].curve_count; c++) {
            const gl_facts_db *db = &d->facts->dbs[b];
            const gl_curve *curve = &db->curves[c];
            const gl_expected_gpu *gpu =
                gl_expected_find_gpu(d->facts->expected, gl_curve_gpu(db, curve));
            bool slow = curve->transport == GL_TRANSPORT_SHM ||
                        curve->transport == GL_TRANSPORT_PCIE_P2P ||
                        curve->transport == GL_TRANSPORT_NET_SOCKET;
            if (!slow || gpu == NULL || !gpu->is_on_board || curve->placement.nodes > 1)
                continue;
            gl_finding *f = gl_found(d, rule, quote_of(d, db, curve));
            f->subject = gl_transport_name(curve->transport);
            f->title =
                gl_arena_printf(d->arena, "%s inside a node was measured over %s, not NVLink",
                                gpu->name, gl_transport_name(curve->transport));
            const gl_log_setting *p2p = gl_setting_is(d, "NCCL_P2P_DISABLE", "1");
            const gl_log_setting *shm = gl_setting_is(d, "NCCL_SHM_DISABLE", "1");
            if (p2p != NULL)
                gl_blame_setting(d, f, p2p, shm);
            else if (shm != NULL)
                gl_blame_setting(d, f, shm, NULL);
            return;
        }
}

static void check_socket(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t b = 0; b < d->facts->db_count; b++)
        for (size_t c = 0; c < d->facts->dbs[b].curve_count; c++) {
            const gl_curve *curve = &d->facts->dbs[b].curves[c];
            if (curve->transport != GL_TRANSPORT_NET_SOCKET || curve->placement.nodes < 2)
                continue;
            gl_finding *f = gl_found(d, rule, quote_of(d, &d->facts->dbs[b], curve));
            if (gl_setting_is(d, "NCCL_IB_DISABLE", "1") != NULL)
                gl_blame_setting(d, f, gl_setting_is(d, "NCCL_IB_DISABLE", "1"), NULL);
            return;
        }
}

static void check_runs(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t b = 0; b < d->facts->db_count; b++)
        for (size_t r = 0; r < d->facts->dbs[b].run_count; r++) {
            const gl_run *run = &d->facts->dbs[b].runs[r];
            if (run->state == GL_RUN_COMPLETE && run->warnings[0] == '\0')
                continue;
            const char *what = run->warnings[0] != '\0' ? run->warnings : "it did not end";
            gl_finding *f = gl_found(
                d, rule,
                gl_quote_make(d->arena, d->facts->dbs[b].file, 0, what, strcspn(what, "\n")));
            f->subject = gl_arena_printf(d->arena, "run %lld", (long long)run->id);
        }
}

static const gl_rule rules[] = {
    {"wrong-results", GL_FAULT, "Results were wrong",
     "Data arrived changed: no bandwidth counts while this is so.",
     "Run again with checks; if it stays, test GPU memory and links (dcgmi diag -r 3) and update "
     "driver and NCCL.",
     .check = check_wrong},
    {"slow-path", GL_FAULT, "Curves inside a node were not measured over NVLink",
     "NVLink is wired on the board of these GPUs, but the measurement went another way.",
     "Unset NCCL_P2P_DISABLE, NCCL_P2P_LEVEL and NCCL_SHM_DISABLE and measure again.",
     .check = check_transport},
    {"socket-between-nodes", GL_WARNING, "Curves between nodes were measured over TCP sockets",
     "RDMA was not used.", "Check that the RDMA devices are visible where it was measured.",
     .check = check_socket},
    {"slow-curve", GL_WARNING, "A curve is below what its link typically reaches",
     "Something between the GPUs is slower than elsewhere with the same link.",
     "Give the log of the run (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET,TUNING) and topo "
     "-m "
     "to doctor; measure pairs of nodes to find a slow one.",
     .check = check_slow},
    {"above-link", GL_WARNING, "A curve is above what its link can carry",
     "Bus bandwidth above the line rate is right when the switch adds up (NVLS), or for a tree on "
     "two nodes; neither explains this.",
     "Check transport, number of NICs and algorithm of the curve: one of them is stored wrongly.",
     .check = check_above},
    {"run-flagged", GL_NOTE, "A run was flagged when it was stored", "See the quoted text.",
     "gpulink-calibrate show lists all of them.", .check = check_runs},
};

const gl_rules gl_rules_curves = {rules, sizeof rules / sizeof *rules};

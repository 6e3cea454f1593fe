/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/curves.h"

#include <math.h>
#include <string.h>

enum { LARGE_BYTES = 256 << 20 };

static const gl_run *run_of(const gl_facts_db *db, const gl_curve *curve)
{
    return gl_run_find(db->runs, db->run_count, curve->run_id);
}

const char *gl_curve_gpu(const gl_facts_db *db, const gl_curve *curve)
{
    const gl_run *run = run_of(db, curve);
    return run != NULL ? run->gpu : "";
}

static double busbw(const gl_curve *curve, size_t index)
{
    return gl_curve_busbw(curve, &curve->samples[index]);
}

/* The rate of NICs, where a log or a topology of the same machine says it; 0 unknown. */
static double nic_rate(const gl_facts *facts)
{
    for (size_t h = 0; h < facts->log->host_count; h++)
        for (int i = 0; i < GL_LOG_NIC_LIMIT && facts->log->hosts[h].nics != NULL; i++)
            if (facts->log->hosts[h].nics[i].bytes_per_s > 0)
                return facts->log->hosts[h].nics[i].bytes_per_s;
    for (size_t k = 0; k < facts->xml_count; k++)
        for (size_t i = 0; i < facts->xml[k]->net_count; i++)
            if (facts->xml[k]->nets[i].is_rdma && facts->xml[k]->nets[i].bytes_per_s > 0)
                return facts->xml[k]->nets[i].bytes_per_s;
    return 0;
}

static double highest(const gl_curve *curve)
{
    double most = NAN;
    for (size_t i = 0; i < curve->sample_count; i++)
        most = fmax(most, busbw(curve, i));
    return most;
}

gl_curve_verdict gl_curve_judge(const gl_facts *facts, const gl_facts_db *db, size_t index)
{
    const gl_curve *curve = &db->curves[index];
    const gl_run *run = run_of(db, curve);
    const char *gpu = gl_curve_gpu(db, curve);
    const gl_expected_link *link =
        gl_expected_link_of(facts->expected, gpu, curve->transport, nic_rate(facts));
    return (gl_curve_verdict){
        .measured = gl_curve_plateau(curve),
        .highest = highest(curve),
        .expected = gl_expected_of_curve(facts->expected, curve, link, gpu, run),
        .link = link != NULL ? link->name : "",
        .is_large = curve->sample_count > 0 &&
                    curve->samples[curve->sample_count - 1].size_bytes >= (double)LARGE_BYTES,
        .is_forced = gl_run_sets(run, "NCCL_ALGO") || gl_run_sets(run, "NCCL_PROTO") ||
                     strncmp(curve->protocol, "ll", 2) == 0};
}

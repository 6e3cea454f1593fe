/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Racks of NVLink. */
#include "calibrate/doctor/rules.h"

static void check_mnnvl(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_expected_gpu *gpu = gl_gpu_of(d);
    bool expected = gl_said_count(d, GL_SAID_FABRIC) > 0 || (gpu != NULL && gpu->has_rack);
    if (gl_said_count(d, GL_SAID_NO_MNNVL) == 0 || gl_said_count(d, GL_SAID_MNNVL) > 0 || !expected)
        return;
    gl_finding *f = gl_found(d, rule, gl_said_first(d, GL_SAID_NO_MNNVL));
    gl_found_proof(f, gl_said_first(d, GL_SAID_FABRIC));
    const gl_log_setting *off = gl_setting_is(d, "NCCL_MNNVL_ENABLE", "0");
    if (off == NULL)
        off = gl_setting_is(d, "NCCL_CUMEM_ENABLE", "0");
    if (off != NULL)
        gl_blame_setting(d, f, off, NULL);
}

static const gl_rule rules[] = {
    {"mnnvl-absent", GL_FAULT, "NVLink between the nodes of the rack is not used",
     "These GPUs are in an NVLink fabric of several nodes, but NCCL goes through the network: a "
     "tenth of the bandwidth.",
     "Check nvidia-smi -q (Fabric: state Completed, status Success) on every tray, the IMEX daemon "
     "(nvidia-imex-ctl -N) and its channels in containers, NCCL_MNNVL_ENABLE and "
     "NCCL_CUMEM_ENABLE.",
     .check = check_mnnvl},
    {"fabric-state", GL_FAULT, "A GPU has not completed its registration with the NVLink fabric",
     "One tray in another state makes the whole communicator fall back to the network, silently.",
     "Check nvidia-smi -q (Fabric) on this node, the fabric manager or NMX, and the tray's cables.",
     .said = GL_SAID_FABRIC_BAD},
};

const gl_rules gl_rules_fabric = {rules, sizeof rules / sizeof *rules};

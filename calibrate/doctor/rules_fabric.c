/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Racks of NVLink, and links that broke. */
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
    {"link-error", GL_FAULT, "A transfer over the network failed",
     "The other side did not answer (error 12, vendor error 129: retries exceeded): a bad cable or "
     "port, a wrong route or GID, or a peer that died.",
     "Check both ports named in the line (ibstat, perfquery, ethtool -S); on RoCE "
     "NCCL_IB_GID_INDEX, "
     "PFC and the path MTU; look in the peers' logs for an earlier error.",
     .said = GL_SAID_LINK_ERROR},
    {"port-error", GL_FAULT, "A port of a NIC went down or failed while the job ran",
     "Traffic stopped or went on over other ports.",
     "Check cable, transceiver and switch port; dmesg and the subnet manager's log.",
     .said = GL_SAID_PORT_ERROR},
    {"memlock", GL_FAULT, "Memory could not be registered for RDMA: it may not be locked",
     "The limit of locked memory (memlock) of the process is too small, and the job ends.",
     "Set it to unlimited: ulimit -l, limits.conf, LimitMEMLOCK= of slurmd or the container "
     "runtime, --ulimit memlock=-1 of docker.",
     .said = GL_SAID_MEMLOCK},
};

const gl_rules gl_rules_fabric = {rules, sizeof rules / sizeof *rules};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the job was started: ranks, CPUs, topology files, what NCCL warned of. */
#include "calibrate/doctor/rules.h"

#include <stdlib.h>
#include <string.h>

static void check_one_rank(gl_diagnosis *d, const gl_rule *rule)
{
    uint64_t zeros = gl_said_count(d, GL_SAID_RANK_0),
             comms = gl_said_count(d, GL_SAID_ONE_RANK_COMM);
    bool listed = zeros > 0;
    if (gl_said_count(d, GL_SAID_OTHER_RANK) > 0 || gl_said_count(d, GL_SAID_MANY_RANK_COMM) > 0 ||
        (zeros == 0 && comms == 0))
        return;
    uint64_t runs = listed ? zeros : comms;
    gl_finding *f = gl_found_as(d, rule, runs > 1 ? GL_FAULT : GL_NOTE,
                                gl_said_first(d, listed ? GL_SAID_RANK_0 : GL_SAID_ONE_RANK_COMM));
    if (runs > 1)
        f->title = gl_arena_printf(d->arena, "%llu runs of one rank each, no run of several",
                                   (unsigned long long)runs);
    else
        f->advice = "Give the run several GPUs (-g 8, or mpirun with a binary built with MPI=1).";
}

static void check_duplicate(gl_diagnosis *d, const gl_rule *rule)
{
    gl_found_said(d, rule,
                  gl_said_count(d, GL_SAID_DUPLICATE_GPU) > 0 ? GL_SAID_DUPLICATE_GPU
                                                              : GL_SAID_GPU_TWICE);
}

/* A process whose CPUs are none of those that the matrix puts near its GPU. */
static const gl_matrix_row *far_row(const gl_diagnosis *d, const gl_log_affinity **affinity)
{
    const gl_facts *f = d->facts;
    const gl_matrix *m = f->topology.count == 1 ? f->topology.items[0] : NULL;
    for (size_t r = 0; m != NULL && r < m->row_count; r++) {
        gl_cpus near;
        size_t gpu =
            m->rows[r].is_gpu ? strtoul(m->rows[r].name + 3, NULL, 10) : GL_LOG_AFFINITY_LIMIT;
        if (gpu >= GL_LOG_AFFINITY_LIMIT || f->log->affinities[gpu].quote.text == NULL ||
            !gl_cpus_parse(m->rows[r].cpus, strlen(m->rows[r].cpus), GL_CPUS_LIST, &near) ||
            gl_cpus_overlap(&near, &f->log->affinities[gpu].cpus))
            continue;
        *affinity = &f->log->affinities[gpu];
        return &m->rows[r];
    }
    return NULL;
}

static void check_far_cpus(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log_affinity *affinity;
    const gl_matrix_row *row = far_row(d, &affinity);
    if (gl_said_count(d, GL_SAID_CPUS_DISJOINT) > 0 || row == NULL) {
        gl_found_said(d, rule, GL_SAID_CPUS_DISJOINT);
        return;
    }
    gl_finding *f = gl_found(d, rule, affinity->quote);
    gl_found_proof(f, row->quote);
}

typedef const char *host_text(const gl_log_nccl_host *host, gl_quote *quote);

static const char *version_of(const gl_log_nccl_host *host, gl_quote *quote)
{
    *quote = host->version_quote;
    return host->version;
}

static const char *driver_of(const gl_log_nccl_host *host, gl_quote *quote)
{
    *quote = host->driver_quote;
    return host->driver;
}

/* Two hosts that name something differently: a warning. A host that names several ran several
 * programs, and names none here. */
static bool found_differing(gl_diagnosis *d, const gl_rule *rule, host_text *text_of,
                            const char *what)
{
    const gl_log *log = d->facts->log;
    const char *first = NULL, *first_host = NULL;
    gl_quote first_quote = {0};
    for (size_t i = 0; i < log->host_count; i++) {
        gl_quote quote;
        const char *text = text_of(&log->hosts[i], &quote);
        if (text == NULL || text[0] == '\0')
            continue;
        if (first == NULL) {
            first = text;
            first_host = log->hosts[i].name;
            first_quote = quote;
        }
        if (strcmp(text, first) == 0)
            continue;
        gl_finding *f = gl_found(d, rule, first_quote);
        gl_found_proof(f, quote);
        f->subject = log->hosts[i].name;
        f->title = gl_arena_printf(d->arena, "%s runs %s %s, %s runs %s", first_host, what, first,
                                   log->hosts[i].name, text);
        return true;
    }
    return false;
}

/* A version line without a host may be of another run: then it is a note. */
static void check_versions(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    if (found_differing(d, rule, version_of, "NCCL") || log->other_version_quote.text == NULL)
        return;
    gl_finding *f = gl_found_as(d, rule, GL_NOTE, log->version_quote);
    gl_found_proof(f, log->other_version_quote);
    f->title = "Two versions of NCCL printed their names";
}

static void check_drivers(gl_diagnosis *d, const gl_rule *rule)
{
    found_differing(d, rule, driver_of, "a driver of CUDA");
}

static void check_warnings(gl_diagnosis *d, const gl_rule *rule)
{
    if (gl_said_count(d, GL_SAID_WARN) == 0)
        return;
    gl_finding *f = gl_found(d, rule, gl_said_first(d, GL_SAID_WARN));
    f->title = gl_arena_printf(d->arena, "NCCL warned %llu times of something else",
                               (unsigned long long)gl_said_count(d, GL_SAID_WARN));
}

static void check_plugin(gl_diagnosis *d, const gl_rule *rule)
{
    if (gl_said_count(d, GL_SAID_PLUGIN_ERROR) > 0 && gl_on_several_nodes(d) != GL_NO &&
        gl_said_count(d, GL_SAID_SOCKET) == 0 && gl_said_count(d, GL_SAID_USING_SOCKET) == 0)
        gl_found(d, rule, gl_said_first(d, GL_SAID_PLUGIN_ERROR));
}

/* ---- topology files ---- */

/* "0000:9d:00.0" as NCCL prints it in numbers: 0x9d000. */
static uint64_t bus_number(const char *text)
{
    char *end;
    uint64_t value = 0;
    static const int bits[] = {16, 8, 8, 4};
    for (int part = 0; part < 4; part++) {
        uint64_t digits = strtoull(text, &end, 16);
        if (end == text)
            return 0;
        value = (value << bits[part]) | digits;
        text = *end != '\0' ? end + 1 : end;
    }
    return value;
}

static bool names_gpu_of_log(const gl_topo_xml *x, const gl_log *log)
{
    for (size_t g = 0; g < x->gpu_count; g++)
        for (size_t i = 0; i < log->bus_count; i++)
            if (bus_number(x->gpus[g].bus) == log->buses[i])
                return true;
    return false;
}

/* NVLinks of a GPU in XML and in topo -m. */
static bool links_differ(const gl_topo_xml *x, const gl_matrix *m, gl_quote *row)
{
    for (size_t g = 0; g < x->gpu_count; g++) {
        int links = 0;
        bool to_switch = false;
        for (size_t i = 0; i < x->link_count; i++)
            if (x->links[i].gpu == (int)g) {
                links += x->links[i].count;
                to_switch = to_switch || x->links[i].to_switch;
            }
        const char *name = NULL;
        for (size_t r = 0; r < m->row_count && to_switch; r++) {
            if (!m->rows[r].is_gpu || strtol(m->rows[r].name + 3, NULL, 10) != x->gpus[g].dev)
                continue;
            name = m->rows[r].name;
            for (size_t c = 0; c < m->column_count; c++)
                if (m->rows[r].cells[c].path == GL_PATH_LINK && m->rows[r].cells[c].links > links) {
                    *row = m->rows[r].quote;
                    return name != NULL;
                }
        }
    }
    return false;
}

static void check_stale(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_facts *f = d->facts;
    gl_quote row = {0};
    for (size_t i = 0; i < f->xml_count; i++) {
        const gl_topo_xml *x = f->xml[i];
        if (x->gpu_count == 0)
            continue;
        if (f->log->bus_count > 0 && !names_gpu_of_log(x, f->log)) {
            gl_finding *found = gl_found(d, rule, x->gpus[0].quote);
            gl_found_proof(found, gl_said_first(d, GL_SAID_MANY_RANK_COMM));
            found->title = "The topology file names none of the GPUs in the log";
        } else if (f->topology.count == 1 && links_differ(x, f->topology.items[0], &row)) {
            gl_finding *found = gl_found(d, rule, x->gpus[0].quote);
            gl_found_proof(found, row);
            found->title = "The topology file has fewer NVLinks than the machine";
        }
    }
}

static void check_topology_file(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log_setting *set = gl_log_find_setting(d->facts->log, "NCCL_TOPO_FILE");
    gl_quote proof = gl_said_first(d, GL_SAID_TOPO_FILE);
    if (set != NULL)
        proof = set->quote;
    if (gl_said_count(d, GL_SAID_TOPO_FILE_BAD) > 0 && set != NULL) {
        gl_finding *f = gl_found(d, rule, gl_said_first(d, GL_SAID_TOPO_FILE_BAD));
        f->title = "NCCL_TOPO_FILE names a file that NCCL cannot read";
        f->meaning =
            "NCCL goes on with what it finds itself, which on a virtual machine is little.";
        f->advice = "Correct the path, or unset the variable.";
        return;
    }
    if (set == NULL && gl_said_count(d, GL_SAID_TOPO_FILE) == 0)
        return;
    /* A file is suspect only where what it says is odd. */
    bool odd = gl_said_count(d, GL_SAID_PCI_TINY) > 0 ||
               gl_said_count(d, GL_SAID_RING_SYS) + gl_said_count(d, GL_SAID_RING_PCIE) > 0 ||
               gl_said_count(d, GL_SAID_RING_NET_SYS) > 0;
    gl_finding *f = gl_found_as(d, rule, odd ? GL_WARNING : GL_NOTE, proof);
    gl_found_proof(f,
                   gl_said_first(d, gl_said_count(d, GL_SAID_PCI_TINY) > 0   ? GL_SAID_PCI_TINY
                                    : gl_said_count(d, GL_SAID_RING_SYS) > 0 ? GL_SAID_RING_SYS
                                                                             : GL_SAID_RING_PCIE));
}

static const gl_rule rules[] = {
    {"one-rank", GL_FAULT, "A run of one rank",
     "One rank communicates with nobody: its times and bandwidths mean nothing. Under mpirun this "
     "is the sign of a binary that was built without MPI: every process is a rank 0 of its own.",
     "Build nccl-tests with MPI=1 (make MPI=1 MPI_HOME=...) and check that mpirun and the library "
     "are of the same MPI.",
     .check = check_one_rank},
    {"duplicate-gpu", GL_FAULT, "Two ranks were given the same GPU",
     "NCCL refuses this as a rule; where it does not, two ranks share what one needs.",
     "Set CUDA_VISIBLE_DEVICES or the device by the local rank; check Slurm's --gpus-per-task and "
     "--gpu-bind.",
     .check = check_duplicate},
    {"one-cpu", GL_WARNING, "A process was bound to one CPU",
     "NCCL's proxy threads share it with the program: latency and network bandwidth suffer.",
     "Give each rank several CPUs near its GPU (mpirun --bind-to numa or none, srun "
     "--cpus-per-task).",
     .said = GL_SAID_ONE_CPU},
    {"cpus-far", GL_WARNING, "The CPUs near a GPU are not among those of its process",
     "Host buffers and proxy threads lie on another NUMA node.",
     "Bind ranks to the CPUs of their GPU (topo -m, CPU Affinity); check the cgroup of Slurm or of "
     "the container.",
     .check = check_far_cpus},
    {"nvml-failed", GL_WARNING, "NVML could not be used",
     "NCCL then does not know NVLinks and may choose slow paths.",
     "Give the container the driver's utilities (NVIDIA_DRIVER_CAPABILITIES=compute,utility) and "
     "all "
     "GPUs of the job; check the cgroup of Slurm.",
     .said = GL_SAID_NVML_FAILED},
    {"gpu-error", GL_FAULT, "A GPU, its memory or its NVLink failed",
     "The driver gave up on it; every job that uses this GPU ends sooner or later.",
     "Drain the node; nvidia-smi -q (ECC, remapped rows), nvidia-smi nvlink -e, dmesg for Xid; "
     "reset the GPU, then replace it or its cable when it comes again.",
     .said = GL_SAID_GPU_ERROR},
    {"xid", GL_NOTE, "The driver reported an error (Xid) that is as a rule a program's",
     "Illegal accesses and killed processes look like this; a broken GPU seldom does.",
     "Look the number up in NVIDIA's list of Xid errors.", .said = GL_SAID_XID},
    {"collective-timeout", GL_WARNING, "A collective did not end, and a watchdog ended the job",
     "Some rank never came to this call, died, or its link stopped.",
     "Find the rank whose last call differs from the others' (NCCL_DEBUG_SUBSYS=COLL, flight "
     "recorder), and what that node's log says before.",
     .said = GL_SAID_TIMEOUT},
    {"versions-differ", GL_WARNING, "Hosts run different versions of NCCL",
     "Ranks of different versions may hang, fail or choose different paths.",
     "Use one image or one module on all hosts.", .check = check_versions},
    {"drivers-differ", GL_WARNING, "Hosts run different drivers",
     "What NCCL may use (DMA-BUF, NVLS, CUMEM) depends on the driver: the oldest decides.",
     "Bring all hosts to one driver.", .check = check_drivers},
    {"peer-gone", GL_WARNING, "A connection to another rank broke or could not be made",
     "As a rule a consequence: another rank failed first, or a firewall or the wrong interface is "
     "in "
     "the way.",
     "Find the rank that failed first; set NCCL_SOCKET_IFNAME to the interface that all nodes "
     "share.",
     .said = GL_SAID_REMOTE_GONE},
    {"warnings", GL_NOTE, "NCCL warned of something else", "The first line is quoted.",
     "Read it, and what follows it.", .check = check_warnings},
    {"plugin-error", GL_NOTE, "A plugin or library could not be loaded",
     "NCCL went on with another network.", "Check LD_LIBRARY_PATH and NCCL_NET_PLUGIN.",
     .check = check_plugin},
    {"stale-topology", GL_WARNING, "The topology file is not of this machine",
     "Given to NCCL (NCCL_TOPO_FILE), it makes NCCL plan for hardware that is not there.",
     "Write it anew: NCCL_TOPO_DUMP_FILE, without NCCL_TOPO_FILE, on bare metal; or take the "
     "provider's file for this machine type.",
     .check = check_stale},
    {"topology-file", GL_WARNING, "NCCL takes the topology from a file",
     "What NCCL believes of links and NICs stands in that file; a file of another machine type "
     "slows "
     "everything down.",
     "Check that it belongs to this machine type; run once without it where that is possible.",
     .check = check_topology_file},
};

const gl_rules gl_rules_job = {rules, sizeof rules / sizeof *rules};

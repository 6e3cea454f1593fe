/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NCCL_* variables that switch something off. */
#include "calibrate/doctor/rules.h"

#include <stdlib.h>
#include <string.h>

typedef enum matters {
    ALWAYS,
    INSIDE,    /* where a node has several ranks, or that is not known */
    BETWEEN,   /* where there are several nodes, or that is not known */
    MULTICAST, /* on GPUs whose switch can add up, four and more */
    RACK,      /* on GPUs in a rack of NVLink */
    NEVER      /* worth a note */
} matters;

typedef struct setting_rule {
    const char *name, *values; /* " 1 2 " exact; "<N" less than N; "*" any */
    matters where;
    const char *meaning;
} setting_rule;

static const setting_rule settings[] = {
    {"NCCL_P2P_DISABLE", "1", INSIDE,
     "switches peer-to-peer copies off: data goes through host memory"},
    {"NCCL_P2P_LEVEL", "LOC 0", INSIDE,
     "allows peer-to-peer copies nowhere: data goes through host memory"},
    {"NCCL_P2P_LEVEL", "NVL PIX PXB PHB SYS 1 2 3 4 5", NEVER,
     "limits or widens where peer-to-peer copies are used"},
    {"NCCL_P2P_DIRECT_DISABLE", "1", NEVER, "forbids direct access between processes' buffers"},
    {"NCCL_SHM_DISABLE", "1", INSIDE,
     "forbids shared memory: what is not peer-to-peer goes through the network"},
    {"NCCL_IB_DISABLE", "1", BETWEEN, "switches InfiniBand and RoCE off: sockets between nodes"},
    {"NCCL_NET", "Socket", BETWEEN, "forces sockets between nodes"},
    {"NCCL_NET_PLUGIN", "none", NEVER, "keeps network plugins out"},
    {"NCCL_NET_GDR_LEVEL", "LOC 0", BETWEEN, "forbids GPUDirect RDMA"},
    {"NCCL_NET_GDR_READ", "0", NEVER, "forbids GPUDirect RDMA for sending"},
    {"NCCL_NET_DISABLE_INTRA", "1", NEVER, "keeps the network out of nodes"},
    {"NCCL_NVLS_ENABLE", "0", MULTICAST, "switches the adding up in NVSwitch (NVLS) off"},
    {"NCCL_MNNVL_ENABLE", "0", RACK, "switches NVLink between nodes off"},
    {"NCCL_CUMEM_ENABLE", "0", RACK,
     "forbids the memory interface that NVLink between nodes and NVLS need"},
    {"NCCL_ALGO", "*", NEVER,
     "forces or forbids algorithms: NCCL does not choose the fastest by size"},
    {"NCCL_PROTO", "LL", ALWAYS, "forces the protocol LL, which carries half as many bytes"},
    {"NCCL_PROTO", "*", NEVER,
     "forces or forbids protocols: NCCL does not choose the fastest by size"},
    {"NCCL_MAX_NCHANNELS", "<8", ALWAYS,
     "limits the channels: too few cannot fill NVLink or several NICs"},
    {"NCCL_MAX_CTAS", "<8", ALWAYS,
     "limits the channels: too few cannot fill NVLink or several NICs"},
    {"NCCL_MAX_NRINGS", "<8", ALWAYS,
     "limits the channels: too few cannot fill NVLink or several NICs"},
    {"NCCL_MAX_NCHANNELS", "*", NEVER, "limits the channels"},
    {"NCCL_MIN_NCHANNELS", "*", NEVER,
     "raises the channels: they take multiprocessors from compute"},
    {"NCCL_MIN_CTAS", "*", NEVER, "raises the channels: they take multiprocessors from compute"},
    {"NCCL_NTHREADS", "*", NEVER, "sets the threads of each channel"},
    {"NCCL_BUFFSIZE", "<1048576", ALWAYS, "makes buffers small: bandwidth falls"},
    {"NCCL_BUFFSIZE", "*", NEVER, "sets the size of buffers"},
    {"NCCL_CROSS_NIC", "1", NEVER, "lets rings change between rails"},
    {"NCCL_IB_HCA", "*", NEVER, "chooses the NICs: one that is not named is not used"},
    {"NCCL_IB_PCI_RELAXED_ORDERING", "0", NEVER,
     "forbids relaxed ordering, which virtual machines need"},
    {"NCCL_IB_TIMEOUT", "<14", NEVER, "gives up early on a busy network"},
    {"NCCL_GRAPH_FILE", "*", ALWAYS, "forces rings and trees from a file"},
    {"NCCL_IGNORE_CPU_AFFINITY", "1", NEVER, "binds threads without regard to the job's CPUs"},
    {"NCCL_COLLNET_ENABLE", "0", NEVER, "switches reduction in network switches off"},
    {"NCCL_CHECKS_DISABLE", "1", NEVER, "is of old versions and checks nothing"},
    {"NCCL_CHECK_POINTERS", "1", NEVER, "checks pointers in each call"},
};

static bool value_fits(const char *values, const char *value)
{
    char *end;
    if (strcmp(values, "*") == 0)
        return true;
    if (values[0] == '<') {
        long number = strtol(value, &end, 10);
        return end > value && *end == '\0' && number >= 1 && number < strtol(values + 1, NULL, 10);
    }
    return gl_is_among(values, value);
}

/* Is a fast path seen to be in use although the setting forbids a fallback? */
static bool shm_is_missed(const gl_diagnosis *d)
{
    return gl_said_count(d, GL_SAID_SOCKET_SAME) + gl_said_count(d, GL_SAID_RDMA_SAME) > 0 ||
           gl_setting_is(d, "NCCL_P2P_DISABLE", "1") != NULL;
}

static gl_severity severity_of(const gl_diagnosis *d, const setting_rule *s)
{
    const gl_expected_gpu *gpu = gl_gpu_of(d);
    int ranks = gl_ranks_of_node(d);
    switch (s->where) {
    case ALWAYS:
        return GL_WARNING;
    case INSIDE:
        if (strcmp(s->name, "NCCL_SHM_DISABLE") == 0 && !shm_is_missed(d))
            return GL_NOTE;
        return ranks == 1 ? GL_NOTE : GL_WARNING;
    case BETWEEN:
        return gl_on_several_nodes(d) == GL_YES ? GL_WARNING : GL_NOTE;
    case MULTICAST:
        return gpu != NULL && gpu->has_multicast && ranks >= 4 ? GL_WARNING : GL_NOTE;
    case RACK:
        return (gpu != NULL && gpu->has_rack) || gl_said_count(d, GL_SAID_FABRIC) > 0 ? GL_WARNING
                                                                                      : GL_NOTE;
    default:
        return GL_NOTE;
    }
}

/* May both be of one host? */
static bool share_a_host(const gl_log *log, const gl_log_setting *a, const gl_log_setting *b)
{
    if (a->hosts == NULL || b->hosts == NULL)
        return true;
    for (size_t i = 0; i < log->host_count; i++)
        if (gl_log_is_set_on(a, (int)i) && gl_log_is_set_on(b, (int)i))
            return true;
    return false;
}

/* Another value of the same name, on the same host or on others. */
static bool has_other_value(const gl_log *log, const gl_log_setting *setting, bool on_same_host)
{
    for (size_t i = 0; i < log->setting_count; i++)
        if (&log->settings[i] != setting && strcmp(log->settings[i].name, setting->name) == 0 &&
            share_a_host(log, &log->settings[i], setting) == on_same_host)
            return true;
    return false;
}

static void check(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    for (size_t i = 0; i < log->setting_count; i++) {
        const gl_log_setting *set = &log->settings[i];
        for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
            if (strcmp(settings[k].name, set->name) != 0 ||
                !value_fits(settings[k].values, set->value))
                continue;
            bool contradicted = has_other_value(log, set, true);
            gl_finding *f = gl_found_as(
                d, rule, contradicted ? GL_NOTE : severity_of(d, &settings[k]), set->quote);
            f->subject = set->name;
            f->title =
                gl_arena_printf(d->arena, "%s=%s %s", set->name, set->value, settings[k].meaning);
            f->advice = gl_arena_printf(d->arena, "Unset %s unless a measurement says it helps.",
                                        set->name);
            if (contradicted)
                f->meaning = "Other ranks have another value: what it did is not concluded.";
            else if (has_other_value(log, set, false))
                f->meaning = "Other hosts have another value: the job runs as its slowest host.";
            break;
        }
    }
}

static const gl_rule rules[] = {
    {"setting", GL_WARNING, "A variable of NCCL changes what it does",
     "Left over from a test or copied from elsewhere, such settings cost more than they bring.",
     "Unset it.", .check = check},
};

const gl_rules gl_rules_settings = {rules, sizeof rules / sizeof *rules};

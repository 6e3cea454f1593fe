/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of doctor: small texts in, findings out. A text holds for each kind of proof one case
 * that proves and one that only looks so. */
#ifndef TESTS_DOCTOR_SUPPORT_H
#define TESTS_DOCTOR_SUPPORT_H

#include "tests/import_support.h"

#include "calibrate/doctor/findings.h"

#define L(host, rank, text) "n" #host ":1" #rank ":2" #rank " [" #rank "] NCCL INFO " text "\n"
#define W(host, rank, text)                                                                        \
    "n" #host ":1" #rank ":2" #rank " [" #rank "] net.cc:9 NCCL WARN " text "\n"
#define COMM(host, rank, ranks, nodes, local)                                                      \
    L(host, rank,                                                                                  \
      "comm 0xa" #rank " rank " #rank " nRanks " #ranks " nNodes " #nodes " localRanks " #local    \
      " localRank 0 MNNVL 0")
#define ONE_NODE  COMM(0, 0, 2, 1, 2) COMM(0, 1, 2, 1, 2)
#define TWO_NODES COMM(0, 0, 4, 2, 2) COMM(0, 1, 4, 2, 2) COMM(1, 2, 4, 2, 2) COMM(1, 3, 4, 2, 2)
#define EIGHT     COMM(0, 0, 8, 1, 8)
#define RING(type)                                                                                 \
    L(0, 0, "Pattern 4, crossNic 0, nChannels 12, bw 30.0/30.0, type " type ", sameChannels 1")
#define SWITCH_DUMP                                                                                \
    L(0, 0, "=== System : maxBw 48.0 totalBw 370.8 ===")                                           \
    L(0, 0, "+ PCI[48.0] - GPU/0-60 (0)")                                                          \
    L(0, 0, "              + NVL[370.8] - NVS/0-0")                                                \
    L(0, 0, "+ PCI[48.0] - GPU/0-70 (1)")                                                          \
    L(0, 0, "              + NVL[370.8] - NVS/0-0")                                                \
    L(0, 0, "==========================================")
#define RANK_0(name) "#  Rank  0 Group  0 Pid    625 on  n0 device  0 [0000:00:06] " name "\n"
#define DEVICE(name)                                                                               \
    RANK_0(name) "#  Rank  1 Group  0 Pid    625 on  n0 device  1 [0000:00:07] " name "\n"
#define IB8                                                                                        \
    "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB [RO]; OOB "        \
    "eth0:1<0>"

#define CPU(text)                                                                                  \
    "<?xml version=\"1.0\"?>\n<system version=\"1\"><cpu numaid=\"0\">" text "</cpu></system>"
#define LINK(bus, speed)                                                                           \
    "<pci busid=\"" bus "\" class=\"0x030200\" link_speed=\"" speed                                \
    " GT/s PCIe\" link_width=\"16\"><gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"/></pci>"

typedef struct doctor_case {
    const char *log, *topology, *p2p, *nvlink, *xml;
    const char *wanted;   /* "fault shm-fallback, note setting": all that is found, worst first */
    const char *in_proof; /* words in some proof, meaning or title; NULL */
} doctor_case;

static gl_expected expected; /* of the test that runs, in its arena */

static inline void read_source(gl_facts *facts, gl_source source, const char *name,
                               const char *text)
{
    gl_error err;
    if (text != NULL && !gl_facts_read_text(facts, source, name, text, strlen(text), &err))
        fail_msg("%s: %s in\n%s", name, err.message, text);
}

static inline gl_findings diagnose(const doctor_case *c)
{
    gl_facts *facts = GL_ARENA_NEW(arena, gl_facts, 1);
    gl_facts_begin(facts, &expected, arena);
    read_source(facts, GL_SOURCE_TOPOLOGY, "topo.txt", c->topology);
    read_source(facts, GL_SOURCE_P2P, "p2p.txt", c->p2p);
    read_source(facts, GL_SOURCE_NVLINK, "nvlink.txt", c->nvlink);
    read_source(facts, GL_SOURCE_XML, "topo.xml", c->xml);
    read_source(facts, GL_SOURCE_LOG, "nccl.log", c->log);
    gl_facts_finish(facts);
    return gl_findings_of(facts);
}

static inline bool says(const gl_findings *all, const char *words)
{
    for (size_t i = 0; i < all->count; i++) {
        const gl_finding *f = &all->items[i];
        if (strstr(f->title, words) != NULL || strstr(f->meaning, words) != NULL)
            return true;
        for (size_t k = 0; k < f->proof_count; k++)
            if (strstr(f->proofs[k].text, words) != NULL)
                return true;
    }
    return false;
}

static inline void run(const doctor_case *cases, size_t count)
{
    gl_error err;
    if (!gl_expected_load(arena, &expected, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++) {
        char found[1000] = "";
        gl_findings all = diagnose(&cases[i]);
        for (size_t k = 0; k < all.count; k++)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s %s",
                     k > 0 ? ", " : "", gl_severity_name(all.items[k].severity), all.items[k].id);
        if (strcmp(found, cases[i].wanted) != 0)
            fail_msg("case %zu: found \"%s\", wanted \"%s\"", i, found, cases[i].wanted);
        if (cases[i].in_proof != NULL && !says(&all, cases[i].in_proof))
            fail_msg("case %zu: nothing says \"%s\"", i, cases[i].in_proof);
        for (size_t k = 0; k < all.count; k++)
            assert_true(all.items[k].proof_count > 0 && all.items[k].advice[0] != '\0');
    }
}
#define RUN(cases) run(cases, sizeof(cases) / sizeof *(cases))

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif

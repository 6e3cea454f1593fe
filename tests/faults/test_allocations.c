/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory ends at each allocation of each loader: one clear error and status 4, or an answer that is
 * the same to the letter; no crash, no leak, no damaged file. The first GPULINK_FAULTS (30)
 * allocations of a command are tried one by one, those after them in growing steps.
 */
#include "tests/faults/faults.h"

#include <stdlib.h>

enum { COMPLAINTS_MAX = 4, EVERY_UNTIL = 30 };

/* Not here: workbooks. libxlsxwriter 1.1 does not survive a failed allocation of its own. */

static const command commands[] = {
    {"plan check @/models/minimal.yaml", NULL, NULL, NULL},
    {"plan check @/models/deepseek-v3.yaml", NULL, NULL, NULL},
    {"plan check huggingface.yaml", NULL, NULL, NULL},
    {"plan check @/data/clusters/hgx-h100-16-ndr.yaml", NULL, NULL, NULL},
    {"plan check @/data/prices/standard.yaml", NULL, NULL, NULL},
    {"plan schema model", NULL, NULL, NULL},
    {"plan @/models/minimal.yaml --cluster base.db --set parallel.dp=16", NULL, NULL, NULL},
    {"plan @/models/llama-1.1b-ddp.yaml --cluster hgx-h100-16-ndr --format json", NULL, NULL, NULL},
    {"plan @/models/llama-1.1b-ddp.yaml --cluster hgx-h100-16-ndr --format html --output o.html",
     "o.html", NULL, NULL},
    {"plan @/models/llama-1.1b-ddp.yaml --cluster hgx-h100-16-ndr --format trace --output o.json",
     "o.json", NULL, NULL},
    {"plan search @/models/llama3-8b.yaml --cluster hgx-h100-16-ndr --gpus 16 --top 2 --jobs 1",
     NULL, NULL, NULL},
    {"plan compare @/models/llama-1.1b-ddp.yaml --cluster hgx-h100-16-ndr --cluster pcie5-pairs-16",
     NULL, NULL, NULL},
    {"plan accept @/models/llama-1.1b-ddp.yaml --cluster hgx-h100-16-ndr --list list.csv",
     "list.csv", NULL, NULL},
    {"plan validate @/data/validation/h200-pair.csv --table accuracy", NULL, NULL, NULL},
    {"calibrate import @/tests/fixtures/nccl/made_v213_all_reduce.txt --db a.db --transport nvlink",
     NULL, "a.db", NULL},
    {"calibrate import @/tests/fixtures/nccl/debug_shm.txt --db a.db", NULL, "a.db", "base.db"},
    {"calibrate import @/tests/fixtures/nccl/json_all_reduce.json --db a.db --transport shm", NULL,
     "a.db", "base.db"},
    {"calibrate import rates.csv --db a.db", NULL, "a.db", "base.db"},
    {"calibrate merge base.db --db a.db", NULL, "a.db", NULL},
    {"calibrate show base.db", NULL, NULL, NULL},
    {"calibrate show base.db --format json", NULL, NULL, NULL},
    {"calibrate doctor --topo @/tests/fixtures/machine/topo-m.txt --nvlink "
     "@/tests/fixtures/machine/nvlink-s.txt --p2p @/tests/fixtures/machine/topo-p2p.txt --xml "
     "@/tests/fixtures/machine/topo.xml --log @/tests/fixtures/nccl/debug_sock.txt --db base.db",
     NULL, NULL, NULL},
};

static long step_after(long n)
{
    const char *wanted = getenv("GPULINK_FAULTS");
    long until = wanted != NULL ? strtol(wanted, NULL, 10) : EVERY_UNTIL;
    return n < until ? 1 : 1 + n / 6;
}

static int try_all(const command *c, const outcome *wanted, fault_kind kind)
{
    int complaints = 0;
    for (long n = 1; complaints < COMPLAINTS_MAX; n += step_after(n)) {
        outcome got = command_run(c, kind, n);
        bool reached = got.failed;
        complaints += !outcome_is_sound(c, kind, n, wanted, &got);
        outcome_free(&got);
        if (!reached)
            break;
    }
    return complaints;
}

static void commands_survive(void **state)
{
    (void)state;
    int complaints = 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        /* Out of reach: counts the allocations. */
        outcome wanted = command_run(&commands[i], FAULT_ALLOCATION, 1L << 40);
        printf("gpulink-%s: status %d, %ld allocations, %ld kept\n", commands[i].line,
               wanted.status, wanted.calls, wanted.kept);
        fflush(stdout);
        if (wanted.status > 1)
            fprintf(stderr, "%s\n", wanted.message);
        assert_true(wanted.status == 0 || wanted.status == 1);
        assert_true(wanted.calls > 10);
        complaints += try_all(&commands[i], &wanted, FAULT_ALLOCATION);
        complaints += try_all(&commands[i], &wanted, FAULT_ALLOCATIONS);
        outcome_free(&wanted);
    }
    assert_int_equal(complaints, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(commands_survive)};
    faults_begin();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    faults_end();
    return failures;
}

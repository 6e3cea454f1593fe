/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nothing that is written fails unseen, in any format: each write, flush, truncation and rename of
 * a command fails in turn, disks fill up, and files end at a limit. Status 4 and a message, no half
 * file under the final name, no temporary file, and a database that holds all of a run or nothing.
 */
#include "tests/faults/faults.h"

#include <stdlib.h>

enum { COMPLAINTS_MAX = 4 };

#define PLAN "plan @/models/llama-1.1b-ddp.yaml --cluster hgx-h100-16-ndr "

static const command commands[] = {
    {PLAN "--format table", NULL, NULL, NULL},
    {PLAN "--format json", NULL, NULL, NULL},
    {PLAN "--format table --output o", "o", NULL, NULL},
    {PLAN "--format csv --output o", "o", NULL, NULL},
    {PLAN "--format json --output o", "o", NULL, NULL},
    {PLAN "--format html --output o", "o", NULL, NULL},
    {PLAN "--format markdown --output o", "o", NULL, NULL},
    {PLAN "--format trace --output o", "o", NULL, NULL},
    {PLAN "--format xlsx --output o", "o", NULL, NULL},
    {"plan search @/models/llama3-8b.yaml --cluster hgx-h100-16-ndr --gpus 16 --top 1 --output o",
     "o", NULL, NULL},
    {"plan compare @/models/llama-1.1b-ddp.yaml --cluster hgx-h100-16-ndr --cluster pcie5-pairs-16 "
     "--output o",
     "o", NULL, NULL},
    {"plan explain @/models/llama-1.1b-ddp.yaml --cluster hgx-h100-16-ndr 1", NULL, NULL, NULL},
    {"plan accept @/models/llama-1.1b-ddp.yaml --cluster hgx-h100-16-ndr --list o", "o", NULL,
     NULL},
    {"plan accept @/models/llama-1.1b-ddp.yaml --cluster hgx-h100-16-ndr --output o", "o", NULL,
     NULL},
    {"plan validate @/data/validation/h200-pair.csv --output o", "o", NULL, NULL},
    {"plan check @/models/minimal.yaml", NULL, NULL, NULL},
    {"plan schema model", NULL, NULL, NULL},
    {"plan --help", NULL, NULL, NULL},
    {"calibrate --version", NULL, NULL, NULL},
    {"calibrate import @/tests/fixtures/nccl/made_v213_all_reduce.txt --db a.db --transport nvlink",
     NULL, "a.db", NULL},
    {"calibrate import @/tests/fixtures/nccl/debug_shm.txt --db a.db", NULL, "a.db", "base.db"},
    {"calibrate merge base.db --db a.db", NULL, "a.db", NULL},
    {"calibrate show base.db --format csv --output o", "o", NULL, NULL},
    {"calibrate show base.db --format html --output o", "o", NULL, NULL},
    {"calibrate show base.db --nccl-tests --output o", "o", NULL, NULL},
    {"calibrate show tuned.db --tuner --output o", "o", NULL, NULL},
    {"calibrate doctor --topo @/tests/fixtures/machine/topo-m.txt --output o", "o", NULL, NULL},
};

static int try_calls(const command *c, const outcome *wanted, fault_kind kind)
{
    int complaints = 0;
    for (long n = 1; complaints < COMPLAINTS_MAX; n += n < 80 ? 1 : 1 + n / 20) {
        outcome got = command_run(c, kind, n);
        bool reached = got.failed;
        complaints += !outcome_is_sound(c, kind, n, wanted, &got);
        outcome_free(&got);
        if (!reached)
            break;
    }
    return complaints;
}

static int try_limits(const command *c, const outcome *wanted)
{
    int complaints = 0;
    size_t size = strlen(wanted->written != NULL ? wanted->written : wanted->printed);
    for (long n = 0; complaints < COMPLAINTS_MAX && n < 2 * (long)size + 40000; n += 1 + n) {
        outcome got = command_run(c, FAULT_FILE_SIZE_LIMIT, n);
        complaints += !outcome_is_sound(c, FAULT_FILE_SIZE_LIMIT, n, wanted, &got);
        outcome_free(&got);
    }
    return complaints;
}

static void writers_tell(void **state)
{
    (void)state;
    int complaints = 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        /* Out of reach: counts the calls. */
        outcome wanted = command_run(&commands[i], FAULT_WRITE_BROKEN, 1L << 40);
        printf("gpulink-%s: status %d, %ld calls\n", commands[i].line, wanted.status, wanted.calls);
        fflush(stdout);
        if (wanted.status > 1)
            fprintf(stderr, "%s\n", wanted.message);
        assert_true(wanted.status == 0 || wanted.status == 1);
        assert_true(wanted.calls > 0);
        complaints += try_calls(&commands[i], &wanted, FAULT_WRITE_NO_SPACE);
        complaints += try_calls(&commands[i], &wanted, FAULT_WRITE_BROKEN);
        complaints += try_limits(&commands[i], &wanted);
        outcome_free(&wanted);
    }
    assert_int_equal(complaints, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(writers_tell)};
    faults_begin();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    faults_end();
    return failures;
}

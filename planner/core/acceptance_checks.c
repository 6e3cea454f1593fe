/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/acceptance_checks.h"

#include <math.h>
#include <string.h>

static void add_check(gl_acceptance *a, const char *name, gl_acceptance_verdict verdict,
                      const char *found)
{
    a->checks[a->check_count++] = (gl_acceptance_check){name, verdict, found};
}

/* The whole file counts: a machine that computes wrongly anywhere is broken. */
static void check_results(gl_acceptance *a, gl_arena *arena)
{
    const gl_delivered *d = a->delivered;
    size_t points = 0, wrong = 0, unchecked = 0;
    for (size_t i = 0; i < d->curve_count; i++)
        for (size_t k = 0; k < d->curves[i].sample_count; k++) {
            const gl_sample *s = &d->curves[i].samples[k];
            points++;
            wrong += s->wrong > 0 ? 1 : 0;
            unchecked += isnan(s->wrong) ? 1 : 0;
        }
    add_check(a, "results",
              wrong > 0       ? GL_ACCEPTANCE_FAIL
              : unchecked > 0 ? GL_ACCEPTANCE_WARN
                              : GL_ACCEPTANCE_PASS,
              gl_arena_printf(arena, "%zu points, %zu of them wrong, %zu not checked", points,
                              wrong, unchecked));
}

static void check_runs(gl_acceptance *a, gl_arena *arena)
{
    const gl_delivered *d = a->delivered;
    size_t unfinished = 0;
    for (size_t i = 0; i < d->run_count; i++)
        unfinished += d->runs[i].state == GL_RUN_COMPLETE ? 0 : 1;
    add_check(
        a, "runs", unfinished > 0 ? GL_ACCEPTANCE_WARN : GL_ACCEPTANCE_PASS,
        gl_arena_printf(arena, "%zu, of which %zu did not end well", d->run_count, unfinished));
}

static void check_repetition(gl_acceptance *a, gl_arena *arena)
{
    size_t measured = 0, single = 0;
    for (size_t i = 0; i < a->test_count; i++) {
        const gl_acceptance_test *test = &a->tests[i];
        if (test->curve == NULL)
            continue;
        measured++;
        if (test->repeats < 2)
            single++;
    }
    if (measured == 0)
        return;
    add_check(a, "repetition", single > 0 ? GL_ACCEPTANCE_WARN : GL_ACCEPTANCE_PASS,
              single > 0
                  ? gl_arena_printf(arena,
                                    "%zu of %zu tests rest on a single run: measure them once more",
                                    single, measured)
                  : "every test was measured in two runs or more");
}

static bool is_named(const gl_gpu *gpu, const char *name)
{
    bool found = strcmp(gpu->name, name) == 0 || strcmp(gpu->title, name) == 0;
    for (size_t i = 0; gpu->aliases != NULL && gpu->aliases[i] != NULL; i++)
        found = found || strcmp(gpu->aliases[i], name) == 0;
    return found;
}

static void check_gpu(gl_acceptance *a, gl_arena *arena)
{
    const gl_gpu *gpu = a->plan->cluster->gpu;
    const char *other = NULL, *own = NULL;
    for (size_t i = 0; gpu != NULL && i < a->delivered->run_count; i++) {
        const char *name = a->delivered->runs[i].gpu;
        if (name[0] != '\0')
            *(is_named(gpu, name) ? &own : &other) = name;
    }
    if (other != NULL)
        add_check(a, "gpu", GL_ACCEPTANCE_FAIL,
                  gl_arena_printf(arena, "%s, where %s was planned", other, gpu->title));
    else if (own != NULL)
        add_check(a, "gpu", GL_ACCEPTANCE_PASS, own);
    else
        add_check(a, "gpu", GL_ACCEPTANCE_WARN, "no run names the GPU");
}

/* What NCCL was told by hand: training must be told the same, or it was not this machine. */
static void check_environment(gl_acceptance *a, gl_arena *arena)
{
    const char *set = "";
    for (size_t i = 0; i < a->delivered->run_count; i++) {
        const char *text = a->delivered->runs[i].environment;
        while (*text != '\0') {
            size_t length = strcspn(text, "\n");
            const char *line = gl_arena_strndup(arena, text, length);
            if (length > 0 && strncmp(line, "NCCL_DEBUG", strlen("NCCL_DEBUG")) != 0 &&
                strstr(set, line) == NULL)
                set = gl_arena_append(arena, set, ", ", line);
            text += length + (text[length] == '\n');
        }
    }
    add_check(a, "environment", set[0] != '\0' ? GL_ACCEPTANCE_WARN : GL_ACCEPTANCE_PASS,
              set[0] != '\0' ? gl_arena_printf(arena, "training must be run with %s", set)
                             : "no NCCL variables were recorded");
}

static void check_coverage(gl_acceptance *a, gl_arena *arena)
{
    size_t missing = a->counts[GL_ACCEPTANCE_MISSING];
    add_check(a, "coverage", missing > 0 ? GL_ACCEPTANCE_MISSING : GL_ACCEPTANCE_PASS,
              gl_arena_printf(arena, "%zu of %zu messages of the plan were measured",
                              a->test_count - missing, a->test_count));
}

void gl_acceptance__check(gl_acceptance *acceptance, gl_arena *arena)
{
    check_coverage(acceptance, arena);
    check_results(acceptance, arena);
    check_runs(acceptance, arena);
    check_repetition(acceptance, arena);
    check_gpu(acceptance, arena);
    check_environment(acceptance, arena);
}

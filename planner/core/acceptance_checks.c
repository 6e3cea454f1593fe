/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is checked of the measurements as a whole. */
#include "planner/core/acceptance_parts.h"

#include "common/texts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void add_check(const gl_judge *j, const char *name, gl_acceptance_verdict verdict,
                      const char *found)
{
    gl_acceptance *out = j->out;
    out->checks[out->check_count++] = (gl_acceptance_check){name, verdict, found};
}

/* What the runs' own validations say, for people; "" when none failed. The count of a footer names
 * no point: it is not in the samples. */
static const char *validation_failures(const gl_judge *j)
{
    const gl_delivered *d = j->delivered;
    const char *said = "";
    for (size_t i = 0; i < d->run_count; i++) {
        size_t length;
        const char *words = gl_run_validation_failure(&d->runs[i], &length);
        if (words != NULL)
            said = gl_arena_printf(j->arena, "%s; run %lld: %.*s", said, (long long)d->runs[i].id,
                                   (int)length, words);
    }
    return said;
}

/* The whole file counts: a machine that computes wrongly anywhere is broken. */
static void check_results(const gl_judge *j)
{
    const gl_delivered *d = j->delivered;
    size_t points = 0, wrong = 0, unchecked = 0;
    const char *failures = validation_failures(j);
    for (size_t i = 0; i < d->curve_count; i++)
        for (size_t k = 0; k < d->curves[i].sample_count; k++) {
            const gl_sample *s = &d->curves[i].samples[k];
            points++;
            wrong += s->wrong > 0 ? 1 : 0;
            unchecked += isnan(s->wrong) ? 1 : 0;
        }
    add_check(j, "results",
              wrong > 0 || failures[0] != '\0' ? GL_ACCEPTANCE_FAIL
              : unchecked > 0                  ? GL_ACCEPTANCE_WARN
                                               : GL_ACCEPTANCE_PASS,
              gl_arena_printf(j->arena, "%zu points, %zu of them wrong, %zu not checked%s", points,
                              wrong, unchecked, failures));
}

static void check_runs(const gl_judge *j)
{
    const gl_delivered *d = j->delivered;
    size_t unfinished = 0;
    for (size_t i = 0; i < d->run_count; i++)
        unfinished += d->runs[i].state == GL_RUN_COMPLETE ? 0 : 1;
    add_check(
        j, "runs", unfinished > 0 ? GL_ACCEPTANCE_WARN : GL_ACCEPTANCE_PASS,
        gl_arena_printf(j->arena, "%zu, of which %zu did not end well", d->run_count, unfinished));
}

static void check_repetition(const gl_judge *j)
{
    size_t measured = 0, single = 0;
    bool copies = false;
    for (size_t i = 0; i < j->out->test_count; i++) {
        const gl_acceptance_test *test = &j->out->tests[i];
        if (test->curve == NULL)
            continue;
        measured++;
        if (test->repeats < 2)
            single++;
        copies = copies || (test->repeats < 2 && test->copies > 0);
    }
    if (measured == 0)
        return;
    add_check(j, "repetition", single > 0 ? GL_ACCEPTANCE_WARN : GL_ACCEPTANCE_PASS,
              single > 0
                  ? gl_arena_printf(
                        j->arena, "%zu of %zu tests rest on a single run%s: measure them once more",
                        single, measured,
                        copies ? " (the same figures once more are no second one)" : "")
                  : "every test was measured in two runs or more");
}

static bool is_named(const gl_gpu *gpu, const char *name)
{
    bool found = gl_expected_same_name(gpu->name, name) || gl_expected_same_name(gpu->title, name);
    for (size_t i = 0; gpu->aliases != NULL && gpu->aliases[i] != NULL; i++)
        found = found || gl_expected_same_name(gpu->aliases[i], name);
    return found;
}

/* "80GB" in a name: 80; 0: it says nothing. */
static long memory_in_name(const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        char *end;
        long number = isdigit((unsigned char)*c) ? strtol(c, &end, 10) : 0;
        if (number > 0 && strncasecmp(end + (*end == ' '), "GB", 2) == 0)
            return number;
        while (isdigit((unsigned char)c[0]) && isdigit((unsigned char)c[1]))
            c++;
    }
    return 0;
}

/* A name is another GPU's only where it is known to be: whoever typed it may have meant ours. */
static bool is_another(const gl_judge *j, const char *name)
{
    const gl_acceptance_yardstick *y = &j->out->yardstick;
    const gl_expected_gpu *found = gl_expected_find_gpu(y->expected, name);
    long memory = memory_in_name(name), own = memory_in_name(j->plan->cluster->gpu->title);
    return found != NULL && (found != gl_expected_find_gpu(y->expected, y->gpu) ||
                             (memory > 0 && own > 0 && memory != own));
}

static void check_gpu(const gl_judge *j)
{
    const gl_gpu *gpu = j->plan->cluster->gpu;
    const char *other = NULL, *own = NULL, *unknown = NULL;
    for (size_t i = 0; gpu != NULL && i < j->delivered->run_count; i++) {
        const char *name = j->delivered->runs[i].gpu;
        if (name[0] != '\0')
            *(is_named(gpu, name) ? &own : is_another(j, name) ? &other : &unknown) = name;
    }
    if (other != NULL)
        add_check(j, "gpu", GL_ACCEPTANCE_FAIL,
                  gl_arena_printf(j->arena, "%s, where %s was planned", other, gpu->title));
    else if (unknown != NULL)
        add_check(j, "gpu", GL_ACCEPTANCE_MISSING,
                  gl_arena_printf(j->arena,
                                  "undecided: '%s' does not say which GPU it is; %s was planned",
                                  unknown, gpu->title));
    else if (own != NULL)
        add_check(j, "gpu", GL_ACCEPTANCE_PASS, own);
    else
        add_check(j, "gpu", GL_ACCEPTANCE_WARN, "no run names the GPU");
}

/* What NCCL was told by hand: training must be told the same, or it was not this machine. */
static void check_environment(const gl_judge *j)
{
    gl_texts lines = {0};
    const char *set = "";
    for (size_t i = 0; i < j->delivered->run_count; i++) {
        const char *text = j->delivered->runs[i].environment;
        while (*text != '\0') {
            size_t length = strcspn(text, "\n");
            const char *line = gl_arena_strndup(j->arena, text, length);
            text += length + (text[length] == '\n');
            if (length == 0 || strncmp(line, "NCCL_DEBUG", strlen("NCCL_DEBUG")) == 0 ||
                gl_texts_have(&lines, line))
                continue;
            gl_texts_add(&lines, j->arena, line);
            set = gl_arena_append(j->arena, set, ", ", line);
        }
    }
    add_check(j, "environment", set[0] != '\0' ? GL_ACCEPTANCE_WARN : GL_ACCEPTANCE_PASS,
              set[0] != '\0' ? gl_arena_printf(j->arena, "training must be run with %s", set)
                             : "no NCCL variables were recorded");
}

static void check_coverage(const gl_judge *j)
{
    size_t missing = j->out->counts[GL_ACCEPTANCE_MISSING];
    add_check(j, "coverage", missing > 0 ? GL_ACCEPTANCE_MISSING : GL_ACCEPTANCE_PASS,
              gl_arena_printf(j->arena, "%zu of %zu messages of the plan were measured",
                              j->out->test_count - missing, j->out->test_count));
}

void gl_acceptance__check_all(const gl_judge *j)
{
    check_coverage(j);
    check_results(j);
    check_runs(j);
    check_repetition(j);
    check_gpu(j);
    check_environment(j);
}

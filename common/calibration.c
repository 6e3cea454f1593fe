/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/calibration.h"

#include "common/quantile.h"
#include "common/text.h"

#include <math.h>
#include <string.h>

static const char *const state_names[] = {[GL_RUN_RUNNING] = "running",
                                          [GL_RUN_COMPLETE] = "complete",
                                          [GL_RUN_INTERRUPTED] = "interrupted"};

const char *gl_run_state_name(gl_run_state state)
{
    return state_names[state];
}

bool gl_run_state_parse(const char *text, gl_run_state *state)
{
    for (size_t i = 0; i < sizeof state_names / sizeof *state_names; i++)
        if (strcmp(text, state_names[i]) == 0) {
            *state = (gl_run_state)i;
            return true;
        }
    return false;
}

void gl_run_complete_texts(gl_run *run)
{
    const char **texts[] = {&run->started_at,   &run->recorded_at,    &run->tool,
                            &run->tool_version, &run->backend,        &run->host,
                            &run->gpu,          &run->driver_version, &run->cuda_version,
                            &run->nccl_version, &run->environment,    &run->source,
                            &run->label,        &run->parameters,     &run->warnings};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i] == NULL)
            *texts[i] = "";
}

const char *gl_run_validation_failure(const gl_run *run, size_t *length)
{
    for (const char *line = run->warnings; *line != '\0'; line += *length) {
        line += *line == '\n';
        *length = strcspn(line, "\n");
        if (gl_starts_with(line, GL_VALIDATION_FAILED))
            return line;
    }
    return NULL;
}

double gl_curve_plateau(const gl_curve *curve)
{
    double largest[3];
    size_t count = curve->sample_count < 3 ? curve->sample_count : 3;
    for (size_t i = 0; i < count; i++)
        largest[i] = gl_curve_busbw(curve, &curve->samples[curve->sample_count - 1 - i]);
    return count == 2 ? fmax(largest[0], largest[1]) : gl_median(largest, count);
}

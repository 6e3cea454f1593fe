/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules: each is a row of a table that names a finding, what it means, what to try, and the line
 * that proves it, or a function that looks for its proof. A rule concludes from lines that are
 * there, never from lines that are not, unless other lines show that they would have been logged.
 */
#ifndef GL_DOCTOR_RULES_H
#define GL_DOCTOR_RULES_H

#include "calibrate/doctor/findings.h"

typedef struct gl_diagnosis {
    const gl_facts *facts;
    gl_arena *arena;
    gl_finding *items;
    size_t count, capacity;
} gl_diagnosis;

typedef struct gl_rule gl_rule;
struct gl_rule {
    const char *id;
    gl_severity severity; /* at worst */
    const char *title, *meaning, *advice;
    gl_said said;                                        /* the line of a log that proves it … */
    void (*check)(gl_diagnosis *d, const gl_rule *rule); /* … unless this looks for proof */
};

typedef struct gl_rules {
    const gl_rule *items;
    size_t count;
} gl_rules;

extern const gl_rules gl_rules_node, gl_rules_nvlink, gl_rules_net, gl_rules_nic, gl_rules_fabric,
    gl_rules_job, gl_rules_settings, gl_rules_curves;

/* Adds a finding with its proof. The returned one may be changed until the next is added. */
gl_finding *gl_found(gl_diagnosis *d, const gl_rule *rule, gl_quote proof);

/* The same where a rule is less severe than at worst. */
gl_finding *gl_found_as(gl_diagnosis *d, const gl_rule *rule, gl_severity severity, gl_quote proof);

void gl_found_proof(gl_finding *finding, gl_quote proof);

/* ---- what several rules ask ---- */

typedef enum gl_answer { GL_NO, GL_YES, GL_NOT_KNOWN } gl_answer;

static inline uint64_t gl_said_count(const gl_diagnosis *d, gl_said what)
{
    return d->facts->log->said[what].count;
}
static inline gl_quote gl_said_first(const gl_diagnosis *d, gl_said what)
{
    return d->facts->log->said[what].first;
}

/* A finding when the logs say so at all, with the first line that does as its proof. */
static inline void gl_found_said(gl_diagnosis *d, const gl_rule *rule, gl_said what)
{
    if (gl_said_count(d, what) > 0)
        gl_found(d, rule, gl_said_first(d, what));
}

/* The same of one host among several. */
static inline uint32_t gl_host_count(const gl_log_nccl_host *host, gl_said what)
{
    return host->said->count[what];
}
static inline gl_quote gl_host_first(const gl_log_nccl_host *host, gl_said what)
{
    return host->said->first[what] != NULL ? *host->said->first[what] : (gl_quote){0};
}

/* Do the ranks of the logs sit on several machines? */
gl_answer gl_on_several_nodes(const gl_diagnosis *d);

/* The most ranks that one host has; 0 unknown. */
int gl_ranks_of_node(const gl_diagnosis *d);

/* The GPU by its name in any of the texts; NULL when no text names one that is known. */
const gl_expected_gpu *gl_gpu_of(const gl_diagnosis *d);

/* A line that proves NVLink between GPUs; its text is NULL when there is none. */
gl_quote gl_nvlink_proof(const gl_diagnosis *d);

/* Is the value one of a list with blanks between (" 1 2 "), whatever its case? */
bool gl_is_among(const char *values, const char *value);

/* A setting that switches something off: its name and value must fit. NULL when it is not set, or
 * set to different values by different ranks. `values` is a list with blanks around: " 1 2 ". */
const gl_log_setting *gl_setting_is(const gl_diagnosis *d, const char *name, const char *values);

/* The same on the hosts that said `what`: theirs is the cause, whatever others have set. */
const gl_log_setting *gl_setting_where(const gl_diagnosis *d, gl_said what, const char *name,
                                       const char *values);

/* Adds "cause: NAME=value is set" to meaning and advice, and its line to the proofs; of `other`
 * (NULL: none) as well. */
void gl_blame_setting(gl_diagnosis *d, gl_finding *finding, const gl_log_setting *setting,
                      const gl_log_setting *other);

#endif

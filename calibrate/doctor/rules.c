/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/rules.h"

#include <string.h>
#include <strings.h>

gl_finding *gl_found_as(gl_diagnosis *d, const gl_rule *rule, gl_severity severity, gl_quote proof)
{
    d->items = gl_arena_grow(d->arena, d->items, &d->capacity, d->count + 1, sizeof *d->items);
    gl_finding *finding = &d->items[d->count++];
    *finding = (gl_finding){.id = rule->id,
                            .severity = severity,
                            .subject = "",
                            .title = rule->title,
                            .meaning = rule->meaning,
                            .advice = rule->advice};
    gl_found_proof(finding, proof);
    return finding;
}

gl_finding *gl_found(gl_diagnosis *d, const gl_rule *rule, gl_quote proof)
{
    return gl_found_as(d, rule, rule->severity, proof);
}

void gl_found_proof(gl_finding *finding, gl_quote proof)
{
    if (proof.text != NULL && finding->proof_count < GL_PROOFS_MAX)
        finding->proofs[finding->proof_count++] = proof;
}

/* ---- questions ---- */

static size_t hosts_with_ranks(const gl_log *log)
{
    size_t count = 0;
    for (size_t i = 0; i < log->host_count; i++)
        count += log->hosts[i].ranks_seen > 0;
    return count;
}

gl_answer gl_on_several_nodes(const gl_diagnosis *d)
{
    const gl_log *log = d->facts->log;
    size_t hosts = hosts_with_ranks(log);
    bool several = gl_said_count(d, GL_SAID_MULTI_NODE) > 0;
    /* With SHM and P2P switched off NCCL counts each rank of one machine as a node. */
    if (several && hosts == 1 && log->hosts[0].ranks_seen == log->ranks && log->host_count == 1)
        return GL_NO;
    if (several || hosts > 1)
        return GL_YES;
    if (gl_said_count(d, GL_SAID_ONE_NODE) > 0)
        return GL_NO;
    return hosts == 1 && log->ranks > 0 && log->hosts[0].ranks_seen == log->ranks ? GL_NO
                                                                                  : GL_NOT_KNOWN;
}

int gl_ranks_of_node(const gl_diagnosis *d)
{
    const gl_log *log = d->facts->log;
    int most = 0;
    for (size_t i = 0; i < log->host_count; i++) {
        const gl_log_nccl_host *host = &log->hosts[i];
        int ranks = host->local_ranks > host->ranks_seen ? host->local_ranks : host->ranks_seen;
        most = ranks > most ? ranks : most;
    }
    return most;
}

const gl_expected_gpu *gl_gpu_of(const gl_diagnosis *d)
{
    const gl_facts *f = d->facts;
    const gl_expected_gpu *gpu = gl_expected_find_gpu(f->expected, f->log->gpu);
    for (size_t i = 0; gpu == NULL && i < f->nvlink->count; i++)
        gpu = gl_expected_find_gpu(f->expected, f->nvlink->items[i].name);
    return gpu;
}

static gl_quote matrix_link(const gl_matrices *all)
{
    for (size_t m = 0; m < all->count; m++)
        for (size_t r = 0; r < all->items[m]->row_count; r++)
            for (size_t c = 0; c < all->items[m]->column_count; c++)
                if (all->items[m]->rows[r].cells[c].path == GL_PATH_LINK)
                    return all->items[m]->rows[r].quote;
    return (gl_quote){0};
}

gl_quote gl_nvlink_proof(const gl_diagnosis *d)
{
    const gl_facts *f = d->facts;
    gl_quote found = matrix_link(&f->topology);
    for (size_t i = 0; found.text == NULL && i < f->nvlink->count; i++)
        if (f->nvlink->items[i].active > 0)
            found = f->nvlink->items[i].quote;
    for (size_t i = 0; found.text == NULL && i < f->xml_count; i++)
        if (f->xml[i]->link_count > 0)
            found = f->xml[i]->links[0].quote;
    if (found.text == NULL)
        found = gl_said_first(d, GL_SAID_RING_NVLINK);
    if (found.text == NULL)
        found = gl_said_first(d, GL_SAID_NVLINK_IN_DUMP);
    return found;
}

bool gl_is_among(const char *values, const char *value)
{
    for (const char *v = values; *v != '\0';) {
        v += strspn(v, " ");
        size_t length = strcspn(v, " ");
        if (length > 0 && strlen(value) == length && strncasecmp(v, value, length) == 0)
            return true;
        v += length;
    }
    return false;
}

/* Of one host; −1: of all. */
static const gl_log_setting *setting_on(const gl_log *log, int host, const char *name,
                                        const char *values)
{
    const gl_log_setting *found = NULL;
    for (size_t i = 0; i < log->setting_count; i++) {
        const gl_log_setting *setting = &log->settings[i];
        if (strcmp(setting->name, name) != 0 || (host >= 0 && !gl_log_is_set_on(setting, host)))
            continue;
        if (found != NULL)
            return NULL; /* ranks contradict each other */
        found = setting;
    }
    return found != NULL && gl_is_among(values, found->value) ? found : NULL;
}

/* Did this host's log show settings at all? */
static bool shows_settings(const gl_log *log, int host)
{
    for (size_t i = 0; i < log->setting_count; i++)
        if (gl_log_is_set_on(&log->settings[i], host))
            return true;
    return false;
}

const gl_log_setting *gl_setting_is(const gl_diagnosis *d, const char *name, const char *values)
{
    return setting_on(d->facts->log, -1, name, values);
}

const gl_log_setting *gl_setting_where(const gl_diagnosis *d, gl_said what, const char *name,
                                       const char *values)
{
    const gl_log *log = d->facts->log;
    bool shown = false;
    for (size_t i = 0; i < log->host_count; i++) {
        if (gl_host_count(&log->hosts[i], what) == 0 || !shows_settings(log, (int)i))
            continue;
        const gl_log_setting *found = setting_on(log, (int)i, name, values);
        if (found != NULL)
            return found;
        shown = true;
    }
    return shown ? NULL : gl_setting_is(d, name, values);
}

static void blame(gl_diagnosis *d, gl_finding *finding, const gl_log_setting *setting)
{
    finding->meaning = gl_arena_printf(d->arena, "%s Cause: %s=%s is set.", finding->meaning,
                                       setting->name, setting->value);
    gl_found_proof(finding, setting->quote);
}

void gl_blame_setting(gl_diagnosis *d, gl_finding *finding, const gl_log_setting *setting,
                      const gl_log_setting *other)
{
    blame(d, finding, setting);
    if (other != NULL)
        blame(d, finding, other);
    finding->advice = gl_arena_printf(
        d->arena,
        "Unset %s%s%s (environment, launcher script, /etc/nccl.conf, ~/.nccl.conf) "
        "and run again.",
        setting->name, other != NULL ? " and " : "", other != NULL ? other->name : "");
}

/* ---- all of them ---- */

const char *gl_severity_name(gl_severity severity)
{
    static const char *const names[] = {"note", "warning", "fault"};
    return names[severity];
}

/* Worst first, otherwise in the order of the rules. */
static void sort(gl_finding *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        gl_finding moved = items[i];
        size_t k = i;
        for (; k > 0 && items[k - 1].severity < moved.severity; k--)
            items[k] = items[k - 1];
        items[k] = moved;
    }
}

static void apply(gl_diagnosis *d, const gl_rule *rule)
{
    if (rule->check != NULL)
        rule->check(d, rule);
    else
        gl_found_said(d, rule, rule->said);
}

gl_findings gl_findings_of(const gl_facts *facts)
{
    static const gl_rules *const groups[] = {&gl_rules_node,     &gl_rules_nvlink, &gl_rules_net,
                                             &gl_rules_nic,      &gl_rules_fabric, &gl_rules_job,
                                             &gl_rules_settings, &gl_rules_curves};
    gl_diagnosis d = {.facts = facts, .arena = facts->arena};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (size_t i = 0; i < groups[g]->count; i++)
            apply(&d, &groups[g]->items[i]);
    sort(d.items, d.count);
    return (gl_findings){.items = d.items, .count = d.count};
}

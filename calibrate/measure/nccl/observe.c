/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What carried the messages: from NCCL's own words about the present communicators. */
#include "calibrate/import/nccl_log.h"
#include "calibrate/measure/nccl/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines from which gl_nccl_log concludes something; the rest need not travel between processes. */
static bool is_telling(const char *line, size_t length)
{
    static const char *const words[] = {" via ",  "Pattern ",        "+ NVL[",      " nNodes ",
                                        "Using ", " Bytes -> Algo ", "NCCL version"};
    char text[600];
    snprintf(text, sizeof text, "%.*s", (int)(length < 599 ? length : 599), line);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]) != NULL)
            return true;
    return false;
}

/* The telling lines of all processes; to be freed. */
static char *gather(const gl_nccl *self, const char *text)
{
    char *telling = malloc(strlen(text) + 2), *end = telling;
    if (telling == NULL)
        abort();
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (is_telling(line, length)) {
            memcpy(end, line, length);
            end += length;
            *end++ = '\n';
        }
        line += length + (line[length] == '\n');
    }
    *end = '\0';
    char *all = gl_launch_join_texts(&self->launch, telling);
    free(telling);
    if (all == NULL)
        abort();
    return all;
}

static void parse_line(gl_nccl_log *log, gl_arena *arena, const char *line)
{
    const char *host, *text;
    size_t head, host_length;
    char name[256];
    if (!gl_nccl_log_split(log, line, &head, &host, &host_length, &text))
        return;
    snprintf(name, sizeof name, "%.*s", (int)(host_length < 255 ? host_length : 255), host);
    gl_nccl_log_line(log, arena, name, text);
}

static void parse(gl_nccl_log *log, gl_arena *arena, char *lines)
{
    gl_nccl_log_begin(log);
    for (char *line = lines; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool more = line[length] == '\n';
        line[length] = '\0';
        parse_line(log, arena, line);
        line += length + (more ? 1 : 0);
    }
}

/* What NCCL says while one call of this size runs; NULL on failure. */
static const char *listen_to_call(gl_nccl *self, double size_bytes)
{
    gl_error ignored;
    size_t before = strlen(gl_capture_text(self->capture));
    bool chooses = self->collective != GL_ALLTOALL && self->collective != GL_SENDRECV;
    if (!chooses || self->aborted)
        return "";
    gl_capture_calls(self->capture, true);
    bool done = gl_gpu_call_once(self, size_bytes, false, &ignored);
    gl_capture_calls(self->capture, false);
    const char *text = gl_capture_text(self->capture);
    return done && strlen(text) >= before ? text + before : "";
}

static const char *reason_in_environment(const gl_nccl *self)
{
    static const char *const names[] = {"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(self->environment, names[i]) != NULL)
            return names[i];
    return NULL;
}

static void warn_of_unused_nvlink(gl_nccl *self, gl_transport transport)
{
    char text[256];
    const char *reason = reason_in_environment(self);
    if (!self->nvlink || transport == GL_TRANSPORT_NVLINK || transport == GL_TRANSPORT_UNKNOWN ||
        self->placement.nodes > 1 || self->placement.ranks < 2)
        return;
    snprintf(text, sizeof text, "NVLink is there but not used: messages went over %s%s%s%s",
             gl_transport_name(transport), reason != NULL ? " (" : "", reason != NULL ? reason : "",
             reason != NULL ? " is set)" : "");
    gl_gpu_warn(self, text);
}

void gl_gpu_observe(gl_backend *backend, double size_bytes, gl_arena *arena, gl_curve *curve)
{
    gl_nccl *self = (gl_nccl *)backend;
    gl_nccl_log *log = GL_ARENA_NEW(self->arena, gl_nccl_log, 2);
    const char *why = "";
    char *call = gather(self, listen_to_call(self, size_bytes));
    char *all = gather(self, gl_capture_text(self->capture));
    parse(&log[0], self->arena, all);
    parse(&log[1], self->arena, call);
    free(all);
    free(call);
    curve->transport = gl_nccl_log_transport(&log[0], self->placement.nodes, &why);
    curve->nics = gl_nccl_log_nics(&log[0]);
    curve->algorithm = gl_arena_strdup(arena, gl_nccl_log_algorithm(&log[1], self->collective));
    curve->protocol = gl_arena_strdup(arena, gl_nccl_log_protocol(&log[1], self->collective));
    warn_of_unused_nvlink(self, curve->transport);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What carried the messages: from NCCL's own words about the present communicators. */
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

static void parse(gl_nccl_log *log, gl_arena *arena, const char *lines)
{
    char text[2048];
    for (const char *line = lines; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : 0), line);
        parse_line(log, arena, text);
        line += length + (line[length] == '\n');
    }
}

void gl_gpu_forget_log(gl_nccl *self)
{
    gl_arena_destroy(self->log_arena);
    self->log_arena = gl_arena_create();
    self->log = GL_ARENA_NEW(self->log_arena, gl_nccl_log, 1);
    gl_nccl_log_begin(self->log);
    self->algorithm = self->protocol = "";
}

/* What came since the last time: start and channels add to what is known of the communicators; the
 * lines of calls are all of one call. */
static void learn(gl_nccl *self)
{
    gl_arena *arena = gl_arena_create();
    gl_nccl_log *call = GL_ARENA_NEW(arena, gl_nccl_log, 1);
    char *lines = gather(self, gl_capture_text(self->capture));
    gl_capture_mark(self->capture);
    parse(self->log, self->log_arena, lines);
    gl_nccl_log_begin(call);
    parse(call, arena, lines);
    free(lines);
    self->algorithm = gl_nccl_log_algorithm(call, self->collective); /* static texts */
    self->protocol = gl_nccl_log_protocol(call, self->collective);
    gl_arena_destroy(arena);
}

/* alltoall and sendrecv are NCCL's point-to-point calls, which choose no algorithm. */
bool gl_gpu_call_and_listen(gl_nccl *self, double size_bytes, bool in_place, gl_error *err)
{
    bool chooses = self->collective != GL_ALLTOALL && self->collective != GL_SENDRECV;
    if (chooses)
        gl_capture_calls(self->capture, true);
    bool done = gl_gpu_call_once(self, size_bytes, in_place, err);
    if (chooses)
        gl_capture_calls(self->capture, false);
    if (done)
        learn(self);
    return done;
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
    const char *why = "";
    (void)size_bytes; /* of the last verified size, which is the one that is asked for */
    curve->transport = gl_nccl_log_transport(self->log, self->placement.nodes, &why);
    curve->nics = gl_nccl_log_nics(self->log);
    curve->algorithm = gl_arena_strdup(arena, self->algorithm);
    curve->protocol = gl_arena_strdup(arena, self->protocol);
    warn_of_unused_nvlink(self, curve->transport);
}

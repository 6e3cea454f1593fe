/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/acceptance_source.h"

#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { LIST_BYTES_MAX = 4 * 1024 * 1024 };

static bool is_model(const char *path)
{
    return gl_ends_with(path, ".yaml") || gl_ends_with(path, ".yml");
}

/* Beside this program, as both are built and installed; otherwise what PATH finds. */
static const char *planner_path(gl_arena *arena)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = '\0';
        char *slash = strrchr(self, '/');
        if (slash != NULL) {
            const char *beside =
                gl_arena_printf(arena, "%.*s/gpulink-plan", (int)(slash - self), self);
            if (access(beside, X_OK) == 0)
                return beside;
        }
    }
    return "gpulink-plan";
}

static bool start_planner(const char *path, const char *cluster, bool audible, gl_arena *arena,
                          int *from, pid_t *child, gl_error *err)
{
    const char *planner = planner_path(arena);
    const char *const arguments[] = {"gpulink-plan",    "accept",   path,  "--cluster",
                                     cluster,           "--format", "csv", "--table",
                                     "acceptance_list", "--quiet",  NULL};
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0)
        return gl_fail(err, GL_ERROR_SYSTEM, "no pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    if (!audible)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failure =
        posix_spawnp(child, planner, &actions, NULL, (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *from = ends[0];
    if (failure == 0)
        return true;
    close(ends[0]);
    return gl_fail_at(
        err, GL_ERROR_SYSTEM, NULL, "--acceptance",
        "gpulink-plan cannot be run here (%s): make the list where it is: gpulink-plan "
        "accept %.100s --cluster %.60s --list list.csv",
        strerror(failure), path, cluster);
}

/* All that comes, up to the limit; what is beyond is read and dropped. */
static size_t read_all(int from, char *buffer)
{
    size_t length = 0;
    char rest[4096];
    for (;;) {
        bool full = length == LIST_BYTES_MAX;
        ssize_t got =
            /* cppcheck-suppress legacyUninitvar ; read() fills it */
            read(from, full ? rest : buffer + length, full ? sizeof rest : LIST_BYTES_MAX - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return length;
        length += full ? 0 : (size_t)got;
    }
}

static bool wait_for(pid_t child, gl_error *err)
{
    int state = 0;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return gl_fail(err, GL_ERROR_SYSTEM, "gpulink-plan got lost: %s", strerror(errno));
    int status = WIFEXITED(state) ? WEXITSTATUS(state) : (int)GL_ERROR_INTERNAL;
    return status == 0 ||
           gl_fail_at(err, status == 127 ? GL_ERROR_SYSTEM : (gl_status)status, NULL,
                      "--acceptance", "gpulink-plan accept ended with status %d", status);
}

static bool ask_planner(const char *path, const char *cluster, bool audible, gl_arena *arena,
                        gl_acceptance_list *out, gl_error *err)
{
    int from = -1;
    pid_t child;
    if (!start_planner(path, cluster, audible, arena, &from, &child, err))
        return false;
    char *text = gl_arena_alloc_raw(arena, LIST_BYTES_MAX, 1);
    size_t length = read_all(from, text);
    close(from);
    return wait_for(child, err) && gl_acceptance_list_parse(path, text, length, arena, out, err);
}

bool gl_acceptance_source_load(const char *path, const char *cluster, bool audible, gl_arena *arena,
                               gl_acceptance_list *out, gl_error *err)
{
    if (strcmp(path, "-") == 0)
        return gl_fail_at(err, GL_ERROR_USAGE, NULL, "--acceptance",
                          "a list is a file here: every process reads it");
    if (!is_model(path))
        return cluster == NULL
                   ? gl_acceptance_list_load(path, arena, out, err)
                   : gl_fail(err, GL_ERROR_USAGE,
                             "--cluster goes with --acceptance MODEL.yaml: a list needs none");
    if (cluster == NULL)
        return gl_fail_at(err, GL_ERROR_USAGE, NULL, "--acceptance",
                          "%.100s is a model: say with --cluster what was planned, or make a list: "
                          "gpulink-plan accept %.100s --cluster PLANNED --list list.csv",
                          path, path);
    return ask_planner(path, cluster, audible, arena, out, err);
}

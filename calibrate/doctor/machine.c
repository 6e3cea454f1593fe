/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks the machine itself. */
#include "calibrate/doctor/facts.h"

#include "calibrate/import/command.h"
#include "calibrate/import/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_in_path(const char *program)
{
    char candidate[4200];
    for (const char *path = getenv("PATH"); path != NULL && *path != '\0';) {
        size_t length = strcspn(path, ":");
        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)(length < 4096 ? length : 4096), path,
                 program);
        if (access(candidate, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

static void take_environment(gl_facts *facts, const char *const *environment)
{
    for (; *environment != NULL; environment++) {
        size_t equals = strcspn(*environment, "=");
        if (!gl_setting_is_nccl(*environment, equals) || (*environment)[equals] != '=')
            continue;
        gl_quote quote =
            gl_quote_make(facts->arena, "environment", 0, *environment, strlen(*environment));
        gl_log_add_setting(facts->log, facts->arena, -1,
                           gl_arena_strndup(facts->arena, *environment, equals),
                           gl_arena_strdup(facts->arena, *environment + equals + 1), quote);
    }
}

bool gl_facts_ask_machine(gl_facts *facts, const char *const *environment, gl_error *err)
{
    static const struct {
        const char *command;
        gl_source source;
    } questions[] = {{"nvidia-smi topo -m", GL_SOURCE_TOPOLOGY},
                     {"nvidia-smi topo -p2p r", GL_SOURCE_P2P},
                     {"nvidia-smi nvlink -s", GL_SOURCE_NVLINK},
                     {"nvidia-smi nvlink -e", GL_SOURCE_NVLINK}};
    size_t understood = 0;
    if (!is_in_path("nvidia-smi"))
        return gl_fail(
            err, GL_ERROR_DEVICE,
            "no files were given, and nvidia-smi is not on this machine; give --topo, "
            "--nvlink, --p2p, --log, --xml or --db with texts of the machine in question");
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        size_t length;
        char *text = gl_command_output(facts->arena, questions[i].command, &length);
        understood += text != NULL && gl_facts_read_text(facts, questions[i].source,
                                                         questions[i].command, text, length, NULL);
    }
    if (understood == 0)
        return gl_fail(err, GL_ERROR_DEVICE,
                       "nvidia-smi is there but tells nothing: no GPU is visible, or the driver "
                       "is not loaded");
    take_environment(facts, environment);
    return true;
}

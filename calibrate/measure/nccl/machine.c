/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* sched_getaffinity */
#include "calibrate/measure/nccl/machine.h"

#include "calibrate/import/command.h"

#include <ctype.h>
#include <sched.h>
#include <string.h>

/* "ESC [ 4 m" and the like */
static size_t escape_length(const char *text)
{
    if (text[0] != '\033' || text[1] != '[')
        return 0;
    size_t length = 2;
    while (text[length] != '\0' && !isalpha((unsigned char)text[length]))
        length++;
    return text[length] != '\0' ? length + 1 : length;
}

static void zero_uuid(char *text)
{
    for (; isxdigit((unsigned char)*text) || *text == '-'; text++)
        if (*text != '-')
            *text = '0';
}

void gl_machine_clean(char *text)
{
    char *out = text;
    for (const char *in = text; *in != '\0';) {
        size_t skip = escape_length(in);
        if (skip == 0)
            *out++ = *in++;
        in += skip;
    }
    *out = '\0';
    static const char *const prefixes[] = {"UUID: GPU-", "UUID: MIG-"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        for (char *c = strstr(text, prefixes[i]); c != NULL; c = strstr(c, prefixes[i])) {
            c += strlen(prefixes[i]);
            zero_uuid(c);
        }
}

void gl_machine_texts(gl_arena *arena, const gl_machine_text **texts, size_t *count)
{
    static const char *const commands[] = {"nvidia-smi topo -m", "nvidia-smi topo -p2p r",
                                           "nvidia-smi nvlink -s"};
    enum { COMMANDS = sizeof commands / sizeof *commands };
    gl_machine_text *found = GL_ARENA_NEW(arena, gl_machine_text, COMMANDS);
    *count = 0;
    for (size_t i = 0; i < COMMANDS; i++) {
        size_t length;
        char *text = gl_command_output(arena, commands[i], &length);
        if (text == NULL)
            continue;
        gl_machine_clean(text);
        found[(*count)++] = (gl_machine_text){commands[i], text};
    }
    *texts = found;
}

int gl_machine_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

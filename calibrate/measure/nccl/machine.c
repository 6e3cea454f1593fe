/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* sched_getaffinity */
#include "calibrate/measure/nccl/machine.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20 };

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

static char *output_of(gl_arena *arena, const char *command)
{
    char *text = malloc(TEXT_MAX);
    /* The commands are constants. NOLINTNEXTLINE(cert-env33-c) */
    FILE *pipe = text != NULL ? popen(command, "r") : NULL;
    char *kept = NULL;
    if (pipe != NULL) {
        text[fread(text, 1, TEXT_MAX - 1, pipe)] = '\0';
        if (pclose(pipe) == 0 && text[0] != '\0') {
            gl_machine_clean(text);
            kept = gl_arena_strdup(arena, text);
        }
    }
    free(text);
    return kept;
}

void gl_machine_texts(gl_arena *arena, const gl_machine_text **texts, size_t *count)
{
    static const char *const commands[] = {"nvidia-smi topo -m", "nvidia-smi topo -p2p r",
                                           "nvidia-smi nvlink -s"};
    enum { COMMANDS = sizeof commands / sizeof *commands };
    gl_machine_text *found = GL_ARENA_NEW(arena, gl_machine_text, COMMANDS);
    *count = 0;
    for (size_t i = 0; i < COMMANDS; i++) {
        char *text = output_of(arena, gl_arena_printf(arena, "%s 2>/dev/null", commands[i]));
        if (text != NULL)
            found[(*count)++] = (gl_machine_text){commands[i], text};
    }
    *texts = found;
}

int gl_machine_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/facts.h"

#include "common/order.h"
#include "common/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS_MAX = 256 };

/* As the import of logs does: nothing that names a machine or a person. */
static const char *anonymous(const char *name, size_t length, const char *value)
{
    static const char *const secret[] = {"NCCL_COMM_ID", "NCCL_HOSTID", "NCCL_UNIQUE_ID"};
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        if (strlen(secret[i]) == length && strncmp(name, secret[i], length) == 0)
            return "(set)";
    const char *slash = strrchr(value, '/');
    return slash != NULL ? slash + 1 : value;
}

/* "NAME=value" for storing, or NULL when this is none of NCCL's. */
static const char *setting_of(const char *variable, gl_arena *arena)
{
    char text[512], printable[512];
    size_t length = strcspn(variable, "=");
    if (!gl_starts_with(variable, "NCCL_") || variable[length] != '=' || length > 100)
        return NULL;
    for (size_t i = 0; i < length; i++)
        if (!isupper((unsigned char)variable[i]) && !isdigit((unsigned char)variable[i]) &&
            variable[i] != '_')
            return NULL;
    snprintf(text, sizeof text, "%.*s=%.350s", (int)length, variable,
             anonymous(variable, length, variable + length + 1));
    return gl_arena_strdup(arena, gl_printable(text, printable, sizeof printable));
}

const char *gl_facts_environment(const char *const *environment, gl_arena *arena)
{
    const char *settings[SETTINGS_MAX];
    size_t count = 0;
    for (; *environment != NULL && count < SETTINGS_MAX; environment++) {
        const char *setting = setting_of(*environment, arena);
        if (setting != NULL)
            settings[count++] = setting;
    }
    /* cppcheck-suppress uninitvar ; as many as were counted */
    qsort(settings, count, sizeof *settings, gl_compare_texts);
    return gl_arena_join(arena, settings, count, "\n");
}

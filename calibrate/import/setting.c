/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/setting.h"

#include "common/order.h"
#include "common/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 100, VALUE_MAX_BYTES = 350, SETTINGS_MAX = 256 };

bool gl_setting_is_nccl(const char *name, size_t length)
{
    if (!gl_starts_with(name, "NCCL_") || length > NAME_MAX_BYTES)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isupper((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) && name[i] != '_')
            return false;
    return true;
}

bool gl_setting_is_secret(const char *name)
{
    static const char *const words[] = {"COMM_ID", "HOSTID", "UNIQUE_ID",  "TOKEN", "SECRET",
                                        "PASS",    "PWD",    "CREDENTIAL", "AUTH",  "_KEY"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]) != NULL)
            return true;
    return false;
}

const char *gl_setting_kept(gl_arena *arena, const char *name, size_t length, const char *value)
{
    if (!gl_setting_is_nccl(name, length))
        return NULL;
    char text[NAME_MAX_BYTES + VALUE_MAX_BYTES + 2], printable[sizeof text];
    int used = snprintf(text, sizeof text, "%.*s", (int)length, name);
    const char *slash = strrchr(value, '/'), *kept = slash != NULL ? slash + 1 : value;
    if (gl_setting_is_secret(text))
        kept = GL_SETTING_HIDDEN;
    size_t line = strcspn(kept, "\r\n"); /* what follows is not this setting's */
    snprintf(text + used, sizeof text - (size_t)used, "=%.*s",
             line < VALUE_MAX_BYTES ? (int)line : VALUE_MAX_BYTES, kept);
    return gl_arena_strdup(arena, gl_printable(text, printable, sizeof printable));
}

const char *gl_settings_kept(gl_arena *arena, const char *const *environment)
{
    const char *settings[SETTINGS_MAX];
    size_t count = 0;
    for (; *environment != NULL && count < SETTINGS_MAX; environment++) {
        size_t length = strcspn(*environment, "=");
        const char *kept =
            (*environment)[length] == '='
                ? gl_setting_kept(arena, *environment, length, *environment + length + 1)
                : NULL;
        if (kept != NULL)
            settings[count++] = kept;
    }
    /* cppcheck-suppress uninitvar ; as many as were counted */
    qsort(settings, count, sizeof *settings, gl_compare_texts);
    return gl_arena_join(arena, settings, count, "\n");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/nccl_line.h"

#include "calibrate/import/setting.h"
#include "common/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gl_nccl_algorithms[] = {
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat", "mixed"};
const char *const gl_nccl_protocols[] = {"ll", "ll128", "simple", "mixed"};

const char *gl_nccl_line_version(const char *text)
{
    static const char words[] = "NCCL version ";
    const char *version = text + strlen(words);
    return gl_starts_with(text, words) && isdigit((unsigned char)*version) ? version : NULL;
}

bool gl_nccl_line_setting(const char *text, gl_nccl_said_setting *setting)
{
    static const char long_form[] = " set by environment to ", short_form[] = " set to ";
    const char *found = strstr(text, long_form), *middle = long_form;
    if (found == NULL) {
        found = strstr(text, short_form);
        middle = short_form;
    }
    if (found == NULL || !gl_setting_is_nccl(text, (size_t)(found - text)))
        return false;
    const char *value = found + strlen(middle);
    size_t length = strlen(value);
    while (length > 0 && strchr(" .\r", value[length - 1]) != NULL)
        length--;
    *setting = (gl_nccl_said_setting){.name = text,
                                      .name_length = (size_t)(found - text),
                                      .value = value,
                                      .value_length = length,
                                      .by_environment = middle == long_form};
    return true;
}

/* Compares names regardless of case and '_'. */
static bool same_name(const char *text, size_t length, const char *name)
{
    size_t i = 0;
    for (; *name != '\0'; name++) {
        if (*name == '_')
            continue;
        while (i < length && text[i] == '_')
            i++;
        if (i == length || tolower((unsigned char)text[i]) != *name)
            return false;
        i++;
    }
    return i == length;
}

int gl_nccl_name_find(const char *text, size_t length, const char *const *names, int count)
{
    if (length > 0 && isdigit((unsigned char)text[0])) {
        long index = strtol(text, NULL, 10);
        return index < count ? (int)index : -1;
    }
    for (int i = 0; i < count; i++)
        if (same_name(text, length, names[i]))
            return i;
    return -1;
}

/* Which collective "AllReduce: " names; GL_COLLECTIVE_COUNT for none. */
static int named_collective(const char *text, const char *end)
{
    const char *colon = memchr(text, ':', (size_t)(end - text));
    if (colon == NULL)
        return GL_COLLECTIVE_COUNT;
    for (int i = 0; i < GL_COLLECTIVE_COUNT; i++)
        if (same_name(text, (size_t)(colon - text), gl_collective_name((gl_collective)i)))
            return i;
    return GL_COLLECTIVE_COUNT;
}

bool gl_nccl_line_choice(const char *text, gl_nccl_choice *choice)
{
    static const char middle[] = " Bytes -> Algo ", between[] = " proto ";
    const char *found = strstr(text, middle);
    if (found == NULL)
        return false;
    const char *number = found, *algorithm = found + strlen(middle);
    const char *protocol = strstr(found, between);
    while (number > text && isdigit((unsigned char)number[-1]))
        number--;
    *choice =
        (gl_nccl_choice){.collective = named_collective(text, found),
                         .size_bytes = strtod(number, NULL),
                         .algorithm_text = algorithm,
                         .algorithm = gl_nccl_name_find(algorithm, strcspn(algorithm, " ,"),
                                                        gl_nccl_algorithms, GL_NCCL_ALGORITHMS),
                         .protocol = -1};
    if (protocol != NULL) {
        protocol += strlen(between);
        choice->protocol = gl_nccl_name_find(protocol, strcspn(protocol, " ,"), gl_nccl_protocols,
                                             GL_NCCL_PROTOCOLS);
    }
    return true;
}

long gl_nccl_line_number(const char *text, const char *word, long missing)
{
    const char *found = strstr(text, word);
    char *end;
    if (found == NULL)
        return missing;
    found += strlen(word);
    long value = strtol(found, &end, 10);
    return end > found && value >= -1 && value <= 100000000 ? value : missing;
}

const char *gl_nccl_line_word(gl_arena *arena, const char *text, const char *ends)
{
    char word[64], printable[64];
    size_t length = strcspn(text, ends);
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), text);
    return gl_arena_strdup(arena, gl_printable(word, printable, sizeof printable));
}

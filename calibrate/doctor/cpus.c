/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/cpus.h"

#include <ctype.h>
#include <string.h>

enum { DIGITS_OF_GROUP = 8 };

static void add(gl_cpus *cpus, size_t cpu)
{
    cpus->bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

/* A decimal number below the maximum at *text; moves behind it. */
static bool read_number(const char **text, const char *end, size_t *number)
{
    const char *start = *text;
    *number = 0;
    while (*text < end && isdigit((unsigned char)**text) && *number < GL_CPUS_MAX)
        *number = *number * 10 + (size_t)(*(*text)++ - '0');
    return *text > start && *number < GL_CPUS_MAX;
}

static bool read_list(const char *text, const char *end, gl_cpus *cpus)
{
    *cpus = (gl_cpus){0};
    while (text < end) {
        size_t first, last;
        if (!read_number(&text, end, &first))
            return false;
        last = first;
        if (text < end && *text == '-') {
            text++;
            if (!read_number(&text, end, &last) || last < first)
                return false;
        }
        for (size_t cpu = first; cpu <= last; cpu++)
            add(cpus, cpu);
        if (text < end && (*text++ != ',' || text == end))
            return false;
    }
    return true;
}

static int hex_digit(char c)
{
    if (isdigit((unsigned char)c))
        return c - '0';
    return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* From the right: the last digit holds CPUs 0 to 3. */
static bool read_mask(const char *text, const char *end, gl_cpus *cpus)
{
    size_t cpu = 0, digits = 0;
    *cpus = (gl_cpus){0};
    while (end > text) {
        char c = *--end;
        if (c == ',') {
            if (digits != DIGITS_OF_GROUP || end == text)
                return false;
            digits = 0;
            continue;
        }
        int value = hex_digit(c);
        if (value < 0 || ++digits > DIGITS_OF_GROUP || cpu + 4 > GL_CPUS_MAX)
            return false;
        for (size_t bit = 0; bit < 4; bit++)
            if ((value >> bit & 1) != 0)
                add(cpus, cpu + bit);
        cpu += 4;
    }
    return true;
}

bool gl_cpus_parse(const char *text, size_t length, gl_cpus_form form, gl_cpus *cpus)
{
    gl_cpus mask;
    const char *end = text + length;
    if (length == 0)
        return false;
    if (form == GL_CPUS_MASK)
        return read_mask(text, end, cpus);
    bool list = read_list(text, end, cpus);
    if (form == GL_CPUS_LIST || !read_mask(text, end, &mask))
        return list;
    const char *comma = memchr(text, ',', length);
    if (!list || comma != NULL) { /* no CPU has a number of eight digits */
        *cpus = mask;
        return true;
    }
    /* NCCL writes whole bytes into masks: an odd number of digits is a list. */
    return length % 2 == 1 || (gl_cpus_count(cpus) == 1 && gl_cpus_count(&mask) == 1);
}

size_t gl_cpus_count(const gl_cpus *cpus)
{
    size_t count = 0;
    for (size_t i = 0; i < GL_CPUS_MAX / 64; i++)
        for (uint64_t bits = cpus->bits[i]; bits != 0; bits &= bits - 1)
            count++;
    return count;
}

bool gl_cpus_overlap(const gl_cpus *a, const gl_cpus *b)
{
    for (size_t i = 0; i < GL_CPUS_MAX / 64; i++)
        if ((a->bits[i] & b->bits[i]) != 0)
            return true;
    return false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/text.h"

#include "common/utf8.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 64, GUESSES_MAX = 4 };

/* Lower case without '-' and '_'; false when the text is too long to be a slip of a name. */
static bool normalise(const char *text, char out[NAME_MAX_BYTES], size_t *length)
{
    size_t n = 0;
    for (; *text != '\0'; text++) {
        if (*text == '-' || *text == '_')
            continue;
        if (n == NAME_MAX_BYTES)
            return false;
        out[n++] = (char)(*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text);
    }
    *length = n;
    return true;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance in which a swap of neighbours counts as one (optimal string alignment). */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][NAME_MAX_BYTES + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t cost = a[i - 1] != b[j - 1];
            now[j] = smaller(smaller(last[j], now[j - 1]) + 1, last[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[b_length];
}

const char *gl_nearest(const char *text, const char *const *candidates, size_t count)
{
    char wanted[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
    size_t wanted_length, length, best = NAME_MAX_BYTES;
    const char *nearest = NULL;
    if (!normalise(text, wanted, &wanted_length) || wanted_length == 0)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!normalise(candidates[i], name, &length))
            continue;
        size_t edits = distance(wanted, wanted_length, name, length);
        size_t longer = length > wanted_length ? length : wanted_length;
        if (edits < best && edits * 3 <= longer) {
            best = edits;
            nearest = candidates[i];
        }
    }
    return nearest;
}

/* ---- several guesses ---- */

/* A candidate and how many edits it is away. */
typedef struct guess {
    const char *name;
    size_t edits;
} guess;

/* Is the wanted word part of a name? One letter is part of nearly everything. */
static bool holds(const char *name, size_t length, const char *wanted, size_t wanted_length)
{
    if (wanted_length < 2)
        return false;
    for (size_t i = 0; i + wanted_length <= length; i++)
        if (memcmp(name + i, wanted, wanted_length) == 0)
            return true;
    return false;
}

/* Keeps the nearest, in the order of their edits; equal ones as they come. */
static void keep(guess guesses[GUESSES_MAX + 1], size_t *count, guess one)
{
    size_t at = *count;
    for (; at > 0 && guesses[at - 1].edits > one.edits; at--)
        guesses[at] = guesses[at - 1];
    guesses[at] = one;
    *count += *count < GUESSES_MAX;
}

/* Names that hold the word; only the nearest of them when one letter or so is missing. */
static size_t find_holders(const char *text, const char *const *candidates, size_t count,
                           guess guesses[GUESSES_MAX + 1])
{
    char wanted[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
    size_t wanted_length, length, found = 0;
    if (!normalise(text, wanted, &wanted_length))
        return 0;
    for (size_t i = 0; i < count; i++)
        if (normalise(candidates[i], name, &length) && holds(name, length, wanted, wanted_length))
            keep(guesses, &found, (guess){candidates[i], length - wanted_length});
    for (size_t i = 1; i < found; i++)
        if (guesses[0].edits * 3 <= wanted_length && guesses[i].edits > guesses[0].edits)
            return i;
    return found;
}

char *gl_guess(const char *text, const char *const *candidates, size_t count, char *out,
               size_t size)
{
    guess guesses[GUESSES_MAX + 1];
    size_t found = find_holders(text, candidates, count, guesses), used = 0;
    const char *nearest = gl_nearest(text, candidates, count);
    if (found == 0 && nearest != NULL)
        guesses[found++] = (guess){nearest, 0};
    out[0] = '\0';
    for (size_t i = 0; i < found; i++) {
        const char *before = i == 0 ? "; did you mean " : i + 1 < found ? ", " : " or ";
        /* What does not fit is left out whole, with room for the question mark. */
        if (used + strlen(before) + strlen(guesses[i].name) + sizeof "''?" > size)
            break;
        used += (size_t)snprintf(out + used, size - used, "%s'%s'", before, guesses[i].name);
    }
    if (used > 0)
        snprintf(out + used, size - used, "?");
    return out;
}

size_t gl_mark_length(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

bool gl_is_sqlite_head(const void *bytes, size_t length)
{
    static const char magic[GL_SQLITE_HEAD_BYTES] = "SQLite format 3";
    return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

const char *gl_did_you_mean(const char *found, const char *const *candidates, size_t count,
                            char *text, size_t size)
{
    if (gl_guess(found, candidates, count, text, size)[0] == '\0')
        snprintf(text, size, ";");
    return text;
}

const char *gl_list_names(const char *const *names, size_t count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *separator = i > 0 ? ", " : "";
        if (used + strlen(separator) + strlen(names[i]) + sizeof ", …" > size) {
            snprintf(text + used, size - used, "%s…", separator);
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", separator, names[i]);
    }
    return text;
}

bool gl_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool gl_ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), end = strlen(suffix);
    return length >= end && strcmp(text + length - end, suffix) == 0;
}

/* −1: these are not all digits. */
static int whole_number(const char *text, size_t digits)
{
    int value = 0;
    for (size_t i = 0; i < digits; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = 10 * value + (text[i] - '0');
    }
    return value;
}

bool gl_is_date(const char *text)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (strlen(text) != 10 || text[4] != '-' || text[7] != '-')
        return false;
    int year = whole_number(text, 4), month = whole_number(text + 5, 2);
    int day = whole_number(text + 8, 2);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return year >= 0 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* Control characters, and those that turn the direction of a whole line on a terminal. */
static bool is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7F && character < 0xA0) ||
           (character >= 0x2028 && character <= 0x202E) ||
           (character >= 0x2066 && character <= 0x2069);
}

char *gl_printable(const char *text, char *buffer, size_t size)
{
    static const char ellipsis[] = "…";
    size_t used = 0, cut = 0; /* cut: the longest prefix that leaves room for the ellipsis */
    if (size == 0)
        return buffer;
    while (*text != '\0') {
        uint32_t character;
        int valid;
        size_t length = gl_utf8_next(text, &character, &valid);
        bool plain = valid && !is_control(character);
        size_t needed = plain ? length : 1;
        if (used + needed >= size) {
            if (cut + sizeof ellipsis <= size) {
                memcpy(buffer + cut, ellipsis, sizeof ellipsis - 1);
                used = cut + sizeof ellipsis - 1;
            }
            break;
        }
        memcpy(buffer + used, plain ? text : "?", needed);
        used += needed;
        if (used + sizeof ellipsis <= size)
            cut = used;
        text += length;
    }
    buffer[used] = '\0';
    return buffer;
}

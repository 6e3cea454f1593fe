/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/prefix.h"

#include "common/text.h"

#include <ctype.h>
#include <string.h>

static void blank(char *from, const char *to)
{
    memset(from, ' ', (size_t)(to - from));
}

/* End of "[job,rank]<stream>:" at `text`, or NULL when there is no such tag. */
static const char *end_of_tag(const char *text)
{
    static const char *const streams[] = {"<stdout>", "<stderr>", "<stddiag>"};
    const char *c = text + 1, *comma = NULL;
    while (isalnum((unsigned char)*c) || (*c != '\0' && strchr("._@-,/", *c) != NULL)) {
        if (*c == ',')
            comma = c;
        c++;
    }
    if (*c != ']' || comma == NULL || !isdigit((unsigned char)comma[1]) || c - text > 200)
        return NULL;
    c++;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        if (strncmp(c, streams[i], strlen(streams[i])) == 0)
            c += strlen(streams[i]);
    return *c == ':' ? c + 1 : c;
}

/* End of a terminal escape such as "ESC[1;31m", or "ESC]0;title BEL" that sets a window's title. */
static const char *end_of_escape(const char *text)
{
    const char *c = text + 1;
    if (*c == ']') {
        for (c++; *c != '\0' && *c != '\a' && *c != '\x1b';)
            c++;
        c += *c == '\x1b' && c[1] != '\0';
    } else if (*c == '[') {
        for (c++; *c != '\0' && !(*c >= '@' && *c <= '~');)
            c++;
    }
    return *c != '\0' ? c + 1 : c;
}

/* Takes escapes out and makes a blank of each no-break space, which web pages paste: several blanks
 * in the place of one would pull the words of "Avg bus bandwidth" apart. */
void gl_prefix_strip_escapes(char *line)
{
    char *to = line;
    for (const char *from = line; *from != '\0';) {
        if (*from == '\x1b') {
            from = end_of_escape(from);
        } else if (strncmp(from, "\xc2\xa0", 2) == 0) {
            *to++ = ' ';
            from += 2;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* The character that an escape of JSON stands for, among those that logs need; moves behind it. */
static char unescape(const char **from)
{
    static const struct {
        const char *escape;
        char character;
    } known[] = {{"\\u003c", '<'}, {"\\u003e", '>'}, {"\\u0026", '&'}, {"\\u001b", '\x1b'},
                 {"\\t", '\t'},    {"\\\"", '"'},    {"\\\\", '\\'},   {"\\r", '\r'}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].escape);
        if (strncmp(*from, known[i].escape, length) == 0) {
            *from += length;
            return known[i].character;
        }
    }
    return *(*from)++;
}

bool gl_prefix_unwrap_json(char *line)
{
    static const char begin[] = "{\"log\":\"";
    if (strncmp(line, begin, sizeof begin - 1) != 0)
        return false;
    char *to = line;
    for (const char *from = line + sizeof begin - 1;
         *from != '\0' && *from != '"' && strncmp(from, "\\n\"", 3) != 0;)
        *to++ = unescape(&from);
    *to = '\0';
    return true;
}

/* A character that stands for a blank: its length, 0 for others. A '|' by itself separates cells of
 * a markdown table; a byte order mark begins a file. */
static size_t blank_length(const char *line, const char *c)
{
    if (*c == '\t' || *c == '\r')
        return 1;
    if (*c == '|' && (c == line || c[-1] == ' ') && (c[1] == ' ' || c[1] == '\0'))
        return 1;
    return gl_mark_length(c, strnlen(c, 3));
}

void gl_prefix_clean(char *line)
{
    if (strpbrk(line, "\x1b\xc2") != NULL)
        gl_prefix_strip_escapes(line);
    for (char *c = line; *c != '\0';) {
        const char *end = *c == '[' ? end_of_tag(c) : NULL;
        if (end == NULL)
            end = c + blank_length(line, c);
        if (end == c) {
            c++;
            continue;
        }
        blank(c, end);
        c += end - c;
    }
    for (char *c = line; *c == ' ' || *c == '#' || *c == '>' || *c == '|'; c++)
        *c = ' ';
}

size_t gl_prefix_host_length(const char *word, size_t length)
{
    for (int colon = 0; colon < 2; colon++) {
        size_t end = length;
        while (length > 0 && isdigit((unsigned char)word[length - 1]))
            length--;
        if (length == end || length == 0 || word[length - 1] != ':')
            return 0;
        length--;
    }
    return length;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

size_t gl_prefix_blanks_back(const char *line, size_t at)
{
    while (at > 0 && is_blank(line[at - 1]))
        at--;
    return at;
}

size_t gl_prefix_word_back(const char *line, size_t at)
{
    while (at > 0 && !is_blank(line[at - 1]))
        at--;
    return at;
}

size_t gl_prefix_host_end(const char *line, size_t mark)
{
    enum { WORDS_OF_SOURCE = 3 };
    size_t at = gl_prefix_blanks_back(line, mark);
    for (int i = 0; i < WORDS_OF_SOURCE && at > 0 && line[at - 1] != ']'; i++)
        at = gl_prefix_blanks_back(line, gl_prefix_word_back(line, at));
    if (at == 0 || line[at - 1] != ']')
        return 0;
    while (at > 0 && line[at - 1] != '[')
        at--;
    return at > 0 ? gl_prefix_blanks_back(line, at - 1) : 0;
}

void gl_words_split(const char *line, size_t length, gl_words *words)
{
    const char *end = line + length;
    words->count = 0;
    words->more = false;
    while (line < end) {
        while (line < end && *line == ' ')
            line++;
        const char *start = line;
        while (line < end && *line != ' ')
            line++;
        if (line == start)
            break;
        if (words->count == GL_WORDS_MAX) {
            words->more = true;
            break;
        }
        words->items[words->count].text = start;
        words->items[words->count++].length = (size_t)(line - start);
    }
}

bool gl_word_is(const gl_words *words, size_t index, const char *text)
{
    return index < words->count && words->items[index].length == strlen(text) &&
           memcmp(words->items[index].text, text, words->items[index].length) == 0;
}

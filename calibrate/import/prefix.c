/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/prefix.h"

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

/* End of a terminal escape such as "ESC[1;31m". */
static const char *end_of_escape(const char *text)
{
    const char *c = text + 1;
    if (*c == '[')
        for (c++; *c != '\0' && !(*c >= '@' && *c <= '~');)
            c++;
    return *c != '\0' ? c + 1 : c;
}

void gl_prefix_clean(char *line)
{
    for (char *c = line; *c != '\0';) {
        const char *end = c + 1;
        if (*c == '\x1b')
            end = end_of_escape(c);
        else if (*c == '[')
            end = end_of_tag(c);
        else if (*c != '\t' && *c != '\r')
            end = NULL;
        if (end == NULL) {
            c++;
            continue;
        }
        blank(c, end);
        c += end - c;
    }
    for (char *c = line; *c == ' ' || *c == '#' || *c == '>' || *c == '|'; c++)
        *c = ' ';
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

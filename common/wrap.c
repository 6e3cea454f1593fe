/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/wrap.h"

#include "common/utf8.h"

#include <string.h>

/* A line that ends at byte `length`; what follows begins at `next`. */
static void take(const char **rest, gl_line *line, size_t length, size_t width, const char *next)
{
    *line = (gl_line){*rest, length, width};
    *rest = next;
}

bool gl_next_line(const char **rest, size_t width, gl_line *line)
{
    const char *start = *rest, *c = start;
    const char *blank = NULL; /* the last one at which the line may be broken */
    size_t columns = 0, columns_at_blank = 0;
    if (*c == '\0')
        return false;
    while (*c != '\0' && *c != '\n') {
        uint32_t character;
        size_t length = gl_utf8_next(c, &character, NULL);
        size_t more = (size_t)gl_utf8_char_width(character);
        if (*c == ' ') {
            blank = c;
            columns_at_blank = columns;
        }
        if (columns + more > width && c > start) {
            if (blank == NULL || blank == start) {
                take(rest, line, (size_t)(c - start), columns, c);
                return true;
            }
            size_t end = (size_t)(blank - start);
            for (; end > 1 && start[end - 1] == ' '; end--)
                columns_at_blank--;
            take(rest, line, end, columns_at_blank, blank + strspn(blank, " "));
            return true;
        }
        columns += more;
        c += length;
    }
    take(rest, line, (size_t)(c - start), columns, *c == '\n' ? c + 1 : c);
    return true;
}

size_t gl_longest_word(const char *text)
{
    size_t longest = 0, word = 0;
    while (*text != '\0') {
        uint32_t character;
        text += gl_utf8_next(text, &character, NULL);
        word = character == ' ' || character == '\n' ? 0
                                                     : word + (size_t)gl_utf8_char_width(character);
        if (word > longest)
            longest = word;
    }
    return longest;
}

void gl_put_blanks(gl_output *out, size_t count)
{
    while (count-- > 0)
        gl_output_write(out, " ", 1);
}

static size_t room_beside(size_t indent, size_t width)
{
    enum { NARROWEST = 20 };
    return width > indent + NARROWEST ? width - indent : NARROWEST;
}

/* Prints the next line, indented unless it is the first. False when nothing is left. */
static bool put_next(gl_output *out, const char **text, size_t indent, size_t room, bool first)
{
    gl_line line;
    if (!gl_next_line(text, room, &line))
        return false;
    if (!first && line.length > 0)
        gl_put_blanks(out, indent);
    gl_output_write(out, line.text, line.length);
    gl_output_write(out, "\n", 1);
    return true;
}

void gl_put_wrapped(gl_output *out, const char *text, size_t indent, size_t width)
{
    size_t room = room_beside(indent, width);
    bool first = true;
    while (put_next(out, &text, indent, room, first))
        first = false;
    if (first)
        gl_output_write(out, "\n", 1);
}

/* Bytes before the text of a line; ASCII, so as many columns. */
static size_t hanging(const char *line, size_t length)
{
    enum { LABEL_MAX = 20 };
    size_t blanks = strspn(line, " ");
    if (blanks > 0)
        return blanks + 2 < length && line[blanks + 1] == ' ' ? blanks + 2 : blanks;
    for (size_t i = 1; i < LABEL_MAX && i + 2 < length && (unsigned char)line[i] < 0x80; i++)
        if (line[i] == ' ' && line[i + 1] == ' ')
            return i + strspn(line + i, " ");
    return 0;
}

void gl_put_hanging(gl_output *out, const char *text, size_t width)
{
    while (*text != '\0') {
        const char *end = text + strcspn(text, "\n");
        size_t indent = hanging(text, (size_t)(end - text)), room = room_beside(indent, width);
        gl_output_write(out, text, indent);
        text += indent;
        bool first = true;
        do {
            if (!put_next(out, &text, indent, room, first))
                gl_output_write(out, "\n", 1);
            first = false;
        } while (text < end);
        text = end + (*end == '\n');
    }
}

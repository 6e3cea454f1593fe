/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/yaml_slip.h"

#include <stdbool.h>
#include <string.h>

typedef struct text_line {
    const char *start;
    size_t length; /* without the line's end */
    size_t number; /* from 0 on */
} text_line;

static text_line line_at(const char *text, size_t length, size_t number)
{
    const char *start = text, *end = text + length;
    for (size_t i = 0; i < number && start < end; i++) {
        const char *next = memchr(start, '\n', (size_t)(end - start));
        start = next != NULL ? next + 1 : end;
    }
    const char *stop = start < end ? memchr(start, '\n', (size_t)(end - start)) : NULL;
    return (text_line){start, (size_t)((stop != NULL ? stop : end) - start), number};
}

static size_t indent_of(const text_line *line)
{
    size_t blanks = 0;
    while (blanks < line->length && (line->start[blanks] == ' ' || line->start[blanks] == '\t'))
        blanks++;
    return blanks;
}

/* The nearest line above, in `text`, that holds more than a comment; false: there is none. */
static bool line_above(const char *text, const text_line *line, text_line *above)
{
    *above = *line;
    while (above->start > text && above->number > 0) {
        const char *end = above->start - 1, *start = end;
        while (start > text && start[-1] != '\n')
            start--;
        *above = (text_line){start, (size_t)(end - start), above->number - 1};
        size_t blanks = indent_of(above);
        if (blanks < above->length && strchr("#\r", above->start[blanks]) == NULL)
            return true;
    }
    return false;
}

static bool is_of_key(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

/* "tp:4" where a line begins, or after '{' or ','; 0: no colon lacks its space. */
static size_t find_slip(const text_line *line, const char **slip)
{
    bool begins = true;
    for (size_t i = 0; i < line->length;) {
        char c = line->start[i];
        if (!begins || !is_of_key(c) ||
            (c == '-' && i + 1 < line->length && line->start[i + 1] == ' ')) {
            begins = c == '{' || c == ',' || (begins && strchr(" \t-", c) != NULL);
            i++;
            continue;
        }
        size_t end = i;
        while (end < line->length && is_of_key(line->start[end]))
            end++;
        size_t value = end + 1;
        while (end < line->length && line->start[end] == ':' && value < line->length &&
               strchr(" \t\r,}/:", line->start[value]) == NULL)
            value++;
        if (value > end + 1) {
            *slip = line->start + i;
            return value - i;
        }
        begins = false;
        i = end;
    }
    return 0;
}

/* Lines that lack their space are read as one text: the first of them is the culprit. */
static const char *space_hint(const char *text, const text_line *line, gl_arena *arena)
{
    const char *slip, *found = NULL;
    size_t length = 0, number = line->number, other;
    text_line at = *line, above;
    for (bool more = true; more; at = above) {
        other = find_slip(&at, &slip);
        if (other > 0) {
            found = slip;
            length = other;
            number = at.number;
        }
        more = (other > 0 || at.number == line->number) && line_above(text, &at, &above);
    }
    if (found == NULL)
        return NULL;
    const char *shown = gl_arena_printf(arena, "%.*s", length < 40 ? (int)length : 40, found);
    return number == line->number
               ? gl_arena_printf(arena, "; '%s' lacks a space after its colon", shown)
               : gl_arena_printf(arena, "; '%s' in line %zu lacks a space after its colon", shown,
                                 number + 1);
}

/* Does a colon with its space stand before this column? */
static bool has_key_before(const text_line *line, size_t column)
{
    for (size_t i = 0; i + 1 < line->length && i < column; i++)
        if (line->start[i] == ':' && line->start[i + 1] == ' ')
            return true;
    return false;
}

static const char *indent_hint(const char *text, const text_line *line, gl_arena *arena)
{
    text_line above;
    if (!line_above(text, line, &above))
        return "";
    size_t here = indent_of(line), before = indent_of(&above);
    const text_line *with_tab = memchr(line->start, '\t', here) != NULL     ? line
                                : memchr(above.start, '\t', before) != NULL ? &above
                                                                            : NULL;
    if (with_tab != NULL)
        return gl_arena_printf(arena, "; line %zu begins with a tab, and YAML wants spaces",
                               with_tab->number + 1);
    if (here == before)
        return "";
    return gl_arena_printf(arena,
                           "; this line begins with %zu space%s, line %zu with %zu: keys of one "
                           "level begin in the same column",
                           here, here == 1 ? "" : "s", above.number + 1, before);
}

const char *gl_yaml_slip(const char *text, size_t length, const char *problem, size_t line,
                         size_t column, gl_arena *arena)
{
    static const char *const of_layout[] = {
        "mapping values are not allowed in this context", "could not find expected ':'",
        "did not find expected key", "did not find expected '-' indicator",
        "block sequence entries are not allowed in this context"};
    const text_line at = line_at(text, length, line);
    bool concerned = false;
    for (size_t i = 0; i < sizeof of_layout / sizeof of_layout[0]; i++)
        concerned = concerned || strcmp(problem, of_layout[i]) == 0;
    if (!concerned)
        return "";
    const char *hint = space_hint(text, &at, arena);
    if (hint != NULL)
        return hint;
    if (strcmp(problem, of_layout[0]) == 0 && has_key_before(&at, column))
        return "; a text that holds ': ' wants quotes";
    return indent_hint(text, &at, arena);
}

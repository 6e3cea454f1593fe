/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/utf8.h"

/* Length and smallest character by the lead byte; 0 = no lead byte. */
static size_t lead(unsigned char byte, uint32_t *bits, uint32_t *smallest)
{
    if (byte < 0x80) {
        *bits = byte;
        *smallest = 0;
        return 1;
    }
    if (byte >= 0xC2 && byte < 0xE0) {
        *bits = byte & 0x1FU;
        *smallest = 0x80;
        return 2;
    }
    if (byte >= 0xE0 && byte < 0xF0) {
        *bits = byte & 0x0FU;
        *smallest = 0x800;
        return 3;
    }
    if (byte >= 0xF0 && byte < 0xF5) {
        *bits = byte & 0x07U;
        *smallest = 0x10000;
        return 4;
    }
    return 0;
}

static size_t invalid(uint32_t *character, int *valid)
{
    *character = GL_UTF8_INVALID;
    if (valid != NULL)
        *valid = 0;
    return 1;
}

size_t gl_utf8_next(const char *text, uint32_t *character, int *valid)
{
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t value, smallest;
    size_t length = lead(bytes[0], &value, &smallest);
    if (length == 0)
        return invalid(character, valid);
    for (size_t i = 1; i < length; i++) {
        /* The terminating NUL is no continuation byte, so this never reads past the end. */
        if ((bytes[i] & 0xC0U) != 0x80)
            return invalid(character, valid);
        value = value << 6 | (bytes[i] & 0x3FU);
    }
    if (value < smallest || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        return invalid(character, valid);
    *character = value;
    if (valid != NULL)
        *valid = 1;
    return length;
}

typedef struct range {
    uint32_t first, last;
} range;

/* Marks that stand on the character before them, and characters that show nothing. */
static const range zero_width[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F}, {0x093C, 0x093C},
    {0x0941, 0x0948}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
    {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2069}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};

/* East Asian wide and fullwidth characters, and emoji. */
static const range double_width[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},  {0x2E80, 0x303E}, {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},  {0xA960, 0xA97F}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},  {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
    {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

static int in_ranges(uint32_t character, const range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return 1;
    return 0;
}

int gl_utf8_char_width(uint32_t character)
{
    if (character < 0x300)
        return 1;
    if (in_ranges(character, zero_width, sizeof zero_width / sizeof zero_width[0]))
        return 0;
    return in_ranges(character, double_width, sizeof double_width / sizeof double_width[0]) ? 2 : 1;
}

size_t gl_utf8_width(const char *text)
{
    size_t width = 0;
    while (*text != '\0') {
        uint32_t character;
        text += gl_utf8_next(text, &character, NULL);
        width += (size_t)gl_utf8_char_width(character);
    }
    return width;
}

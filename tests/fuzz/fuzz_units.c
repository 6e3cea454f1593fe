/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text through the unit parsers: they answer with a finite value or a message. */
#include "common/units.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
    if (!condition)
        abort();
}

/* What was refused is explained in one line. */
static void check_message(const gl_error *err)
{
    check(err->status == GL_ERROR_INPUT && err->message[0] != '\0');
    check(strchr(err->message, '\n') == NULL);
}

static void check_quantity(const char *text, gl_dimension dimension)
{
    double value, again;
    gl_error err = {0};
    char printed[64];
    if (!gl_parse_quantity(text, dimension, &value, &err)) {
        check_message(&err);
        return;
    }
    check(isfinite(value));
    gl_format_quantity(value, dimension, printed, sizeof printed);
    check(printed[0] != '\0');
    gl_format_double(value, printed, sizeof printed);
    check(gl_parse_quantity(printed, GL_NUMBER, &again, NULL) && again == value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (int i = GL_NUMBER; i <= GL_USD_PER_KWH; i++)
        check_quantity(text, (gl_dimension)i);
    gl_error err = {0};
    long long whole;
    double size_bytes;
    if (!gl_parse_integer(text, &whole, &err))
        check_message(&err);
    if (!gl_parse_size(text, &size_bytes, &err))
        check_message(&err);
    free(text);
    return 0;
}

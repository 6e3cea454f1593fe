/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/units.h"

#include "common/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FOUND_BYTES = 64, DIGITS_MAX = 128, EXPONENT_MAX = 99999, UNITS_MAX = 128 };

/*
 * value = number × 10^decimal × factor. The power of ten is added to the exponent of the decimal
 * text, so that "3.5 us" is exactly the double 3.5e-6; the factors are small or powers of two.
 */
typedef struct unit {
    const char *name;
    gl_dimension dimension;
    int decimal;
    double factor;
} unit;

#define KIBI 1024.0
#define MEBI (KIBI * KIBI)
#define GIBI (KIBI * MEBI)
#define TEBI (KIBI * GIBI)
#define PEBI (KIBI * TEBI)
#define BIT  0.125

static const unit units[] = {
    {"B", GL_BYTES, 0, 1},
    {"kB", GL_BYTES, 3, 1},
    {"MB", GL_BYTES, 6, 1},
    {"GB", GL_BYTES, 9, 1},
    {"TB", GL_BYTES, 12, 1},
    {"PB", GL_BYTES, 15, 1},
    {"KiB", GL_BYTES, 0, KIBI},
    {"MiB", GL_BYTES, 0, MEBI},
    {"GiB", GL_BYTES, 0, GIBI},
    {"TiB", GL_BYTES, 0, TEBI},
    {"PiB", GL_BYTES, 0, PEBI},
    {"B/s", GL_BYTES_PER_S, 0, 1},
    {"kB/s", GL_BYTES_PER_S, 3, 1},
    {"MB/s", GL_BYTES_PER_S, 6, 1},
    {"GB/s", GL_BYTES_PER_S, 9, 1},
    {"TB/s", GL_BYTES_PER_S, 12, 1},
    {"PB/s", GL_BYTES_PER_S, 15, 1},
    {"KiB/s", GL_BYTES_PER_S, 0, KIBI},
    {"MiB/s", GL_BYTES_PER_S, 0, MEBI},
    {"GiB/s", GL_BYTES_PER_S, 0, GIBI},
    {"TiB/s", GL_BYTES_PER_S, 0, TEBI},
    {"bit/s", GL_BYTES_PER_S, 0, BIT},
    {"kbit/s", GL_BYTES_PER_S, 3, BIT},
    {"Mbit/s", GL_BYTES_PER_S, 6, BIT},
    {"Gbit/s", GL_BYTES_PER_S, 9, BIT},
    {"Tbit/s", GL_BYTES_PER_S, 12, BIT},
    {"kb/s", GL_BYTES_PER_S, 3, BIT},
    {"Mb/s", GL_BYTES_PER_S, 6, BIT},
    {"Gb/s", GL_BYTES_PER_S, 9, BIT},
    {"Tb/s", GL_BYTES_PER_S, 12, BIT},
    {"ns", GL_SECONDS, -9, 1},
    {"us", GL_SECONDS, -6, 1},
    {"\xC2\xB5s", GL_SECONDS, -6, 1}, /* micro sign */
    {"\xCE\xBCs", GL_SECONDS, -6, 1}, /* Greek mu */
    {"ms", GL_SECONDS, -3, 1},
    {"s", GL_SECONDS, 0, 1},
    {"min", GL_SECONDS, 0, 60},
    {"h", GL_SECONDS, 0, 3600},
    {"d", GL_SECONDS, 0, 86400},
    {"%", GL_FRACTION, -2, 1},
    {"FLOP/s", GL_FLOP_PER_S, 0, 1},
    {"MFLOP/s", GL_FLOP_PER_S, 6, 1},
    {"GFLOP/s", GL_FLOP_PER_S, 9, 1},
    {"TFLOP/s", GL_FLOP_PER_S, 12, 1},
    {"PFLOP/s", GL_FLOP_PER_S, 15, 1},
    {"EFLOP/s", GL_FLOP_PER_S, 18, 1},
    {"FLOPS", GL_FLOP_PER_S, 0, 1},
    {"MFLOPS", GL_FLOP_PER_S, 6, 1},
    {"GFLOPS", GL_FLOP_PER_S, 9, 1},
    {"TFLOPS", GL_FLOP_PER_S, 12, 1},
    {"PFLOPS", GL_FLOP_PER_S, 15, 1},
    {"EFLOPS", GL_FLOP_PER_S, 18, 1},
    {"W", GL_WATTS, 0, 1},
    {"kW", GL_WATTS, 3, 1},
    {"MW", GL_WATTS, 6, 1},
    {"USD/kWh", GL_USD_PER_KWH, 0, 1},
    {"m", GL_METRES, 0, 1},
    {"km", GL_METRES, 3, 1},
};

enum { UNIT_COUNT = sizeof units / sizeof units[0] };

static const struct {
    const char *noun;    /* what such a quantity is */
    const char *words;   /* gl_dimension_name */
    const char *allowed; /* its units, for messages */
    bool bare;           /* may stand without a unit */
} dimensions[] = {
    [GL_NUMBER] = {"a plain number", "a number, such as 1e9", "none", true},
    [GL_BYTES] = {"an amount of bytes", "bytes, such as 25 MiB",
                  "B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB", false},
    [GL_BYTES_PER_S] = {"a bandwidth", "bytes or bits per second, such as 450 GB/s or 400 Gbit/s",
                        "B/s, kB/s, MB/s, GB/s, TB/s, MiB/s, GiB/s (bytes) and "
                        "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s (bits)",
                        false},
    [GL_SECONDS] = {"a time", "seconds, such as 3.5 us", "ns, us, ms, s, min, h, d", false},
    [GL_FRACTION] = {"a fraction", "a fraction, such as 10% or 0.1", "%", true},
    [GL_FLOP_PER_S] = {"a compute rate", "operations per second, such as 989 TFLOP/s",
                       "MFLOP/s, GFLOP/s, TFLOP/s, PFLOP/s, EFLOP/s", false},
    [GL_WATTS] = {"a power", "watts, such as 700 W", "W, kW, MW", false},
    [GL_USD_PER_KWH] = {"a price of energy", "US dollars per kilowatt-hour, such as 0.08 USD/kWh",
                        "USD/kWh", false},
    [GL_METRES] = {"a length", "metres, such as 30 m", "m, km", false},
};

const char *gl_dimension_name(gl_dimension dimension)
{
    assert((size_t)dimension < sizeof dimensions / sizeof dimensions[0]);
    return dimensions[dimension].words;
}

/* A decimal number inside a text: mantissa and exponent apart. */
typedef struct number {
    const char *mantissa; /* sign, digits, point */
    size_t length;
    int exponent;
    bool zero;     /* all digits are 0 */
    bool integral; /* neither point nor exponent */
} number;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *skip_blanks(const char *text)
{
    while (is_blank(*text))
        text++;
    return text;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads an exponent if a whole one stands here; the E of a unit ("EFLOP/s") is none. */
static const char *scan_exponent(const char *text, number *found)
{
    if (*text != 'e' && *text != 'E')
        return text;
    const char *c = text + 1;
    bool negative = *c == '-';
    if (*c == '-' || *c == '+')
        c++;
    if (!is_digit(*c))
        return text;
    int exponent = 0;
    for (; is_digit(*c); c++)
        if (exponent < EXPONENT_MAX)
            exponent = exponent * 10 + (*c - '0');
    found->exponent = negative ? -exponent : exponent;
    found->integral = false;
    return c;
}

/* Reads a number; returns what follows it, or NULL when there is none. */
static const char *scan_number(const char *text, number *found)
{
    *found = (number){.mantissa = text, .zero = true, .integral = true};
    size_t digits = 0;
    const char *c = text;
    if (*c == '-' || *c == '+')
        c++;
    for (; is_digit(*c) || (*c == '.' && found->integral); c++) {
        if (*c == '.') {
            found->integral = false;
            continue;
        }
        digits++;
        found->zero = found->zero && *c == '0';
    }
    if (digits == 0)
        return NULL;
    found->length = (size_t)(c - text);
    return scan_exponent(c, found);
}

/* The double nearest to number × 10^decimal × factor; false when it does not fit. */
static bool evaluate(const number *found, int decimal, double factor, double *value)
{
    char text[DIGITS_MAX + 16];
    if (found->length > DIGITS_MAX)
        return false;
    snprintf(text, sizeof text, "%.*se%d", (int)found->length, found->mantissa,
             found->exponent + decimal);
    double result = strtod(text, NULL) * factor;
    if (!isfinite(result) || (result == 0.0 && !found->zero))
        return false;
    *value = result;
    return true;
}

static bool fail_range(const char *text, gl_error *err)
{
    char found[FOUND_BYTES];
    return gl_fail(err, GL_ERROR_INPUT, "'%s' is too large, too small or too long a number",
                   gl_printable(text, found, sizeof found));
}

static bool fail_no_number(const char *text, gl_dimension dimension, gl_error *err)
{
    char found[FOUND_BYTES];
    if (*skip_blanks(text) == '\0')
        return gl_fail(err, GL_ERROR_INPUT, "empty; needed: %s", gl_dimension_name(dimension));
    return gl_fail(err, GL_ERROR_INPUT,
                   "'%s' does not start with a finite decimal number; needed: %s",
                   gl_printable(text, found, sizeof found), gl_dimension_name(dimension));
}

/* Names what follows a number when it looks like a notation that is not read here. */
static const char *foreign_notation(const number *found, const char *rest)
{
    if ((*rest == ',' || *rest == '_' || *rest == '\'') && is_digit(rest[1]))
        return "thousands separators and decimal commas are not allowed: digits and one '.' only";
    if ((*rest == 'x' || *rest == 'X') && found->zero && rest > found->mantissa)
        return "hexadecimal is not allowed: decimal digits only";
    return NULL;
}

static const unit *find_unit(const char *name, size_t length, gl_dimension dimension)
{
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (units[i].dimension == dimension && strlen(units[i].name) == length &&
            memcmp(units[i].name, name, length) == 0)
            return &units[i];
    return NULL;
}

static const unit *find_anywhere(const char *name)
{
    const unit *found = NULL;
    for (size_t i = 0; i < UNIT_COUNT && found == NULL; i++)
        found = strcmp(units[i].name, name) == 0 ? &units[i] : NULL;
    return found;
}

/* "GBit/s" does, whatever the case of its letters. */
static bool spells_bit(const char *name)
{
    for (; *name != '\0'; name++)
        if (strncasecmp(name, "bit", 3) == 0)
            return true;
    return false;
}

/* The likely unit. Letter case does not count, but a bit is never suggested for a byte, nor a byte
 * for a bit. */
static const char *nearest_unit(const char *name, gl_dimension dimension)
{
    const char *candidates[UNITS_MAX];
    size_t count = 0;
    bool spelt = spells_bit(name);
    bool says_bits = spelt || strchr(name, 'b') != NULL;
    bool says_bytes = !spelt && strchr(name, 'B') != NULL;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        bool bits = strchr(units[i].name, 'b') != NULL;
        bool bytes = strchr(units[i].name, 'B') != NULL;
        if (units[i].dimension != dimension || (bits && says_bytes) || (bytes && says_bits))
            continue;
        candidates[count++] = units[i].name;
    }
    return gl_nearest(name, candidates, count);
}

/* Powers of ten that a letter behind a count stands for; 0: it is none. */
static int count_exponent(const char *name)
{
    static const struct {
        const char *name;
        int exponent;
    } letters[] = {{"k", 3}, {"K", 3}, {"M", 6}, {"G", 9}, {"B", 9}, {"T", 12}};
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (strcmp(name, letters[i].name) == 0)
            return letters[i].exponent;
    return 0;
}

/* How what follows a plain number is written here: 2:1 is 2, 15T is 15e12. Fields that are thought
 * of as ratios are at least 1, whichever way round they are said. */
static bool fail_plain(const number *found, const char *name, gl_error *err)
{
    number second;
    int length = (int)found->length, exponent = count_exponent(name);
    const char *end = name[0] == ':' ? scan_number(skip_blanks(name + 1), &second) : NULL;
    if (end != NULL && *end == '\0' && second.integral && !second.zero && found->integral &&
        !found->zero) {
        double upper = strtod(found->mantissa, NULL), lower = strtod(second.mantissa, NULL);
        return gl_fail(err, GL_ERROR_INPUT,
                       "'%.*s%.30s' is a ratio, and a plain number is needed: write %.6g for %g:%g",
                       length < 30 ? length : 30, found->mantissa, name,
                       fmax(upper, lower) / fmin(upper, lower), fmax(upper, lower),
                       fmin(upper, lower));
    }
    if (exponent > 0 && length < 30)
        return gl_fail(err, GL_ERROR_INPUT,
                       "'%s' after the number: a plain number takes no unit; write %.*se%d", name,
                       length, found->mantissa, found->exponent + exponent);
    return gl_fail(err, GL_ERROR_INPUT, "'%s' after the number: a plain number takes no unit",
                   name);
}

static bool fail_unit(const char *name, gl_dimension dimension, gl_error *err)
{
    const unit *other = find_anywhere(name);
    if (other != NULL)
        return gl_fail(err, GL_ERROR_INPUT, "'%s' measures %s, not %s; needed: %s", name,
                       dimensions[other->dimension].noun, dimensions[dimension].noun,
                       gl_dimension_name(dimension));
    if (dimension == GL_BYTES && spells_bit(name))
        return gl_fail(err, GL_ERROR_INPUT,
                       "'%s' counts bits; bytes are written with 'B'; allowed: %s", name,
                       dimensions[dimension].allowed);
    if (dimension == GL_BYTES && strchr(name, 'b') != NULL)
        return gl_fail(err, GL_ERROR_INPUT,
                       "'%s': a small 'b' is a bit; bytes are written with 'B'; allowed: %s", name,
                       dimensions[dimension].allowed);
    const char *nearest = nearest_unit(name, dimension);
    if (nearest != NULL)
        return gl_fail(err, GL_ERROR_INPUT,
                       "unknown unit '%s' for %s; did you mean '%s'? allowed: %s", name,
                       dimensions[dimension].noun, nearest, dimensions[dimension].allowed);
    return gl_fail(err, GL_ERROR_INPUT, "unknown unit '%s' for %s; allowed: %s", name,
                   dimensions[dimension].noun, dimensions[dimension].allowed);
}

static bool fail_no_unit(const char *text, gl_dimension dimension, gl_error *err)
{
    char found[FOUND_BYTES];
    return gl_fail(err, GL_ERROR_INPUT, "'%s' has no unit; needed: %s",
                   gl_printable(text, found, sizeof found), gl_dimension_name(dimension));
}

/* A whole text taken apart. */
typedef struct parts {
    number number;
    const char *unit;
    size_t unit_length; /* 0 = no unit */
} parts;

static bool split(const char *text, gl_dimension dimension, parts *found, gl_error *err)
{
    const char *rest = scan_number(skip_blanks(text), &found->number);
    if (rest == NULL)
        return fail_no_number(text, dimension, err);
    const char *notation = foreign_notation(&found->number, rest);
    char shown[FOUND_BYTES];
    if (notation != NULL)
        return gl_fail(err, GL_ERROR_INPUT, "'%s': %s", gl_printable(text, shown, sizeof shown),
                       notation);
    found->unit = skip_blanks(rest);
    found->unit_length = strlen(found->unit);
    while (found->unit_length > 0 && is_blank(found->unit[found->unit_length - 1]))
        found->unit_length--;
    return true;
}

bool gl_parse_quantity(const char *text, gl_dimension dimension, double *value, gl_error *err)
{
    static const unit none = {"", GL_NUMBER, 0, 1};
    parts found = {0};
    if (!split(text, dimension, &found, err))
        return false;
    if (found.unit_length == 0 && !dimensions[dimension].bare)
        return fail_no_unit(text, dimension, err);
    const unit *chosen = &none;
    if (found.unit_length > 0)
        chosen = find_unit(found.unit, found.unit_length, dimension);
    if (chosen == NULL) {
        char name[FOUND_BYTES];
        size_t room = found.unit_length + 1 < sizeof name ? found.unit_length + 1 : sizeof name;
        gl_printable(found.unit, name, room);
        return dimension == GL_NUMBER ? fail_plain(&found.number, name, err)
                                      : fail_unit(name, dimension, err);
    }
    return evaluate(&found.number, chosen->decimal, chosen->factor, value) || fail_range(text, err);
}

static bool fail_integer(const char *text, gl_error *err)
{
    char found[FOUND_BYTES];
    return gl_fail(err, GL_ERROR_INPUT, "'%s' is not a whole number, such as 4096",
                   gl_printable(text, found, sizeof found));
}

bool gl_parse_integer(const char *text, long long *value, gl_error *err)
{
    const double exact_max = 9007199254740992.0; /* 2^53: above, not every integer is a double */
    parts found = {0};
    double real;
    if (!split(text, GL_NUMBER, &found, err))
        return false;
    if (found.unit_length > 0)
        return fail_integer(text, err);
    if (!evaluate(&found.number, 0, 1.0, &real))
        return fail_range(text, err);
    if (found.number.integral && fabs(real) < 9e18) {
        *value = strtoll(found.number.mantissa, NULL, 10);
        return true;
    }
    if (fabs(real) > exact_max)
        return fail_range(text, err);
    if (real != floor(real))
        return fail_integer(text, err);
    *value = (long long)real;
    return true;
}

bool gl_parse_size(const char *text, double *size_bytes, gl_error *err)
{
    parts found = {0};
    long long whole = 0;
    if (!split(text, GL_BYTES, &found, err))
        return false;
    if (found.unit_length > 0 || !found.number.integral)
        return gl_parse_quantity(text, GL_BYTES, size_bytes, err);
    if (!gl_parse_integer(text, &whole, err))
        return false;
    *size_bytes = (double)whole;
    return true;
}

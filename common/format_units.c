/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The printing half of units.h. */
#include "common/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct scale {
    double factor;
    const char *name;
} scale;

/* Smallest first; the last row has no name. */
static const scale byte_scales[] = {{1, "B"},     {1e3, "kB"},  {1e6, "MB"}, {1e9, "GB"},
                                    {1e12, "TB"}, {1e15, "PB"}, {0, NULL}};
static const scale rate_scales[] = {{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {0, NULL}};
static const scale time_scales[] = {{1e-6, "us"}, {1e-3, "ms"}, {1, "s"}, {0, NULL}};
static const scale flop_scales[] = {
    {1e9, "GFLOP/s"}, {1e12, "TFLOP/s"}, {1e15, "PFLOP/s"}, {1e18, "EFLOP/s"}, {0, NULL}};
static const scale watt_scales[] = {{1, "W"}, {1e3, "kW"}, {1e6, "MW"}, {0, NULL}};

/* Three significant digits, all digits before the point; "0" stays "0". */
static void print_scaled(double value, const char *name, char *text, size_t size)
{
    double magnitude = fabs(value);
    const char *blank = name[0] != '\0' ? " " : "";
    if (magnitude == 0.0)
        snprintf(text, size, "0%s%s", blank, name);
    else if (magnitude < 0.9995)
        snprintf(text, size, "%.3g%s%s", value, blank, name);
    else
        snprintf(text, size, "%.*f%s%s",
                 magnitude < 9.995   ? 2
                 : magnitude < 99.95 ? 1
                                     : 0,
                 value, blank, name);
}

/* Picks the scale in which the rounded number stays below a thousand. */
static void print_by_scale(double value, const scale *scales, char *text, size_t size)
{
    const scale *best = scales;
    while (best[1].name != NULL && fabs(value) / best->factor >= 999.5)
        best++;
    print_scaled(value / best->factor, best->name, text, size);
}

/* 33554432 is "32 MiB": a size that someone chose. More than four digits say that nobody did. */
static bool print_binary(double value, char *text, size_t size)
{
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double scaled = value;
    int power = -1;
    while (power < 4 && fabs(scaled) >= 1024.0 && fmod(scaled, 1024.0) == 0.0) {
        scaled /= 1024.0;
        power++;
    }
    if (power < 0 || fabs(scaled) >= (power >= 2 ? 1024.0 : 10000.0))
        return false;
    snprintf(text, size, "%.0f %s", scaled, names[power]);
    return true;
}

static void print_bytes(double value, char *text, size_t size)
{
    if (print_binary(value, text, size))
        return;
    if (fabs(value) < 1000.0 && value == floor(value))
        snprintf(text, size, "%.0f B", value);
    else
        print_by_scale(value, byte_scales, text, size);
}

/* One unit for all links, so that a column can be compared at a glance. */
static void print_rate(double value, char *text, size_t size)
{
    if (value == 0.0 || fabs(value) >= 1e7)
        print_scaled(value / 1e9, "GB/s", text, size);
    else
        print_by_scale(value, rate_scales, text, size);
}

/* Runs last hours and days. */
static void print_time(double value, char *text, size_t size)
{
    const double hour = 3600.0, day = 86400.0;
    double magnitude = fabs(value);
    if (magnitude == 0.0)
        snprintf(text, size, "0 s");
    else if (magnitude < 9999.5)
        print_by_scale(value, time_scales, text, size);
    else if (magnitude < 3.0 * day)
        print_scaled(value / hour, "h", text, size);
    else
        print_scaled(value / day, "d", text, size);
}

/* Powers of a thousand from a million on, as models are written: "70.6e9". */
static void print_number(double value, const char *unit, char *text, size_t size)
{
    const char *blank = unit[0] != '\0' ? " " : "";
    double magnitude = fabs(value);
    if (magnitude < 999999.5 && value == floor(value)) {
        snprintf(text, size, "%.0f%s%s", value, blank, unit);
        return;
    }
    if (magnitude < 999999.5) {
        snprintf(text, size, magnitude < 9999.5 ? "%.4g%s%s" : "%.0f%s%s", value, blank, unit);
        return;
    }
    int exponent = 6;
    double scaled = value / 1e6;
    for (; fabs(scaled) >= 999.95 && exponent < 306; exponent += 3)
        scaled /= 1e3;
    snprintf(text, size, "%.4ge%d%s%s", scaled, exponent, blank, unit);
}

char *gl_format_quantity(double value, gl_dimension dimension, char *text, size_t size)
{
    if (!isfinite(value)) {
        snprintf(text, size, "%s", isnan(value) ? "-" : value > 0 ? "inf" : "-inf");
        return text;
    }
    switch (dimension) {
    case GL_NUMBER:
        print_number(value, "", text, size);
        break;
    case GL_BYTES:
        print_bytes(value, text, size);
        break;
    case GL_BYTES_PER_S:
        print_rate(value, text, size);
        break;
    case GL_SECONDS:
        print_time(value, text, size);
        break;
    case GL_FRACTION:
        print_scaled(value * 100.0, "%", text, size);
        break;
    case GL_FLOP_PER_S:
        print_by_scale(value, flop_scales, text, size);
        break;
    case GL_WATTS:
        print_by_scale(value, watt_scales, text, size);
        break;
    case GL_USD_PER_KWH:
        print_number(value, "USD/kWh", text, size);
        break;
    case GL_METRES:
        print_number(value, "m", text, size);
        break;
    }
    return text;
}

char *gl_format_gib(double size_bytes, char *text, size_t size)
{
    if (isfinite(size_bytes))
        snprintf(text, size, "%.2f GiB", size_bytes / (1024.0 * 1024.0 * 1024.0));
    else
        snprintf(text, size, "-");
    return text;
}

char *gl_format_money(double amount, char *text, size_t size)
{
    char digits[32];
    double magnitude = fabs(amount);
    if (!isfinite(amount) || magnitude >= 1e18)
        return gl_format_quantity(amount, GL_NUMBER, text, size);
    if (magnitude < 999.5) {
        snprintf(text, size, magnitude > 0 && magnitude < 0.9995 ? "%#.3g" : "%.2f", amount);
        return text;
    }
    int count = snprintf(digits, sizeof digits, "%.0f", magnitude);
    size_t used = 0;
    if (amount < 0 && size > 1)
        text[used++] = '-';
    for (int i = 0; i < count && used + 2 < size; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

const char *gl_quantity_text(double value, gl_dimension dimension, gl_arena *arena)
{
    char text[64];
    return gl_arena_strdup(arena, gl_format_quantity(value, dimension, text, sizeof text));
}

const char *gl_gib_text(double size_bytes, gl_arena *arena)
{
    char text[64];
    return gl_arena_strdup(arena, gl_format_gib(size_bytes, text, sizeof text));
}

const char *gl_money_text(double amount, gl_arena *arena)
{
    char text[64];
    return gl_arena_strdup(arena, gl_format_money(amount, text, sizeof text));
}

const char *gl_percent_text(double fraction, gl_arena *arena)
{
    return gl_arena_printf(arena, "%.*f %%", fabs(fraction) < 0.0995 ? 1 : 0, 100 * fraction);
}

char *gl_format_double(double value, char *text, size_t size)
{
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(text, size, "%.0f", value);
        return text;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

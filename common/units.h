/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quantities with units: one parser and one printer.
 *
 * Inside the programs every quantity is an SI base unit (bytes, seconds, bytes per second, FLOP/s,
 * watts, fractions of one). Units are read and written only here. SI (kB = 1e3) and IEC (KiB =
 * 1024) are apart, and so are bit and byte: "Gbit/s" or "Gb/s" is a bit rate, "GB/s" a byte rate; a
 * bare "b" is refused. A quantity with a dimension is refused without its unit.
 */
#ifndef GL_COMMON_UNITS_H
#define GL_COMMON_UNITS_H

#include "common/arena.h"
#include "common/error.h"

typedef enum gl_dimension {
    GL_NUMBER,      /* no unit: 3, 1e9, 70.6e9 */
    GL_BYTES,       /* B kB MB GB TB PB, KiB MiB GiB TiB PiB; also "8 GB" for memory */
    GL_BYTES_PER_S, /* B/s … TB/s, bit/s kbit/s Mbit/s Gbit/s Tbit/s, Gb/s as Gbit/s, GiB/s */
    GL_SECONDS,     /* ns us (µs) ms s min h d */
    GL_FRACTION,    /* 10% or 0.1 */
    GL_FLOP_PER_S,  /* GFLOP/s TFLOP/s PFLOP/s (also FLOPS spelling) */
    GL_WATTS,       /* W kW MW */
    GL_USD_PER_KWH, /* USD/kWh */
    GL_METRES       /* m km */
} gl_dimension;

/*
 * Parses a whole text such as "25 MiB", "450 GB/s", "3.5us", "10%". Leading and trailing blanks and
 * blanks between number and unit are allowed; nan, inf, hexadecimal, octal look-alikes ("010" is
 * ten), thousands separators and trailing text are refused. A sign is accepted; range checks are
 * the caller's. On failure the message names what was found and what is allowed, with an example.
 */
bool gl_parse_quantity(const char *text, gl_dimension dimension, double *value, gl_error *err);

/* Parses a whole decimal integer ("4096", also "4e3" when it is exactly an integer up to 2^53). */
bool gl_parse_integer(const char *text, long long *value, gl_error *err);

/* Parses a message size: a quantity of bytes, or a bare integer meaning bytes ("8", "8GiB"). */
bool gl_parse_size(const char *text, double *size_bytes, gl_error *err);

/* Words for messages and schemas: "bytes, such as 25 MiB". */
const char *gl_dimension_name(gl_dimension dimension);

/*
 * Prints for people, three or four significant digits, a blank between number and unit.
 * BYTES prints in GB, MB, kB (powers of 1000), except sizes that are whole multiples of 1 KiB or
 * more, which print as "32 MiB"; rates in GB/s (from 0.01 GB/s
 * on); times in s, ms, us, and from 10 000 s on in h and d; fractions as "45.6 %"; large numbers
 * as "70.6e9". NaN prints as "-".
 * Returns `text` (always terminated).
 */
char *gl_format_quantity(double value, gl_dimension dimension, char *text, size_t size);

/* Memory amounts print in GiB with two decimals ("45.56 GiB"). */
char *gl_format_gib(double size_bytes, char *text, size_t size);

/* Amounts of money, currency left out: "12,345,678", "34.56", "0.0123". Not for reading back. */
char *gl_format_money(double amount, char *text, size_t size);

/* The same in the arena, so that several fit into one format. */
const char *gl_quantity_text(double value, gl_dimension dimension, gl_arena *arena);
const char *gl_gib_text(double size_bytes, gl_arena *arena);
const char *gl_money_text(double amount, gl_arena *arena);

/* A share in whole percent, below ten with a decimal: "9.9 %", "10 %". */
const char *gl_percent_text(double fraction, gl_arena *arena);

/* The decimal text with the fewest digits that reads back as the same double (for JSON and CSV);
 * whole numbers below 1e15 are written out. 32 bytes are enough. */
char *gl_format_double(double value, char *text, size_t size);

#endif

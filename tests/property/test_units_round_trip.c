/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is printed can be read again. SEED=n in the environment repeats a run.
 */
#include "common/units.h"
#include "tests/support.h"

#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 20000 };

static uint64_t random_state;

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016). */
static uint64_t random_bits(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * UINT64_C(2685821657736338717);
}

/* Any finite double, all exponents alike. */
static double random_double(void)
{
    for (;;) {
        uint64_t bits = random_bits();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            return value;
    }
}

/* Positive, uniform in the logarithm. */
static double random_between(double least, double most)
{
    double u = (double)(random_bits() >> 11) / 9007199254740992.0;
    return least * pow(most / least, u);
}

static void shortest_doubles_read_back(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        double value = i % 2 == 0 ? random_double() : random_between(1e-9, 1e18), again;
        char text[32];
        gl_format_double(value, text, sizeof text);
        assert_true(strlen(text) < sizeof text - 1);
        if (!gl_parse_quantity(text, GL_NUMBER, &again, NULL) || again != value)
            fail_msg("%.17g printed as %s", value, text);
    }
}

/* Ranges of what the programs handle, wider on both sides. */
static const struct {
    double least, most;
} ranges[] = {
    [GL_NUMBER] = {1e-6, 1e30},  [GL_BYTES] = {1, 1e18},         [GL_BYTES_PER_S] = {1, 1e15},
    [GL_SECONDS] = {1e-10, 1e9}, [GL_FRACTION] = {1e-6, 1e3},    [GL_FLOP_PER_S] = {1e6, 1e21},
    [GL_WATTS] = {1e-2, 1e9},    [GL_USD_PER_KWH] = {1e-4, 1e4},
};

/* Three digits are kept, and printing what was read changes nothing any more. */
static void people_texts_are_stable(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        gl_dimension dimension = (gl_dimension)(random_bits() % (GL_USD_PER_KWH + 1));
        double value = random_between(ranges[dimension].least, ranges[dimension].most);
        double again, third;
        if (random_bits() % 2 == 0)
            value = floor(value) + 1;
        char first[48], second[48];
        gl_format_quantity(value, dimension, first, sizeof first);
        if (!gl_parse_quantity(first, dimension, &again, NULL))
            fail_msg("%.17g printed as %s, which is refused", value, first);
        if (fabs(again / value - 1.0) > 5.1e-3)
            fail_msg("%.17g printed as %s", value, first);
        gl_format_quantity(again, dimension, second, sizeof second);
        if (!gl_parse_quantity(second, dimension, &third, NULL) ||
            fabs(third / again - 1.0) > 1e-12)
            fail_msg("%.17g: %s, then %s", value, first, second);
    }
}

static void binary_sizes_are_exact(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        double value =
            (double)(1 + random_bits() % 1023) * pow(1024, 1 + (double)(random_bits() % 5));
        double again;
        char text[48];
        gl_format_quantity(value, GL_BYTES, text, sizeof text);
        assert_true(gl_parse_quantity(text, GL_BYTES, &again, NULL));
        if (again != value)
            fail_msg("%.17g printed as %s", value, text);
    }
}

/* Bits are an eighth of bytes, and a blank changes nothing. */
static void bits_and_bytes_agree(void **state)
{
    (void)state;
    const char *const prefixes[] = {"", "k", "M", "G", "T"};
    for (int i = 0; i < ROUNDS; i++) {
        const char *prefix = prefixes[random_bits() % 5];
        char number[32], bytes[48], bits[48];
        double byte_rate, bit_rate;
        gl_format_double(random_between(1e-3, 1e6), number, sizeof number);
        snprintf(bytes, sizeof bytes, "%s %sB/s", number, prefix);
        snprintf(bits, sizeof bits, "%s%sbit/s", number, prefix);
        assert_true(gl_parse_quantity(bytes, GL_BYTES_PER_S, &byte_rate, NULL));
        assert_true(gl_parse_quantity(bits, GL_BYTES_PER_S, &bit_rate, NULL));
        assert_true(byte_rate == 8 * bit_rate);
    }
}

int main(void)
{
    const char *seed = getenv("SEED");
    random_state = seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    random_state += random_state == 0; /* the generator stays at zero */
    printf("SEED=%llu\n", (unsigned long long)random_state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shortest_doubles_read_back),
        cmocka_unit_test(people_texts_are_stable),
        cmocka_unit_test(binary_sizes_are_exact),
        cmocka_unit_test(bits_and_bytes_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/units.h"
#include "tests/support.h"

typedef struct accepted {
    const char *text;
    gl_dimension dimension;
    double value; /* exactly */
} accepted;

/* Every unit of every dimension. */
static const accepted unit_cases[] = {
    {"1 B", GL_BYTES, 1},
    {"1 kB", GL_BYTES, 1e3},
    {"1 MB", GL_BYTES, 1e6},
    {"1 GB", GL_BYTES, 1e9},
    {"1 TB", GL_BYTES, 1e12},
    {"1 PB", GL_BYTES, 1e15},
    {"1 KiB", GL_BYTES, 1024},
    {"1 MiB", GL_BYTES, 1048576},
    {"1 GiB", GL_BYTES, 1073741824},
    {"1 TiB", GL_BYTES, 1099511627776},
    {"1 PiB", GL_BYTES, 1125899906842624},
    {"1 B/s", GL_BYTES_PER_S, 1},
    {"1 kB/s", GL_BYTES_PER_S, 1e3},
    {"1 MB/s", GL_BYTES_PER_S, 1e6},
    {"1 GB/s", GL_BYTES_PER_S, 1e9},
    {"1 TB/s", GL_BYTES_PER_S, 1e12},
    {"1 PB/s", GL_BYTES_PER_S, 1e15},
    {"1 KiB/s", GL_BYTES_PER_S, 1024},
    {"1 MiB/s", GL_BYTES_PER_S, 1048576},
    {"1 GiB/s", GL_BYTES_PER_S, 1073741824},
    {"1 TiB/s", GL_BYTES_PER_S, 1099511627776},
    {"8 bit/s", GL_BYTES_PER_S, 1},
    {"8 kbit/s", GL_BYTES_PER_S, 1e3},
    {"8 Mbit/s", GL_BYTES_PER_S, 1e6},
    {"400 Gbit/s", GL_BYTES_PER_S, 50e9},
    {"1.6 Tbit/s", GL_BYTES_PER_S, 200e9},
    {"8 kb/s", GL_BYTES_PER_S, 1e3},
    {"8 Mb/s", GL_BYTES_PER_S, 1e6},
    {"400 Gb/s", GL_BYTES_PER_S, 50e9},
    {"8 Tb/s", GL_BYTES_PER_S, 1e12},
    {"1 ns", GL_SECONDS, 1e-9},
    {"3.5 us", GL_SECONDS, 3.5e-6},
    {"3.5 \xC2\xB5s", GL_SECONDS, 3.5e-6},
    {"3.5 \xCE\xBCs", GL_SECONDS, 3.5e-6},
    {"240 ms", GL_SECONDS, 0.24},
    {"120 s", GL_SECONDS, 120},
    {"2 min", GL_SECONDS, 120},
    {"1.5 h", GL_SECONDS, 5400},
    {"1 d", GL_SECONDS, 86400},
    {"10%", GL_FRACTION, 0.1},
    {"10 %", GL_FRACTION, 0.1},
    {"0.1", GL_FRACTION, 0.1},
    {"1 FLOP/s", GL_FLOP_PER_S, 1},
    {"1 MFLOP/s", GL_FLOP_PER_S, 1e6},
    {"1 GFLOP/s", GL_FLOP_PER_S, 1e9},
    {"989 TFLOP/s", GL_FLOP_PER_S, 989e12},
    {"1 PFLOP/s", GL_FLOP_PER_S, 1e15},
    {"1 EFLOP/s", GL_FLOP_PER_S, 1e18},
    {"1 FLOPS", GL_FLOP_PER_S, 1},
    {"1 MFLOPS", GL_FLOP_PER_S, 1e6},
    {"1 GFLOPS", GL_FLOP_PER_S, 1e9},
    {"989 TFLOPS", GL_FLOP_PER_S, 989e12},
    {"1 PFLOPS", GL_FLOP_PER_S, 1e15},
    {"1EFLOPS", GL_FLOP_PER_S, 1e18}, /* the E is no exponent */
    {"700 W", GL_WATTS, 700},
    {"10.2 kW", GL_WATTS, 10200},
    {"1.2 MW", GL_WATTS, 1.2e6},
    {"0.08 USD/kWh", GL_USD_PER_KWH, 0.08},
    {"3", GL_NUMBER, 3},
    {"1e9", GL_NUMBER, 1e9},
    {"70.6e9", GL_NUMBER, 70.6e9},
};

/* Ways to write the same. */
static const accepted form_cases[] = {
    {"450GB/s", GL_BYTES_PER_S, 450e9},
    {"  450 \t GB/s \n", GL_BYTES_PER_S, 450e9},
    {"25MiB", GL_BYTES, 26214400},
    {"0.1 GB", GL_BYTES, 1e8},
    {"0.7 us", GL_SECONDS, 0.7e-6},
    {"1.1e3 ms", GL_SECONDS, 1.1},
    {"-5%", GL_FRACTION, -0.05},
    {"+2 s", GL_SECONDS, 2},
    {"010", GL_NUMBER, 10},
    {".5", GL_NUMBER, 0.5},
    {"5.", GL_NUMBER, 5},
    {"1E3", GL_NUMBER, 1000},
    {"1e+3", GL_NUMBER, 1000},
    {"1e-3", GL_NUMBER, 1e-3},
    {"0 s", GL_SECONDS, 0},
    {"0e9999999999 B", GL_BYTES, 0},
    {"1.5 MiB", GL_BYTES, 1572864},
    {"4.9e-324", GL_NUMBER, 4.9406564584124654e-324},
};

static void assert_accepted(const accepted *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double value = NAN;
        gl_error err = {0};
        if (!gl_parse_quantity(cases[i].text, cases[i].dimension, &value, &err))
            fail_msg("'%s' refused: %s", cases[i].text, err.message);
        if (value != cases[i].value)
            fail_msg("'%s' is %.17g, not %.17g", cases[i].text, value, cases[i].value);
    }
}

static void every_unit_is_exact(void **state)
{
    (void)state;
    assert_accepted(unit_cases, sizeof unit_cases / sizeof unit_cases[0]);
    assert_accepted(form_cases, sizeof form_cases / sizeof form_cases[0]);
}

typedef struct refused {
    const char *text;
    gl_dimension dimension;
    const char *part; /* of the message */
} refused;

static const refused refused_cases[] = {
    /* The unit is missing: the message gives an example. */
    {"25", GL_BYTES, "such as 25 MiB"},
    {"0", GL_BYTES, "has no unit"},
    {"450", GL_BYTES_PER_S, "such as 450 GB/s or 400 Gbit/s"},
    {"5", GL_SECONDS, "such as 3.5 us"},
    {"989", GL_FLOP_PER_S, "such as 989 TFLOP/s"},
    {"700", GL_WATTS, "such as 700 W"},
    {"0.08", GL_USD_PER_KWH, "such as 0.08 USD/kWh"},
    /* Of another dimension. */
    {"450 GB", GL_BYTES_PER_S, "'GB' measures an amount of bytes, not a bandwidth"},
    {"450 GB/s", GL_BYTES, "'GB/s' measures a bandwidth, not an amount of bytes"},
    {"3 s", GL_NUMBER, "takes no unit"},
    {"2:1", GL_NUMBER, "'2:1' is a ratio, and a plain number is needed: write 2 for 2:1"},
    {"1:4", GL_NUMBER, "write 4 for 4:1"},
    {"3 : 2", GL_NUMBER, "write 1.5 for 3:2"},
    {"2:0", GL_NUMBER, "takes no unit"},
    {"2:1:1", GL_NUMBER, "takes no unit"},
    {"1T", GL_NUMBER, "takes no unit; write 1e12"},
    {"1.5 B", GL_NUMBER, "takes no unit; write 1.5e9"},
    {"2e3 k", GL_NUMBER, "takes no unit; write 2e6"},
    {"10 W", GL_SECONDS, "measures a power"},
    /* Bits and bytes. */
    {"25 b", GL_BYTES, "a small 'b' is a bit"},
    {"25 Gb", GL_BYTES, "a small 'b' is a bit"},
    {"25 b/s", GL_BYTES_PER_S, "unknown unit 'b/s'"},
    {"400 Gbps", GL_BYTES_PER_S, "did you mean 'Gb/s'?"},
    {"400 GBps", GL_BYTES_PER_S, "did you mean 'GB/s'?"},
    {"400 gbit/s", GL_BYTES_PER_S, "did you mean 'Gbit/s'?"},
    {"400 GBit/s", GL_BYTES_PER_S, "did you mean 'Gbit/s'?"},
    {"400 GBIT/S", GL_BYTES_PER_S, "did you mean 'Gbit/s'?"},
    {"400 MBits/s", GL_BYTES_PER_S, "did you mean 'Mbit/s'?"},
    {"33 MBit", GL_BYTES, "'MBit' counts bits; bytes are written with 'B'"},
    /* Unknown units. */
    {"12 parsecs", GL_SECONDS, "unknown unit 'parsecs' for a time; allowed: ns, us, ms, s, min"},
    {"12 msec", GL_SECONDS, "unknown unit 'msec'"},
    {"33 KB", GL_BYTES, "did you mean 'kB'?"},
    {"33 MIB", GL_BYTES, "did you mean 'MiB'?"},
    {"10 TFLOPs/s", GL_FLOP_PER_S, "did you mean 'TFLOP/s'?"},
    {"1 GB/s per link", GL_BYTES_PER_S, "unknown unit 'GB/s per link'"},
    {"1 2 GB", GL_BYTES, "unknown unit '2 GB'"},
    {"1.2.3 GB", GL_BYTES, "unknown unit '.3 GB'"},
    {"1 s\x1b[31m", GL_SECONDS, "unknown unit 's?[31m'"},
    /* No number. */
    {"", GL_BYTES, "empty"},
    {"  ", GL_BYTES, "empty"},
    {"GB", GL_BYTES, "does not start with a finite decimal number"},
    {"nan", GL_NUMBER, "does not start with a finite decimal number"},
    {"NaN s", GL_SECONDS, "does not start with a finite decimal number"},
    {"inf", GL_NUMBER, "does not start with a finite decimal number"},
    {"-infinity", GL_NUMBER, "does not start with a finite decimal number"},
    {".", GL_NUMBER, "does not start with a finite decimal number"},
    {"- 5", GL_NUMBER, "does not start with a finite decimal number"},
    {"--5", GL_NUMBER, "does not start with a finite decimal number"},
    {"e5", GL_NUMBER, "does not start with a finite decimal number"},
    /* Other notations. */
    {"0x10", GL_NUMBER, "hexadecimal"},
    {"0X1p3 B", GL_BYTES, "hexadecimal"},
    {"1,000 B", GL_BYTES, "thousands separators"},
    {"1_000 B", GL_BYTES, "thousands separators"},
    {"1'000 B", GL_BYTES, "thousands separators"},
    {"1,5 s", GL_SECONDS, "decimal commas"},
    {"5e", GL_NUMBER, "takes no unit"},
    /* Too large or too small for a double. */
    {"1e999", GL_NUMBER, "too large"},
    {"1e300 PiB", GL_BYTES, "too large"},
    {"1e99999999999999999999", GL_NUMBER, "too large"},
    {"1e-999 s", GL_SECONDS, "too small"},
};

static void what_is_refused_says_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused_cases / sizeof refused_cases[0]; i++) {
        const refused *c = &refused_cases[i];
        double value = 42;
        gl_error err = {0};
        if (gl_parse_quantity(c->text, c->dimension, &value, &err))
            fail_msg("'%s' accepted as %g", c->text, value);
        if (strstr(err.message, c->part) == NULL)
            fail_msg("'%s': '%s' lacks '%s'", c->text, err.message, c->part);
        assert_int_equal(err.status, GL_ERROR_INPUT);
        assert_true(value == 42);
        assert_false(gl_parse_quantity(c->text, c->dimension, &value, NULL));
    }
}

static void very_long_texts_are_refused(void **state)
{
    (void)state;
    char text[5000];
    double value;
    gl_error err;
    memset(text, '7', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(gl_parse_quantity(text, GL_NUMBER, &value, &err));
    text[2] = 'x';
    assert_false(gl_parse_quantity(text, GL_BYTES, &value, &err));
    assert_non_null(strstr(err.message, "…"));
    assert_non_null(strstr(err.message, "allowed: B, kB"));
}

static void integers(void **state)
{
    (void)state;
    const struct {
        const char *text;
        long long value;
    } good[] = {{"4096", 4096},
                {" 8 ", 8},
                {"-3", -3},
                {"+3", 3},
                {"010", 10},
                {"4e3", 4000},
                {"70.6e9", 70600000000},
                {"2.0", 2},
                {"9007199254740993", 9007199254740993},
                {"0", 0}};
    const char *const bad[] = {"",
                               "x",
                               "1.5",
                               "1e-1",
                               "0x10",
                               "1,000",
                               "12 GB",
                               "1_0",
                               "1e300",
                               "nan",
                               "99999999999999999999",
                               "9.1e15",
                               "8e18"};
    long long value;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(gl_parse_integer(good[i].text, &value, NULL));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gl_error err = {0};
        value = 42;
        if (gl_parse_integer(bad[i], &value, &err))
            fail_msg("'%s' accepted", bad[i]);
        assert_true(value == 42);
        assert_true(err.message[0] != '\0');
    }
}

static void sizes_may_be_bare_integers(void **state)
{
    (void)state;
    double size_bytes;
    gl_error err;
    assert_true(gl_parse_size("8", &size_bytes, NULL));
    assert_true(size_bytes == 8);
    assert_true(gl_parse_size("8GiB", &size_bytes, NULL));
    assert_true(size_bytes == 8589934592.0);
    assert_true(gl_parse_size("1.5 kB", &size_bytes, NULL));
    assert_true(size_bytes == 1500);
    assert_false(gl_parse_size("8.5", &size_bytes, &err));
    assert_non_null(strstr(err.message, "has no unit"));
    assert_false(gl_parse_size("8G", &size_bytes, &err));
    assert_false(gl_parse_size("", &size_bytes, &err));
    assert_false(gl_parse_size("1e3", &size_bytes, &err));
    assert_false(gl_parse_size("99999999999999999999", &size_bytes, &err));
    assert_true(size_bytes == 1500);
}

static void dimension_names_hold_examples_that_parse(void **state)
{
    (void)state;
    for (int i = GL_NUMBER; i <= GL_USD_PER_KWH; i++) {
        const char *example = strstr(gl_dimension_name((gl_dimension)i), "such as ");
        assert_non_null(example);
        char text[60];
        snprintf(text, sizeof text, "%s", example + strlen("such as "));
        char *alternative = strstr(text, " or ");
        if (alternative != NULL)
            *alternative = '\0';
        double value;
        assert_true(gl_parse_quantity(text, (gl_dimension)i, &value, NULL));
    }
}

static void formatting_for_people(void **state)
{
    (void)state;
    const struct {
        double value;
        gl_dimension dimension;
        const char *text;
    } cases[] = {
        {0, GL_BYTES, "0 B"},
        {8, GL_BYTES, "8 B"},
        {999, GL_BYTES, "999 B"},
        {0.5, GL_BYTES, "0.5 B"},
        {1000, GL_BYTES, "1.00 kB"},
        {1024, GL_BYTES, "1 KiB"},
        {33554432, GL_BYTES, "32 MiB"},
        {26214400, GL_BYTES, "25 MiB"},
        {100352, GL_BYTES, "98 KiB"},
        {8589934592.0, GL_BYTES, "8 GiB"},
        {33554433, GL_BYTES, "33.6 MB"},
        {2200096768.0, GL_BYTES, "2.20 GB"},
        {999499, GL_BYTES, "999 kB"},
        {999501, GL_BYTES, "1.00 MB"},
        {-33554432, GL_BYTES, "-32 MiB"},
        {5e18, GL_BYTES, "5000 PB"},
        {450e9, GL_BYTES_PER_S, "450 GB/s"},
        {4.8e12, GL_BYTES_PER_S, "4800 GB/s"},
        {28.64e9, GL_BYTES_PER_S, "28.6 GB/s"},
        {12.5e6, GL_BYTES_PER_S, "0.0125 GB/s"},
        {1.25e6, GL_BYTES_PER_S, "1.25 MB/s"},
        {0, GL_BYTES_PER_S, "0 GB/s"},
        {3.5e-6, GL_SECONDS, "3.50 us"},
        {1.234e-3, GL_SECONDS, "1.23 ms"},
        {0.24, GL_SECONDS, "240 ms"},
        {0.9996, GL_SECONDS, "1.00 s"},
        {12e-9, GL_SECONDS, "0.012 us"},
        {3600, GL_SECONDS, "3600 s"},
        {36000, GL_SECONDS, "10.0 h"},
        {864000, GL_SECONDS, "10.0 d"},
        {0, GL_SECONDS, "0 s"},
        {0.1, GL_FRACTION, "10.0 %"},
        {1, GL_FRACTION, "100 %"},
        {0.00123, GL_FRACTION, "0.123 %"},
        {989e12, GL_FLOP_PER_S, "989 TFLOP/s"},
        {1.979e15, GL_FLOP_PER_S, "1.98 PFLOP/s"},
        {700, GL_WATTS, "700 W"},
        {10200, GL_WATTS, "10.2 kW"},
        {0.08, GL_USD_PER_KWH, "0.08 USD/kWh"},
        {3, GL_NUMBER, "3"},
        {0.4567891, GL_NUMBER, "0.4568"},
        {12345.6, GL_NUMBER, "12346"},
        {123456, GL_NUMBER, "123456"},
        {1e6, GL_NUMBER, "1e6"},
        {70.6e9, GL_NUMBER, "70.6e9"},
        {1.8446744e19, GL_NUMBER, "18.45e18"},
        {-0.25, GL_NUMBER, "-0.25"},
        {NAN, GL_BYTES, "-"},
        {INFINITY, GL_NUMBER, "inf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[48];
        assert_string_equal(
            gl_format_quantity(cases[i].value, cases[i].dimension, text, sizeof text),
            cases[i].text);
    }
}

static void other_formats(void **state)
{
    (void)state;
    char text[48], tiny[4];
    assert_string_equal(gl_format_gib(48920000000.0, text, sizeof text), "45.56 GiB");
    assert_string_equal(gl_format_gib(NAN, text, sizeof text), "-");
    assert_string_equal(gl_format_money(12345678.4, text, sizeof text), "12,345,678");
    assert_string_equal(gl_format_money(-1234, text, sizeof text), "-1,234");
    assert_string_equal(gl_format_money(999.6, text, sizeof text), "1,000");
    assert_string_equal(gl_format_money(34.561, text, sizeof text), "34.56");
    assert_string_equal(gl_format_money(0.01234, text, sizeof text), "0.0123");
    assert_string_equal(gl_format_money(0.104, text, sizeof text), "0.104");
    assert_string_equal(gl_format_money(0.048, text, sizeof text), "0.0480");
    assert_string_equal(gl_format_money(0.9999, text, sizeof text), "1.00");
    assert_string_equal(gl_format_money(0, text, sizeof text), "0.00");
    assert_string_equal(gl_format_money(NAN, text, sizeof text), "-");
    assert_true(strlen(gl_format_money(12345678, tiny, sizeof tiny)) < sizeof tiny);
    assert_true(strlen(gl_format_quantity(33554432, GL_BYTES, tiny, sizeof tiny)) < sizeof tiny);
}

static void doubles_take_the_fewest_digits(void **state)
{
    (void)state;
    const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {1, "1"},
                 {0.1, "0.1"},
                 {2200096768.0, "2200096768"},
                 {1e6, "1000000"},
                 {1e15, "1e+15"},
                 {3.5e-6, "3.5e-06"},
                 {1.0 / 3.0, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {-2.5, "-2.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[40];
        assert_string_equal(gl_format_double(cases[i].value, text, sizeof text), cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_is_exact),
        cmocka_unit_test(what_is_refused_says_why),
        cmocka_unit_test(very_long_texts_are_refused),
        cmocka_unit_test(integers),
        cmocka_unit_test(sizes_may_be_bare_integers),
        cmocka_unit_test(dimension_names_hold_examples_that_parse),
        cmocka_unit_test(formatting_for_people),
        cmocka_unit_test(other_formats),
        cmocka_unit_test(doubles_take_the_fewest_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

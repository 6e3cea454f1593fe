/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/text.h"
#include "common/utf8.h"
#include "common/wrap.h"
#include "tests/support.h"

static const char *const keys[] = {"global", "micro", "sequence_parallel", "zero",
                                   "virtual_stages"};
enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

static void assert_nearest(const char *text, const char *expected)
{
    const char *found = gl_nearest(text, keys, KEY_COUNT);
    if (expected == NULL)
        assert_null(found);
    else
        assert_string_equal(found != NULL ? found : "(none)", expected);
}

static void nearest_finds_slips(void **state)
{
    (void)state;
    assert_nearest("globl", "global");
    assert_nearest("mciro", "micro"); /* a swap is one edit */
    assert_nearest("globalx", "global");
    assert_nearest("Micro", "micro");
    assert_nearest("sequence-parallel", "sequence_parallel");
    assert_nearest("sequenceParallel", "sequence_parallel");
    assert_nearest("virtual_stage", "virtual_stages");
    assert_nearest("zeor", "zero");
}

static void nearest_refuses_what_is_far(void **state)
{
    (void)state;
    char longest[200];
    memset(longest, 'g', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_nearest("pipeline", NULL);
    assert_nearest("", NULL);
    assert_nearest("--", NULL);
    assert_nearest("zr", NULL);
    assert_nearest(longest, NULL);
    assert_null(gl_nearest("global", keys, 0));
}

static void guesses_prefer_what_holds_the_word(void **state)
{
    (void)state;
    static const char *const gpus[] = {"a10", "a100-pcie-80gb", "a100-sxm-80gb", "h100-sxm", "l4"};
    static const char *const links[] = {"ib-hdr",  "ib-ndr",  "nvlink2",     "nvlink3",
                                        "nvlink4", "nvlink5", "nvlink4-h800"};
    char text[200], small[30];
    assert_string_equal(gl_guess("a100", gpus, 5, text, sizeof text),
                        "; did you mean 'a100-sxm-80gb' or 'a100-pcie-80gb'?");
    assert_string_equal(gl_guess("hdr", links, 7, text, sizeof text), "; did you mean 'ib-hdr'?");
    assert_string_equal(gl_guess("nvlink", links, 7, text, sizeof text),
                        "; did you mean 'nvlink2', 'nvlink3', 'nvlink4' or 'nvlink5'?");
    assert_string_equal(gl_guess("ib-nrd", links, 7, text, sizeof text),
                        "; did you mean 'ib-ndr'?");
    assert_string_equal(gl_guess("4", gpus, 5, text, sizeof text), "");
    assert_string_equal(gl_guess("", gpus, 5, text, sizeof text), "");
    assert_string_equal(gl_guess("a100", gpus, 5, small, sizeof small), "");
    assert_string_equal(gl_guess("a1O0", gpus, 5, small, sizeof small), "; did you mean 'a10'?");
}

static void prefixes_and_suffixes(void **state)
{
    (void)state;
    assert_true(gl_starts_with("--help", "--"));
    assert_true(gl_starts_with("x", ""));
    assert_false(gl_starts_with("-", "--"));
    assert_true(gl_ends_with("a.yaml", ".yaml"));
    assert_true(gl_ends_with("a", ""));
    assert_false(gl_ends_with("yaml", ".yaml"));
}

static void dates_are_days(void **state)
{
    static const char *const days[] = {"2026-11-20", "2024-02-29", "2000-02-29"};
    static const char *const none[] = {"",           "2026",       "2026-13-45", "2026-02-29",
                                       "1900-02-29", "2026-00-01", "2026-04-31", "2026-11-00",
                                       "2026/11/20", "2026-1-020", "2026-11-201"};
    (void)state;
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++)
        assert_true(gl_is_date(days[i]));
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(gl_is_date(none[i]));
}

static void printable_replaces_and_cuts(void **state)
{
    (void)state;
    char text[12], tiny[3], one[1];
    assert_string_equal(gl_printable("a\tb\x1b[1m", text, sizeof text), "a?b?[1m");
    assert_string_equal(gl_printable("\xC2\x9B"
                                     "31m",
                                     text, sizeof text),
                        "?31m");
    assert_string_equal(gl_printable("\xFFok", text, sizeof text), "?ok");
    assert_string_equal(gl_printable("12345678901", text, sizeof text), "12345678901");
    assert_string_equal(gl_printable("123456789012", text, sizeof text), "12345678…");
    assert_string_equal(gl_printable("1234567µ9012", text, sizeof text), "1234567…");
    assert_string_equal(gl_printable("abc", tiny, sizeof tiny), "ab");
    assert_string_equal(gl_printable("abc", one, sizeof one), "");
}

static void utf8_decodes_and_refuses(void **state)
{
    (void)state;
    const struct {
        const char *text;
        size_t length;
        uint32_t character;
        int valid;
    } cases[] = {
        {"a", 1, 'a', 1},
        {"\xC2\xB5", 2, 0xB5, 1},
        {"\xE2\x82\xAC", 3, 0x20AC, 1},
        {"\xF0\x9F\x9A\x80", 4, 0x1F680, 1},
        {"\xEF\xBF\xBD", 3, GL_UTF8_INVALID, 1},
        {"\xC0\x80", 1, GL_UTF8_INVALID, 0},         /* overlong */
        {"\xE0\x80\xAF", 1, GL_UTF8_INVALID, 0},     /* overlong */
        {"\xED\xA0\x80", 1, GL_UTF8_INVALID, 0},     /* surrogate */
        {"\xF4\x90\x80\x80", 1, GL_UTF8_INVALID, 0}, /* above U+10FFFF */
        {"\x80", 1, GL_UTF8_INVALID, 0},
        {"\xE2\x82", 1, GL_UTF8_INVALID, 0}, /* cut */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t character;
        int valid;
        assert_int_equal(gl_utf8_next(cases[i].text, &character, &valid), cases[i].length);
        assert_int_equal(character, cases[i].character);
        assert_int_equal(valid, cases[i].valid);
    }
}

static void width_counts_columns(void **state)
{
    (void)state;
    assert_int_equal(gl_utf8_width("3.5 µs"), 6);
    assert_int_equal(gl_utf8_width("e\xCC\x81"), 1);
    assert_int_equal(gl_utf8_width("\xE4\xB8\xAD\xE6\x96\x87"), 4);
    assert_int_equal(gl_utf8_width("\xFF"), 1);
    assert_int_equal(gl_utf8_width(""), 0);
}

static void assert_wrapped(const char *text, size_t indent, size_t width, const char *expected)
{
    gl_output *out = gl_output_memory();
    gl_put_wrapped(out, text, indent, width);
    assert_string_equal(gl_output_text(out), expected);
    gl_output_discard(out);
}

static void wrapping_breaks_at_blanks(void **state)
{
    (void)state;
    assert_wrapped("one two three four five six", 0, 20, "one two three four\nfive six\n");
    assert_wrapped("one two three four  five", 2, 22, "one two three four\n  five\n");
    assert_wrapped("a\n\nb", 2, 40, "a\n\n  b\n");
    assert_wrapped("", 2, 40, "\n");
    assert_wrapped("abcdefghijklmnopqrstuvwxyz", 0, 20, "abcdefghijklmnopqrst\nuvwxyz\n");
    assert_int_equal(gl_longest_word("required bus bandwidth"), 9);
}

static void hanging_lines_keep_their_indentation(void **state)
{
    (void)state;
    gl_output *out = gl_output_memory();
    gl_put_hanging(out,
                   "no label, and so wrapped to the very left\n\n"
                   "Memory   one two three four five six\n"
                   "         seven eight nine ten eleven twelve\n"
                   "  = a + b + c + d + e + f + g + h + i + j\n",
                   30);
    assert_string_equal(gl_output_text(out), "no label, and so wrapped to\n"
                                             "the very left\n"
                                             "\n"
                                             "Memory   one two three four\n"
                                             "         five six\n"
                                             "         seven eight nine ten\n"
                                             "         eleven twelve\n"
                                             "  = a + b + c + d + e + f + g\n"
                                             "    + h + i + j\n");
    gl_output_discard(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_finds_slips),
        cmocka_unit_test(nearest_refuses_what_is_far),
        cmocka_unit_test(guesses_prefer_what_holds_the_word),
        cmocka_unit_test(hanging_lines_keep_their_indentation),
        cmocka_unit_test(prefixes_and_suffixes),
        cmocka_unit_test(dates_are_days),
        cmocka_unit_test(printable_replaces_and_cuts),
        cmocka_unit_test(utf8_decodes_and_refuses),
        cmocka_unit_test(width_counts_columns),
        cmocka_unit_test(wrapping_breaks_at_blanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking NCCL's debug output; a stand-in prints as NCCL does: it opens the file anew after a reset.
 */
#include "calibrate/measure/nccl/capture.h"
#include "calibrate/measure/nccl/watchdog.h"
#include "tests/support.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static FILE *log_file;

static void stand_in_reset(void)
{
    if (log_file != NULL)
        fclose(log_file);
    log_file = NULL;
}

static void stand_in_prints(const char *line)
{
    if (log_file == NULL)
        log_file = fopen(getenv("NCCL_DEBUG_FILE"), "w");
    assert_non_null(log_file);
    fprintf(log_file, "%s\n", line);
    fflush(log_file);
}

static int clear(void **state)
{
    (void)state;
    unsetenv("NCCL_DEBUG");
    unsetenv("NCCL_DEBUG_FILE");
    unsetenv("NCCL_DEBUG_SUBSYS");
    return 0;
}

static void text_comes_across_switches(void **state)
{
    (void)state;
    gl_capture *c = gl_capture_begin(stand_in_reset);
    assert_true(gl_capture_works(c));
    assert_null(strstr(getenv("NCCL_DEBUG_SUBSYS"), "TUNING"));
    stand_in_prints("start");
    gl_capture_mark(c);
    stand_in_prints("channel");
    gl_capture_calls(c, true);
    assert_non_null(strstr(getenv("NCCL_DEBUG_SUBSYS"), "TUNING"));
    stand_in_prints("call");
    gl_capture_calls(c, false);
    assert_string_equal(gl_capture_text(c), "channel\ncall\n");
    gl_capture_calls(c, true); /* nothing is printed: nothing comes twice */
    gl_capture_calls(c, false);
    assert_string_equal(gl_capture_text(c), "channel\ncall\n");
    stand_in_prints("last");
    assert_string_equal(gl_capture_text(c), "channel\ncall\nlast\n");
    stand_in_reset();
    gl_capture_end(c);
    assert_null(getenv("NCCL_DEBUG"));
}

static void a_library_without_reset_is_never_switched(void **state)
{
    (void)state;
    gl_capture *c = gl_capture_begin(NULL);
    stand_in_prints("start");
    gl_capture_calls(c, true);
    assert_null(strstr(getenv("NCCL_DEBUG_SUBSYS"), "TUNING"));
    assert_string_equal(gl_capture_text(c), "start\n");
    stand_in_reset();
    gl_capture_end(c);
}

static void settings_of_the_user_stand(void **state)
{
    (void)state;
    char pattern[200], expected[200];
    setenv("NCCL_DEBUG", "WARN", 1);
    gl_capture *c = gl_capture_begin(stand_in_reset);
    assert_false(gl_capture_works(c));
    assert_string_equal(getenv("NCCL_DEBUG"), "WARN");
    assert_string_equal(gl_capture_text(c), "");
    gl_capture_end(c);

    snprintf(pattern, sizeof pattern, "%s/nccl-user.%%p.log", TEST_BINARY_DIR);
    snprintf(expected, sizeof expected, "%s/nccl-user.%ld.log", TEST_BINARY_DIR, (long)getpid());
    setenv("NCCL_DEBUG", "INFO", 1);
    setenv("NCCL_DEBUG_FILE", pattern, 1);
    c = gl_capture_begin(stand_in_reset);
    FILE *file = fopen(expected, "w");
    assert_non_null(file);
    fputs("theirs\n", file);
    fclose(file);
    assert_string_equal(gl_capture_text(c), "theirs\n");
    gl_capture_end(c);
    assert_string_equal(getenv("NCCL_DEBUG"), "INFO");
    assert_int_equal(unlink(expected), 0);
}

static void nothing_is_safe(void **state)
{
    (void)state;
    gl_capture_end(NULL);
    gl_capture_mark(NULL);
    gl_capture_calls(NULL, true);
    assert_false(gl_capture_works(NULL));
    assert_string_equal(gl_capture_text(NULL), "");
}

static void a_wait_that_lasts_is_noticed(void **state)
{
    (void)state;
    gl_watchdog *dog = gl_watchdog_start();
    const struct timespec nap = {.tv_nsec = 900000000};
    assert_non_null(dog);
    gl_watchdog_arm(dog, "a test", 0.1);
    assert_false(gl_watchdog_expired(dog));
    nanosleep(&nap, NULL);
    assert_true(gl_watchdog_expired(dog));
    gl_watchdog_arm(dog, "another", 60);
    assert_false(gl_watchdog_expired(dog));
    gl_watchdog_disarm(dog);
    gl_watchdog_stop(dog);
    gl_watchdog_stop(NULL);
    assert_false(gl_watchdog_expired(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(text_comes_across_switches, clear),
        cmocka_unit_test_setup(a_library_without_reset_is_never_switched, clear),
        cmocka_unit_test_setup(settings_of_the_user_stand, clear),
        cmocka_unit_test_setup(nothing_is_safe, clear),
        cmocka_unit_test(a_wait_that_lasts_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/report/browser.h"
#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMEOUT_MS = 60000 };

static void run_chromium(const int *commands, const int *answers, const char *folder)
{
    char profile[96];
    snprintf(profile, sizeof profile, "--user-data-dir=%s", folder);
    /* The protocol's descriptors are 3 and 4. */
    int in = fcntl(commands[0], F_DUPFD, 10), out = fcntl(answers[1], F_DUPFD, 10);
    dup2(in, 3);
    dup2(out, 4);
    int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    const char *program = getenv("CHROMIUM");
    if (program == NULL || program[0] == '\0')
        program = "chromium";
    execlp(program, program, "--headless=new", "--no-sandbox", "--disable-gpu",
           "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
           "--disable-background-networking", "--remote-debugging-pipe", profile, "about:blank",
           (char *)NULL);
    _exit(127);
}

static void send_message(browser *b, json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);
    size_t length = strlen(text) + 1, done = 0; /* with its end */
    while (done < length) {
        ssize_t written = write(b->to, text + done, length - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            fail_msg("chromium does not listen: is it installed?");
        done += (size_t)written;
    }
    free(text);
}

static void read_more(browser *b)
{
    struct pollfd ready = {.fd = b->from, .events = POLLIN};
    if (b->capacity - b->length < 65536) {
        b->capacity = 2 * b->capacity + 65536;
        b->text = realloc(b->text, b->capacity);
        assert_non_null(b->text);
    }
    if (poll(&ready, 1, TIMEOUT_MS) <= 0)
        fail_msg("chromium has not answered for a minute");
    ssize_t got = read(b->from, b->text + b->length, b->capacity - b->length);
    if (got <= 0)
        fail_msg("chromium has ended: is it installed (apt-get install chromium)?");
    b->length += (size_t)got;
}

static json_t *next_message(browser *b)
{
    char *end;
    while ((end = memchr(b->text, '\0', b->length)) == NULL)
        read_more(b);
    json_t *message = json_loads(b->text, 0, NULL);
    size_t used = (size_t)(end - b->text) + 1;
    memmove(b->text, b->text + used, b->length - used);
    b->length -= used;
    assert_non_null(message);
    return message;
}

static void complain(browser *b, const json_t *params)
{
    char *text = json_dumps(params, JSON_COMPACT | JSON_ENCODE_ANY);
    json_array_append_new(b->complaints, json_string(text));
    free(text);
}

/* Whatever a page says on its console, and whatever it asks for but itself, is a fault. */
static void hear(browser *b, const json_t *event)
{
    const char *method = json_string_value(json_object_get(event, "method"));
    const json_t *params = json_object_get(event, "params");
    if (method == NULL)
        return;
    if (strcmp(method, "Page.loadEventFired") == 0)
        b->loaded = true;
    if (strcmp(method, "Runtime.exceptionThrown") == 0 ||
        strcmp(method, "Runtime.consoleAPICalled") == 0 || strcmp(method, "Log.entryAdded") == 0)
        complain(b, params);
    if (strcmp(method, "Network.requestWillBeSent") == 0) {
        const json_t *request = json_object_get(params, "request");
        const char *url = json_string_value(json_object_get(request, "url"));
        if (url == NULL || strncmp(url, "file:", 5) != 0)
            complain(b, request);
    }
}

static json_t *call_in(browser *b, const char *session, const char *method, const char *params)
{
    int id = b->next_id++;
    json_t *message = json_pack("{s:i, s:s}", "id", id, "method", method);
    json_object_set_new(message, "params", json_loads(params != NULL ? params : "{}", 0, NULL));
    if (session != NULL)
        json_object_set_new(message, "sessionId", json_string(session));
    send_message(b, message);
    json_decref(message);
    for (;;) {
        json_t *answer = next_message(b);
        if (json_integer_value(json_object_get(answer, "id")) == id) {
            json_t *result = json_incref(json_object_get(answer, "result"));
            if (result == NULL)
                fail_msg("%s: %s", method, json_dumps(answer, JSON_COMPACT));
            json_decref(answer);
            return result;
        }
        hear(b, answer);
        json_decref(answer);
    }
}

json_t *browser_call(browser *b, const char *method, const char *params)
{
    return call_in(b, b->session, method, params);
}

static void do_call(browser *b, const char *method, const char *params)
{
    json_decref(browser_call(b, method, params));
}

static void attach(browser *b)
{
    char params[160];
    json_t *created = call_in(b, NULL, "Target.createTarget", "{\"url\": \"about:blank\"}");
    snprintf(params, sizeof params, "{\"targetId\": \"%s\", \"flatten\": true}",
             json_string_value(json_object_get(created, "targetId")));
    json_decref(created);
    json_t *attached = call_in(b, NULL, "Target.attachToTarget", params);
    b->session = strdup(json_string_value(json_object_get(attached, "sessionId")));
    json_decref(attached);
}

browser *browser_start(void)
{
    int commands[2], answers[2];
    browser *b = calloc(1, sizeof *b);
    assert_non_null(b);
    signal(SIGPIPE, SIG_IGN);
    snprintf(b->folder, sizeof b->folder, "/tmp/gpulink-browser-XXXXXX");
    assert_non_null(mkdtemp(b->folder));
    assert_int_equal(pipe(commands), 0);
    assert_int_equal(pipe(answers), 0);
    b->pid = fork();
    if (b->pid == 0)
        run_chromium(commands, answers, b->folder);
    close(commands[0]);
    close(answers[1]);
    b->to = commands[1];
    b->from = answers[0];
    b->next_id = 1;
    b->complaints = json_array();
    attach(b);
    do_call(b, "Page.enable", NULL);
    do_call(b, "Runtime.enable", NULL);
    do_call(b, "Log.enable", NULL);
    do_call(b, "Network.enable", NULL);
    return b;
}

void browser_stop(browser *b)
{
    char command[96];
    json_decref(call_in(b, NULL, "Browser.close", NULL));
    waitpid(b->pid, NULL, 0);
    close(b->to);
    close(b->from);
    snprintf(command, sizeof command, "rm -rf '%s'", b->folder);
    assert_int_equal(system(command), 0);
    json_decref(b->complaints);
    free(b->session);
    free(b->text);
    free(b);
}

void browser_open(browser *b, const char *path, int width, const char *scheme)
{
    char params[512];
    snprintf(params, sizeof params,
             "{\"width\": %d, \"height\": 800, \"deviceScaleFactor\": 1, \"mobile\": %s}", width,
             width < 600 ? "true" : "false");
    do_call(b, "Emulation.setDeviceMetricsOverride", params);
    snprintf(params, sizeof params,
             "{\"features\": [{\"name\": \"prefers-color-scheme\", \"value\": \"%s\"}]}", scheme);
    do_call(b, "Emulation.setEmulatedMedia", params);
    b->loaded = false;
    snprintf(params, sizeof params, "{\"url\": \"file://%s\"}", path);
    do_call(b, "Page.navigate", params);
    while (!b->loaded) {
        json_t *event = next_message(b);
        hear(b, event);
        json_decref(event);
    }
}

json_t *browser_eval(browser *b, const char *expression)
{
    json_t *params = json_pack("{s:s, s:b}", "expression", expression, "returnByValue", 1);
    char *text = json_dumps(params, 0);
    json_t *answer = browser_call(b, "Runtime.evaluate", text);
    if (json_object_get(answer, "exceptionDetails") != NULL)
        fail_msg("%s: %s", expression, json_dumps(answer, JSON_COMPACT));
    json_t *value = json_incref(json_object_get(json_object_get(answer, "result"), "value"));
    json_decref(answer);
    json_decref(params);
    free(text);
    return value;
}

static int letter_value(char c)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = strchr(letters, c);
    return c == '\0' || found == NULL ? -1 : (int)(found - letters);
}

void browser_screenshot(browser *b, const char *path)
{
    json_t *shot = browser_call(b, "Page.captureScreenshot",
                                "{\"captureBeyondViewport\": true, \"format\": \"png\"}");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    unsigned bits = 0;
    int count = 0;
    for (const char *c = json_string_value(json_object_get(shot, "data")); letter_value(*c) >= 0;
         c++) {
        bits = bits << 6 | (unsigned)letter_value(*c);
        count += 6;
        if (count >= 8)
            fputc((int)(bits >> (count -= 8) & 0xFF), file);
    }
    assert_int_equal(fclose(file), 0);
    json_decref(shot);
}

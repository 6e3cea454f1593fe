/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A headless Chromium, spoken to over two pipes:
 * https://chromedevtools.github.io/devtools-protocol/ */
#ifndef GL_TESTS_REPORT_BROWSER_H
#define GL_TESTS_REPORT_BROWSER_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct browser {
    pid_t pid;
    int to, from;
    int next_id;
    char *session; /* of the one page */
    char *text;    /* what came in and was not read yet */
    size_t length, capacity;
    char folder[64];    /* its profile */
    json_t *complaints; /* texts: console errors, warnings, exceptions, requests */
    bool loaded;        /* the page, since the last browser_open */
} browser;

/* Starts it. Fails the test when there is none. */
browser *browser_start(void);
void browser_stop(browser *b);

/* Calls a method of the page. `params` is a JSON text, or NULL. The result is the caller's. */
json_t *browser_call(browser *b, const char *method, const char *params);

/* Opens a file in a window of a width, in a colour scheme ("light"), and waits for it. */
void browser_open(browser *b, const char *path, int width, const char *scheme);

/* The value of an expression of JavaScript, as JSON. */
json_t *browser_eval(browser *b, const char *expression);

/* The whole page as a PNG file. */
void browser_screenshot(browser *b, const char *path);

#endif

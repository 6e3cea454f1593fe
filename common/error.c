/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/error.h"

#include "common/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void set_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from != NULL ? from : "");
}

__attribute__((format(printf, 5, 0))) static void set_error(gl_error *err, gl_status status,
                                                            const gl_mark *mark, const char *path,
                                                            const char *format, va_list args)
{
    memset(err, 0, sizeof *err);
    err->status = status;
    if (mark != NULL) {
        set_text(err->file, sizeof err->file, mark->file);
        err->line = mark->line;
        err->column = mark->column;
    }
    set_text(err->path, sizeof err->path, path);
    vsnprintf(err->message, sizeof err->message, format, args);
}

bool(gl_fail)(gl_error *err, gl_status status, const char *format, ...)
{
    if (err == NULL)
        return false;
    va_list args;
    va_start(args, format);
    set_error(err, status, NULL, NULL, format, args);
    va_end(args);
    return false;
}

bool(gl_fail_at)(gl_error *err, gl_status status, const gl_mark *mark, const char *path,
                 const char *format, ...)
{
    if (err == NULL)
        return false;
    va_list args;
    va_start(args, format);
    set_error(err, status, mark, path, format, args);
    va_end(args);
    return false;
}

char *gl_error_text(const gl_error *err, char *text, size_t size)
{
    char place[600] = "", whole[sizeof place + sizeof err->path + sizeof err->message + 4];
    if (err->file[0] != '\0' && err->line > 0)
        snprintf(place, sizeof place, "%s:%d:%d: ", err->file, err->line, err->column);
    else if (err->file[0] != '\0')
        snprintf(place, sizeof place, "%s: ", err->file);
    snprintf(whole, sizeof whole, "%s%s%s%s", place, err->path, err->path[0] != '\0' ? ": " : "",
             err->message);
    return gl_printable(whole, text, size);
}

bool(gl_diagnose)(gl_diagnostics *list, const gl_mark *mark, const char *path, const char *format,
                  ...)
{
    if (list->count == GL_DIAGNOSTICS_MAX) {
        list->dropped++;
        return false;
    }
    va_list args;
    va_start(args, format);
    set_error(&list->items[list->count++], GL_ERROR_INPUT, mark, path, format, args);
    va_end(args);
    return false;
}

size_t gl_diagnostics_found(const gl_diagnostics *list)
{
    return list->count + list->dropped;
}

gl_status gl_open_status(int reason)
{
    return reason == EMFILE || reason == ENFILE || reason == ENOMEM || reason == EIO
               ? GL_ERROR_SYSTEM
               : GL_ERROR_INPUT;
}

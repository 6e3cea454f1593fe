/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/not_text.h"

#include <string.h>

static int begins(const char *start, size_t length, const char *magic, size_t size)
{
    return length >= size && memcmp(start, magic, size) == 0;
}

const char *gl_not_text(const char *start, size_t length)
{
    static const struct {
        const char *magic;
        size_t size;
        const char *message;
    } kinds[] = {
        {"\x1f\x8b", 2, "the file is compressed by gzip: give the output of gzip -dc"},
        {"\x28\xb5\x2f\xfd", 4, "the file is compressed by zstd: give the output of zstd -dc"},
        {"\xfd"
         "7zXZ",
         5, "the file is compressed by xz: give the output of xz -dc"},
        {"BZh", 3, "the file is compressed by bzip2: give the output of bzip2 -dc"},
        {"PK\x03\x04", 4, "the file is a ZIP archive: unpack it first"},
        {"\xff\xfe", 2, "the file is UTF-16: give the output of iconv -f UTF-16 -t UTF-8"},
        {"\xfe\xff", 2, "the file is UTF-16: give the output of iconv -f UTF-16 -t UTF-8"},
    };
    size_t odd = 0;
    if (length == 0)
        return "the file is empty";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(start, length, kinds[i].magic, kinds[i].size))
            return kinds[i].message;
    for (size_t i = 0; i < length; i++)
        odd += start[i] == '\0' ||
               ((unsigned char)start[i] < 32 && strchr("\t\n\r\f\b\x1b", start[i]) == NULL);
    return odd * 20 > length ? "this is a binary file, not text" : NULL;
}

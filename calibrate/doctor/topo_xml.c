/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/topo_xml.h"

#include "common/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTES_MAX = 32, VALUE_MAX = 128 };

typedef struct attribute {
    char name[32], value[VALUE_MAX];
} attribute;

typedef struct element {
    char name[32];
    attribute attributes[ATTRIBUTES_MAX];
    size_t count;
    bool closes, empty; /* </x>, <x/> */
} element;

/* An element that is open. */
typedef struct level {
    char name[32];
    const char *bus; /* of a <pci> */
    const char *speed;
    int width, gpu; /* index of a <gpu>; −1 */
    bool is_pci;
} level;

typedef struct parser {
    const char *at, *end, *file;
    int line;
    gl_arena *arena;
    gl_topo_xml *topology;
    level levels[GL_XML_DEPTH_MAX];
    int depth, cpu;
    bool has_root;
} parser;

static bool fail(const parser *p, const char *what, gl_error *err)
{
    return gl_fail_at(err, GL_ERROR_INPUT,
                      &(gl_mark){.file = p->file, .line = p->line, .column = 1}, NULL,
                      "%s; wanted: a topology of NCCL (<system version=\"1\"> ...)", what);
}

static void skip_blanks(parser *p)
{
    for (; p->at < p->end && isspace((unsigned char)*p->at); p->at++)
        p->line += *p->at == '\n';
}

static bool starts(const parser *p, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(p->end - p->at) >= length && memcmp(p->at, text, length) == 0;
}

/* Goes behind `mark`; false when it does not come. */
static bool skip_past(parser *p, const char *mark)
{
    for (; p->at < p->end; p->at++) {
        if (starts(p, mark)) {
            p->at += strlen(mark);
            return true;
        }
        p->line += *p->at == '\n';
    }
    return false;
}

/* To the next '<' of an element, over texts, comments, declarations. False at the end. */
static bool next_tag(parser *p, bool *bad)
{
    *bad = false;
    for (;;) {
        while (p->at < p->end && *p->at != '<') {
            p->line += *p->at == '\n';
            p->at++;
        }
        if (p->at == p->end)
            return false;
        if (starts(p, "<!--"))
            *bad = !skip_past(p, "-->");
        else if (starts(p, "<?"))
            *bad = !skip_past(p, "?>");
        else if (starts(p, "<!"))
            *bad = !skip_past(p, ">");
        else
            return true;
        if (*bad)
            return false;
    }
}

static bool is_name_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == ':' || c == '.';
}

static bool read_name(parser *p, char *name, size_t size)
{
    size_t used = 0;
    while (p->at < p->end && is_name_character(*p->at)) {
        if (used + 1 < size)
            name[used++] = *p->at;
        p->at++;
    }
    name[used] = '\0';
    return used > 0;
}

/* name="value" */
static bool read_attribute(parser *p, element *e)
{
    /* cppcheck-suppress uninitvar ; written before it is read */
    attribute spare, *a = e->count < ATTRIBUTES_MAX ? &e->attributes[e->count++] : &spare;
    if (!read_name(p, a->name, sizeof a->name))
        return false;
    skip_blanks(p);
    if (p->at == p->end || *p->at != '=')
        return false;
    p->at++;
    skip_blanks(p);
    if (p->at == p->end || (*p->at != '"' && *p->at != '\''))
        return false;
    char quote = *p->at++;
    size_t used = 0;
    for (; p->at < p->end && *p->at != quote && *p->at != '<'; p->at++) {
        p->line += *p->at == '\n';
        if (used + 1 < sizeof a->value)
            a->value[used++] = *p->at == '\0' ? ' ' : *p->at;
    }
    a->value[used] = '\0';
    if (p->at == p->end || *p->at != quote)
        return false;
    p->at++;
    return true;
}

/* At '<'. */
static bool read_element(parser *p, element *e)
{
    e->count = 0;
    e->closes = e->empty = false;
    p->at++;
    if (p->at < p->end && *p->at == '/') {
        e->closes = true;
        p->at++;
    }
    if (!read_name(p, e->name, sizeof e->name))
        return false;
    for (;;) {
        skip_blanks(p);
        if (p->at == p->end)
            return false;
        if (*p->at == '>') {
            p->at++;
            return true;
        }
        if (starts(p, "/>")) {
            p->at += 2;
            e->empty = true;
            return !e->closes;
        }
        if (!read_attribute(p, e))
            return false;
    }
}

/* ---- what elements mean ---- */

static const char *value_of(const element *e, const char *name)
{
    for (size_t i = 0; i < e->count; i++)
        if (strcmp(e->attributes[i].name, name) == 0)
            return e->attributes[i].value;
    return NULL;
}

static int integer_of(const element *e, const char *name, int missing)
{
    const char *text = value_of(e, name);
    char *end;
    if (text == NULL)
        return missing;
    long value = strtol(text, &end, 0);
    return end > text && value >= -1 && value <= 100000000 ? (int)value : missing;
}

static const char *copy(parser *p, const char *text)
{
    char printable[VALUE_MAX];
    return text == NULL
               ? ""
               : gl_arena_strdup(p->arena, gl_printable(text, printable, sizeof printable));
}

/* The PCI device right around what is read, and how many bridges are around that. */
typedef struct surroundings {
    const level *device;
    int bridges;
    const char *outermost;
} surroundings;

static surroundings around(const parser *p)
{
    surroundings s = {.outermost = ""};
    int count = 0;
    for (int i = 0; i < p->depth; i++)
        if (p->levels[i].is_pci) {
            if (count++ == 0)
                s.outermost = p->levels[i].bus;
            s.device = &p->levels[i];
        }
    s.bridges = count > 0 ? count - 1 : 0;
    if (s.bridges == 0)
        s.outermost = "";
    return s;
}

static void add_gpu(parser *p, const element *e, gl_quote quote)
{
    gl_topo_xml *t = p->topology;
    if (t->gpu_count == GL_XML_DEVICES_MAX)
        return;
    surroundings s = around(p);
    t->gpus[t->gpu_count] = (gl_xml_gpu){.dev = integer_of(e, "dev", -1),
                                         .rank = integer_of(e, "rank", -1),
                                         .gdr = integer_of(e, "gdr", -1),
                                         .bus = s.device != NULL ? s.device->bus : "",
                                         .speed = s.device != NULL ? s.device->speed : "",
                                         .width = s.device != NULL ? s.device->width : 0,
                                         .cpu = p->cpu,
                                         .bridges = s.bridges,
                                         .bridge = s.outermost,
                                         .quote = quote};
    p->levels[p->depth].gpu = (int)t->gpu_count++;
}

static void add_net(parser *p, const element *e, gl_quote quote)
{
    gl_topo_xml *t = p->topology;
    const char *guid = value_of(e, "guid");
    if (t->net_count == GL_XML_DEVICES_MAX)
        return;
    surroundings s = around(p);
    t->nets[t->net_count++] = (gl_xml_net){
        .name = copy(p, value_of(e, "name")),
        .dev = integer_of(e, "dev", -1),
        .gdr = integer_of(e, "gdr", -1),
        .bytes_per_s = integer_of(e, "speed", 0) > 0 ? integer_of(e, "speed", 0) * 1e6 / 8 : 0,
        .is_rdma = guid != NULL && strspn(guid, "0x") < strlen(guid),
        .width = s.device != NULL ? s.device->width : 0,
        .cpu = p->cpu,
        .bridges = s.bridges,
        .bridge = s.outermost,
        .quote = quote};
}

static void add_link(parser *p, const element *e, gl_quote quote)
{
    gl_topo_xml *t = p->topology;
    int gpu = p->depth > 0 ? p->levels[p->depth - 1].gpu : -1;
    const char *class = value_of(e, "tclass");
    if (gpu < 0 || t->link_count == GL_XML_LINKS_MAX)
        return;
    t->links[t->link_count++] =
        (gl_xml_link){.gpu = gpu,
                      .target = copy(p, value_of(e, "target")),
                      .count = integer_of(e, "count", 0),
                      .to_switch = class != NULL && gl_starts_with(class, "0x0680"),
                      .quote = quote};
}

static void take(parser *p, const element *e, gl_quote quote)
{
    level *now = &p->levels[p->depth];
    *now = (level){.gpu = -1, .bus = "", .speed = ""};
    snprintf(now->name, sizeof now->name, "%s", e->name);
    if (strcmp(e->name, "cpu") == 0) {
        p->cpu = p->topology->cpu_count++;
        if (p->cpu < 64)
            p->topology->numa[p->cpu] = integer_of(e, "numaid", -1);
    } else if (strcmp(e->name, "pci") == 0) {
        now->is_pci = true;
        now->bus = copy(p, value_of(e, "busid"));
        now->speed = copy(p, value_of(e, "link_speed"));
        now->width = integer_of(e, "link_width", 0);
    } else if (strcmp(e->name, "gpu") == 0) {
        add_gpu(p, e, quote);
    } else if (strcmp(e->name, "net") == 0) {
        add_net(p, e, quote);
    } else if (strcmp(e->name, "nvlink") == 0) {
        add_link(p, e, quote);
    }
}

static bool open_element(parser *p, const element *e, const char *start, int line, gl_error *err)
{
    if (p->depth == 0 && p->has_root)
        return fail(p, "text behind the end of the document", err);
    if (!p->has_root && strcmp(e->name, "graphs") == 0)
        return fail(p, "these are the graphs of NCCL_GRAPH_DUMP_FILE, no topology", err);
    if (!p->has_root && strcmp(e->name, "system") != 0)
        return fail(p, "this is another XML document", err);
    if (p->depth == GL_XML_DEPTH_MAX)
        return fail(p, "elements are nested too deeply", err);
    p->has_root = true;
    take(p, e, gl_quote_make(p->arena, p->file, line, start, (size_t)(p->at - start)));
    p->depth += !e->empty;
    return true;
}

static bool read_document(parser *p, gl_error *err)
{
    element *e = GL_ARENA_NEW(p->arena, element, 1);
    bool bad;
    while (next_tag(p, &bad)) {
        const char *start = p->at;
        int line = p->line;
        if (!read_element(p, e))
            return fail(p, "this is no XML", err);
        if (!e->closes) {
            if (!open_element(p, e, start, line, err))
                return false;
        } else if (p->depth == 0 || strcmp(p->levels[p->depth - 1].name, e->name) != 0) {
            return fail(p, "an element is closed that is not open", err);
        } else {
            p->depth--;
        }
    }
    if (bad || !p->has_root)
        return fail(p, "this is no XML", err);
    return p->depth == 0 || fail(p, "the document is cut off", err);
}

bool gl_topo_xml_read(const char *text, size_t length, const char *file, gl_arena *arena,
                      gl_topo_xml **topology, gl_error *err)
{
    parser *p = GL_ARENA_NEW(arena, parser, 1);
    *p = (parser){.at = text, .end = text + length, .file = file, .line = 1, .arena = arena};
    p->topology = GL_ARENA_NEW(arena, gl_topo_xml, 1);
    p->topology->file = file;
    p->cpu = -1;
    if (!read_document(p, err))
        return false;
    *topology = p->topology;
    return true;
}

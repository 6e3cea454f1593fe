/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/facts.h"

#include "calibrate/doctor/log_lines.h"
#include "calibrate/import/not_text.h"
#include "common/inputs.h"
#include "common/store/store.h"
#include "common/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void gl_facts_begin(gl_facts *facts, const gl_expected *expected, gl_arena *arena)
{
    *facts = (gl_facts){.arena = arena, .expected = expected};
    facts->nvlink = GL_ARENA_NEW(arena, gl_nvlink, 1);
    facts->log = gl_log_create(arena);
}

void gl_facts_finish(gl_facts *facts)
{
    gl_log_finish(facts->log);
}

/* ---- what a text is ---- */

static const struct {
    const char *what, *option;
} kinds[] = {[GL_SOURCE_TOPOLOGY] = {"output of nvidia-smi topo -m", "--topo"},
             [GL_SOURCE_P2P] = {"output of nvidia-smi topo -p2p", "--p2p"},
             [GL_SOURCE_NVLINK] = {"output of nvidia-smi nvlink -s", "--nvlink"},
             [GL_SOURCE_LOG] = {"log of a program that ran with NCCL_DEBUG=INFO", "--log"},
             [GL_SOURCE_XML] = {"XML of NCCL", "--xml"},
             [GL_SOURCE_DB] = {"calibration database", "--db"}};

/* Digits, a colon and a blank behind a word, anywhere: "Link 4: <inactive>", "GPU 0: NVIDIA L4
 * (UUID: …)"; not "GPU 00000000:1B:00.0" of nvidia-smi -q. */
static bool has_numbered(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *c = strstr(text, word); c != NULL; c = strstr(c + length, word)) {
        size_t digits = strspn(c + length, "0123456789");
        if (digits > 0 && c[length + digits] == ':' && c[length + digits + 1] == ' ')
            return true;
    }
    return false;
}

static gl_source kind_of_matrix(const char *text)
{
    gl_arena *arena = gl_arena_create();
    gl_matrices all = {0};
    gl_source kind = GL_SOURCE_UNKNOWN;
    if (gl_matrix_read(text, strlen(text), "", arena, &all, NULL))
        kind =
            gl_matrix_kind_of(all.items[0]) == GL_MATRIX_P2P ? GL_SOURCE_P2P : GL_SOURCE_TOPOLOGY;
    gl_arena_destroy(arena);
    return kind;
}

/* Output of other programs, by words that only they print. */
static const char *other_program(const char *text)
{
    static const struct {
        const char *words, *program;
    } others[] = {{"NVSMI LOG", "nvidia-smi -q"},
                  {"hca_id:", "ibv_devinfo"},
                  {"CA type:", "ibstat"},
                  {"LnkSta:", "lspci -vv"},
                  {"3D controller:", "lspci"},
                  {"| Diagnostic ", "dcgmi diag"},
                  {"ROCm SMI Log", "rocm-smi"},
                  {"ROCm System Management Interface", "rocm-smi"},
                  {"nvbandwidth Version", "nvbandwidth"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(text, others[i].words) != NULL)
            return others[i].program;
    return NULL;
}

/* A failure that a program, a launcher or the kernel tells of, in a line of its own. */
static bool tells_failure(const char *head)
{
    char line[1024];
    for (const char *next; *head != '\0'; head = next) {
        size_t length = strcspn(head, "\n");
        next = head + length + (head[length] == '\n');
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1),
                 head);
        if (gl_log_plain_failure(line) != GL_SAID_COUNT)
            return true;
    }
    return false;
}

/* By what a text begins with. */
static gl_source guess(const char *head)
{
    if (strstr(head, "NCCL INFO ") != NULL || strstr(head, "NCCL WARN ") != NULL ||
        strstr(head, "# nThread ") != NULL || strstr(head, "NCCL version ") != NULL ||
        strstr(head, "NVRM: Xid ") != NULL)
        return GL_SOURCE_LOG;
    if (strstr(head, "<system") != NULL || strstr(head, "<graphs") != NULL)
        return GL_SOURCE_XML;
    if (has_numbered(head, "Link ") || has_numbered(head, "GPU ") ||
        strstr(head, "NVLink information") != NULL ||
        strstr(head, "not have or support NVLink") != NULL)
        return GL_SOURCE_NVLINK;
    gl_source matrix = strstr(head, "GPU0") != NULL ? kind_of_matrix(head) : GL_SOURCE_UNKNOWN;
    bool is_log = strstr(head, "NVRM: ") != NULL || strstr(head, "mlx5_core 0000:") != NULL ||
                  strstr(head, " Linux version ") != NULL || strstr(head, "Last error:") != NULL ||
                  tells_failure(head);
    return matrix == GL_SOURCE_UNKNOWN && other_program(head) == NULL && is_log ? GL_SOURCE_LOG
                                                                                : matrix;
}

static gl_source guess_file(const char *path)
{
    static char head[65537];
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return GL_SOURCE_UNKNOWN;
    size_t length = fread(head, 1, sizeof head - 1, stream);
    fclose(stream);
    if (gl_is_sqlite_head(head, length))
        return GL_SOURCE_DB;
    for (size_t i = 0; i < length; i++)
        if (head[i] == '\0')
            head[i] = ' ';
    head[length] = '\0';
    return guess(head);
}

static bool fail_unknown(const char *name, const char *text, size_t length, gl_error *err)
{
    static const char wanted[] =
        "wanted: nvidia-smi topo -m, topo -p2p r, nvlink -s or nvlink -e; a log with "
        "NCCL_DEBUG=INFO, or a kernel's with Xids; XML of NCCL; a calibration database";
    const char *other = gl_not_text(text, length), *program = other_program(text);
    if (other != NULL)
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = name}, NULL, "%s", other);
    if (program != NULL)
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = name}, NULL,
                          "it looks like output of %s, which is not read; %s", program, wanted);
    return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = name}, NULL,
                      "it is none of the texts that are understood; %s", wanted);
}

/* Of a text in which nothing was found of what was wanted: says what it is, if that is known;
 * otherwise what the parser said stays. */
static bool fail_kind(const char *name, gl_source wanted, gl_source found, gl_error *err)
{
    return found != GL_SOURCE_UNKNOWN && found != wanted &&
           gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = name}, NULL,
                      "it is the %s, which %s takes; wanted: the %s", kinds[found].what,
                      kinds[found].option, kinds[wanted].what);
}

/* ---- texts ---- */

static bool read_matrices(gl_facts *facts, gl_source wanted, const char *name, const char *text,
                          size_t length, gl_error *err)
{
    gl_matrices all = {0};
    size_t found[2] = {0};
    if (gl_matrix_read(text, length, name, facts->arena, &all, NULL))
        for (size_t i = 0; i < all.count; i++) {
            gl_matrix_kind kind = gl_matrix_kind_of(all.items[i]);
            if (kind == GL_MATRIX_EITHER)
                kind = wanted == GL_SOURCE_P2P ? GL_MATRIX_P2P : GL_MATRIX_PATHS;
            gl_matrices *target = kind == GL_MATRIX_P2P ? &facts->p2p : &facts->topology;
            found[kind == GL_MATRIX_P2P] += target->count < GL_MATRICES_MAX;
            if (target->count < GL_MATRICES_MAX)
                target->items[target->count++] = all.items[i];
        }
    if (found[wanted == GL_SOURCE_P2P] > 0)
        return true;
    return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = name}, NULL,
                      "no matrix of GPUs in it; wanted: the %s", kinds[wanted].what);
}

static bool read_xml(gl_facts *facts, const char *name, const char *text, size_t length,
                     gl_error *err)
{
    if (facts->xml_count == GL_FACTS_XML_MAX)
        return gl_fail(err, GL_ERROR_USAGE, "more than %d topologies", GL_FACTS_XML_MAX);
    if (!gl_topo_xml_read(text, length, name, facts->arena, &facts->xml[facts->xml_count], err))
        return false;
    facts->xml_count++;
    return true;
}

static bool read_log_text(gl_facts *facts, const char *name, const char *text, size_t length,
                          gl_error *err)
{
    FILE *stream = length > 0 ? fmemopen((void *)(uintptr_t)text, length, "r") : NULL;
    if (stream == NULL)
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = name}, NULL, "it is empty");
    bool ok = gl_log_read(facts->log, stream, name, facts->arena, err);
    fclose(stream);
    return ok;
}

/* Names of GPUs alone are nvidia-smi -L as well as nvlink -s of cards without NVLink: where a card
 * has it, nothing was said of its links. */
static bool read_nvlink(gl_facts *facts, const char *name, const char *text, size_t length,
                        gl_error *err)
{
    gl_nvlink *links = facts->nvlink;
    size_t before = links->count;
    if (!gl_nvlink_read(text, length, name, facts->arena, links, err))
        return false;
    if (links->count == before || strstr(text, "Link ") != NULL || strstr(text, "NVLink") != NULL)
        return true;
    const gl_expected_gpu *gpu = gl_expected_find_gpu(facts->expected, links->items[before].name);
    if (gpu == NULL || gpu->links == 0)
        return true;
    links->count = before;
    return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = name}, NULL,
                      "it names GPUs and no link, as nvidia-smi -L does; wanted: the output of "
                      "nvidia-smi nvlink -s");
}

static bool read_as(gl_facts *facts, gl_source source, const char *name, const char *text,
                    size_t length, gl_error *err)
{
    switch (source) {
    case GL_SOURCE_TOPOLOGY:
    case GL_SOURCE_P2P:
        return read_matrices(facts, source, name, text, length, err);
    case GL_SOURCE_NVLINK:
        return read_nvlink(facts, name, text, length, err);
    case GL_SOURCE_XML:
        return read_xml(facts, name, text, length, err);
    case GL_SOURCE_LOG:
        return read_log_text(facts, name, text, length, err);
    default:
        return fail_unknown(name, text, length, err);
    }
}

bool gl_facts_read_text(gl_facts *facts, gl_source source, const char *name, const char *text,
                        size_t length, gl_error *err)
{
    if (source == GL_SOURCE_UNKNOWN)
        source = guess(text);
    if (read_as(facts, source, name, text, length, err))
        return true;
    if (source == GL_SOURCE_UNKNOWN || fail_kind(name, source, guess(text), err))
        return false;
    /* Compressed, UTF-16, binary: that, rather than what was not found in it. */
    return length > 0 && gl_not_text(text, length) != NULL && fail_unknown(name, text, length, err);
}

/* A file of tens of kB as a rule; whole. */
static char *read_whole(gl_arena *arena, FILE *stream, const char *name, size_t *length,
                        gl_error *err)
{
    size_t capacity = 0;
    char *text = gl_arena_grow(arena, NULL, &capacity, 1 << 16, 1);
    *length = 0;
    for (size_t got; (got = fread(text + *length, 1, capacity - *length - 1, stream)) > 0;) {
        *length += got;
        if (*length > GL_FACTS_FILE_MAX) {
            gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = name}, NULL,
                       "it is larger than %d MiB", GL_FACTS_FILE_MAX >> 20);
            return NULL;
        }
        if (capacity - *length < 2)
            text = gl_arena_grow(arena, text, &capacity, 2 * capacity, 1);
    }
    if (ferror(stream)) {
        gl_fail_at(err, GL_ERROR_SYSTEM, &(gl_mark){.file = name}, NULL, "%s", strerror(errno));
        return NULL;
    }
    text[*length] = '\0';
    return text;
}

/* ---- databases ---- */

static const struct {
    const char *kind;
    gl_source source;
} stored[] = {{"nvidia-smi topo -m", GL_SOURCE_TOPOLOGY},
              {"nvidia-smi topo -p2p", GL_SOURCE_P2P},
              {"nvidia-smi nvlink", GL_SOURCE_NVLINK}};

/* The machine's own texts that were stored with the runs. What cannot be read is left out. */
static void read_stored_texts(gl_facts *facts, const char *path, const gl_topology *texts,
                              size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof stored / sizeof *stored; k++) {
            bool again = i > 0 && strcmp(texts[i].kind, texts[i - 1].kind) == 0 &&
                         strcmp(texts[i].text, texts[i - 1].text) == 0;
            if (!again && gl_starts_with(texts[i].kind, stored[k].kind))
                gl_facts_read_text(facts, stored[k].source,
                                   gl_arena_printf(facts->arena, "%s run %lld (%s)", path,
                                                   (long long)texts[i].run_id, texts[i].kind),
                                   texts[i].text, strlen(texts[i].text), NULL);
        }
}

static void read_settings(gl_facts *facts, const char *path, const gl_run *run)
{
    for (const char *line = run->environment; *line != '\0';) {
        size_t length = strcspn(line, "\n"), equals = strcspn(line, "=\n");
        if (equals < length) {
            gl_quote quote = gl_quote_make(
                facts->arena,
                gl_arena_printf(facts->arena, "%s run %lld", path, (long long)run->id), 0, line,
                length);
            gl_log_add_setting(
                facts->log, facts->arena, -1, gl_arena_strndup(facts->arena, line, equals),
                gl_arena_strndup(facts->arena, line + equals + 1, length - equals - 1), quote);
        }
        line += length + (line[length] == '\n');
    }
}

static bool read_db(gl_facts *facts, const char *path, gl_error *err)
{
    gl_store *store;
    gl_catalog catalog;
    gl_topology *texts;
    size_t count;
    if (facts->db_count == GL_FACTS_DB_MAX)
        return gl_fail(err, GL_ERROR_USAGE, "more than %d databases", GL_FACTS_DB_MAX);
    if (!gl_store_open(path, &store, err))
        return fail_kind(path, GL_SOURCE_DB, guess_file(path), err);
    bool ok = gl_store_read_catalog(store, facts->arena, &catalog, err) &&
              gl_store_read_topology(store, facts->arena, &texts, &count, err);
    for (size_t i = 0; ok && i < catalog.curve_count; i++)
        ok = gl_store_read_samples(store, facts->arena, &catalog.curves[i], err);
    gl_store_close(store);
    if (!ok)
        return false;
    facts->dbs[facts->db_count++] = (gl_facts_db){.file = path,
                                                  .runs = catalog.runs,
                                                  .run_count = catalog.run_count,
                                                  .curves = catalog.curves,
                                                  .curve_count = catalog.curve_count};
    read_stored_texts(facts, path, texts, count);
    for (size_t i = 0; i < catalog.run_count; i++)
        read_settings(facts, path, &catalog.runs[i]);
    return true;
}

/* ---- files ---- */

static FILE *open_file(const char *path, gl_error *err)
{
    struct stat found;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        gl_fail_at(err, gl_open_status(errno), &(gl_mark){.file = path}, NULL, "%s",
                   strerror(errno));
    } else if (fstat(fileno(stream), &found) == 0 && S_ISDIR(found.st_mode)) {
        gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = path}, NULL,
                   "it is a directory; wanted: a file, or - for standard input");
        fclose(stream);
        stream = NULL;
    } else {
        gl_inputs_note(fileno(stream), path);
    }
    return stream;
}

/* A file that holds nothing shows nothing, whatever was to be in it. Only of the machine itself is
 * it known that the command ran. */
static bool check_not_empty(gl_source source, const char *name, size_t length, gl_error *err)
{
    return length > 0 ||
           gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = name}, NULL, "it is empty%s",
                      source == GL_SOURCE_NVLINK
                          ? ": if the cards have no NVLink, leave it out; otherwise wanted: the "
                            "output of nvidia-smi nvlink -s"
                          : "");
}

bool gl_facts_read(gl_facts *facts, gl_source source, const char *path, gl_error *err)
{
    const bool is_standard = strcmp(path, "-") == 0;
    if (source == GL_SOURCE_UNKNOWN && !is_standard)
        source = guess_file(path);
    if (source == GL_SOURCE_DB)
        return read_db(facts, path, err);
    FILE *stream = is_standard ? stdin : open_file(path, err);
    if (stream == NULL)
        return false;
    const char *name = is_standard ? "standard input" : path;
    bool ok;
    if (source == GL_SOURCE_LOG) {
        ok = gl_log_read(facts->log, stream, name, facts->arena, err) ||
             (stream != stdin && fail_kind(name, GL_SOURCE_LOG, guess_file(path), err));
    } else {
        size_t length;
        char *text = read_whole(facts->arena, stream, name, &length, err);
        ok = text != NULL && check_not_empty(source, name, length, err) &&
             gl_facts_read_text(facts, source, name, text, length, err);
    }
    if (!is_standard)
        fclose(stream);
    return ok;
}

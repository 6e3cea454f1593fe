/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formulas with their symbols replaced by a plan's numbers. */
#include "planner/report/explain_figures.h"

#include <ctype.h>
#include <string.h>

typedef struct symbol {
    const char *name;
    double (*value)(const gl_workload *w);
} symbol;

/* The symbols of docs/models/traffic.md. */
#define SYMBOLS(X)                                                                                 \
    X("L", layers, w->model.layers)                                                                \
    X("h", hidden, w->model.hidden)                                                                \
    X("a", heads, w->model.heads)                                                                  \
    X("g", kv_heads, w->model.kv_heads)                                                            \
    X("d_h", head_dim, w->model.head_dim)                                                          \
    X("f", ffn, w->model.ffn)                                                                      \
    X("V", vocab, w->model.vocab)                                                                  \
    X("s", sequence, w->model.sequence)                                                            \
    X("b", micro, w->batch.micro)                                                                  \
    X("m", microbatches, (double)gl_workload_microbatches(w))                                      \
    X("e", compute_bytes, gl_dtype_bytes(w->precision.compute))                                    \
    X("e_g", gradient_bytes, gl_dtype_bytes(w->precision.gradients))                               \
    X("t", tp, w->parallel.tp)                                                                     \
    X("p", pp, w->parallel.pp)                                                                     \
    X("v", chunks, gl_parallel_chunks(&w->parallel))                                               \
    X("c", cp, w->parallel.cp)                                                                     \
    X("x", ep, w->parallel.ep)                                                                     \
    X("top_k", top_k, w->model.moe.top_k)                                                          \
    X("capacity", capacity, w->model.moe.capacity)                                                 \
    X("compression", compression, w->buckets.compression)                                          \
    X("shard", shard, w->parallel.shard)
#define AS_FUNCTION(symbol_name, name, expression)                                                 \
    static double name##_value(const gl_workload *w)                                               \
    {                                                                                              \
        return expression;                                                                         \
    }
#define AS_SYMBOL(symbol_name, name, expression) {symbol_name, name##_value},

SYMBOLS(AS_FUNCTION)
static const symbol symbols[] = {SYMBOLS(AS_SYMBOL)};

static const symbol *find_symbol(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (strlen(symbols[i].name) == length && strncmp(symbols[i].name, text, length) == 0)
            return &symbols[i];
    return NULL;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Is the character at the end of this text, blanks aside, part of a word? "a" in "of a bucket" is
 * no symbol; "a" in "a·d_h" is. Bytes of "·" are no letters. */
static bool ends_in_word(const char *start, const char *end)
{
    while (end > start && end[-1] == ' ')
        end--;
    return end > start && is_letter(end[-1]) && !isdigit((unsigned char)end[-1]);
}

static bool starts_with_word(const char *text)
{
    text += strspn(text, " ");
    return is_letter(text[0]) && !isdigit((unsigned char)text[0]);
}

const char *gl_explain__put_numbers(const gl_explainer *e, const char *formula)
{
    if (formula == NULL)
        return NULL;
    const char *equals = strstr(formula, " = ");
    const char *start = equals != NULL ? equals + 3 : formula;
    const char *text = "";
    bool replaced = false;
    for (const char *c = start; *c != '\0';) {
        size_t length = 0;
        while (is_letter(c[length]))
            length++;
        const symbol *found = length > 0 ? find_symbol(c, length) : NULL;
        if (found != NULL && !ends_in_word(start, c) && !starts_with_word(c + length)) {
            text = gl_arena_printf(e->arena, "%s%.15g", text, found->value(e->plan->workload));
            replaced = true;
        } else {
            length = length > 0 ? length : 1;
            text = gl_arena_printf(e->arena, "%s%.*s", text, (int)length, c);
        }
        c += length;
    }
    return replaced ? text : NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A price list: what a part costs (low, typical, high: P10, middle and P90), in which currency, by
 * whom and when. Figures that costs rest on without being prices (life, PUE, failure rate) stand
 * in the same list under names that begin with "term.", so that they, too, have a source and a
 * range. Loaded by planner/input; no number stands in C.
 */
#ifndef GL_CORE_PRICES_H
#define GL_CORE_PRICES_H

#include "common/arena.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum gl_confidence {
    GL_CONFIDENCE_HIGH,   /* archived vendor or statistics page, published tariff */
    GL_CONFIDENCE_MEDIUM, /* analyst, press, sheet, paper */
    GL_CONFIDENCE_LOW,    /* undated page, vendor blog, default of a calculator */
    GL_CONFIDENCE_OWN,    /* a quote of one's own */
    GL_CONFIDENCE_COUNT
} gl_confidence;

typedef struct gl_price {
    const char *part;          /* "switch.ib-ndr" */
    const char *title, *unit;  /* "QM9700 class, 64 x 400G", "switch" */
    const char *currency;      /* NULL = the list's */
    double low, typical, high; /* NaN: nobody says a price */
    double minimum, maximum;   /* what it can be at all, in its own currency */
    double power_w;            /* of one piece; 0 = not known or none */
    int ports;                 /* of a switch; links that one module or cable serves; 0 = 1 */
    int gpus;                  /* GPUs that one piece serves; 0 = not stated */
    bool rack;                 /* a machine that holds several nodes */
    double reach_m;            /* longest link of a medium; 0 = not stated */
    bool nics_included;        /* a server that comes with its NICs */
    const char *link;          /* between GPUs, of a machine bought whole; NULL = not stated */
    bool is_new;               /* said to be none of the list's base */
    bool quoted;               /* by a list of one's own */
    double base_typical;       /* of a quote: what it replaces, in the same currency; 0 = nothing */
    gl_confidence confidence;
    const char *source, *date, *note; /* source and date: never NULL */
} gl_price;

typedef struct gl_exchange {
    const char *currency;
    double rate; /* units of the list's currency for one of this */
} gl_exchange;

typedef struct gl_price_list {
    const char *name;     /* "standard" */
    const char *file;     /* where it was read */
    const char *currency; /* of every total: "USD" */
    gl_price *prices;
    size_t count, capacity;
    gl_exchange *exchange;
    size_t exchange_count, exchange_capacity;
} gl_price_list;

/* "KIND.NAME", or "KIND" alone when `name` is NULL; NULL when the list has no such part. */
const gl_price *gl_price_find(const gl_price_list *list, const char *kind, const char *name);

/* Units of the list's currency for one of `currency` (NULL = the list's); 0 when nobody says. */
double gl_price_rate(const gl_price_list *list, const char *currency);

/* What is asked of a quote that is more than ten times above or below what it replaces: "… is it
 * meant for a server?", in the arena; NULL: nothing. */
const char *gl_price_doubt(const gl_price *price, gl_arena *arena);

const char *gl_confidence_name(gl_confidence confidence); /* "high" */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of data/prices/NAME.yaml, and of one part in it. */
#include "planner/input/field_rows.h"
#include "planner/input/price_file.h"

/* clang-format off */
#define TARGET gl_price_document

const gl_field gl_prices_fields[] = {
    TEXT_ROW("prices.name", name, "the file's name", "Name of the list in reports."),
    TEXT_ROW("prices.currency", currency, "that of the base", "Currency of all totals, and of parts that state none."),
    TEXT_ROW("prices.base", base, "standard", "The list whose parts hold where this one has none: a name of data/prices, or none."),
    REAL_ROW("prices.spread.high", spread[GL_CONFIDENCE_HIGH], GL_FRACTION, 0, 10, "that of the base", "Range of prices with one figure, by confidence: P90 is the price and this more, P10 the price divided by as much."),
    REAL_ROW("prices.spread.medium", spread[GL_CONFIDENCE_MEDIUM], GL_FRACTION, 0, 10, "that of the base", "The same for figures of analysts, press and papers."),
    REAL_ROW("prices.spread.low", spread[GL_CONFIDENCE_LOW], GL_FRACTION, 0, 10, "that of the base", "The same for undated pages, vendors' blogs and defaults of calculators."),
    REAL_ROW("prices.spread.own", spread[GL_CONFIDENCE_OWN], GL_FRACTION, 0, 10, "0 %", "The same for prices without a source of the list: quotes of one's own."),
    SPECIAL_ROW("prices.exchange", false, "Units of the currency for one of another: {EUR: 1.08}. Parts in other currencies need it."),
    SPECIAL_ROW("prices.sources", false, "Where prices come from: NAME: {text, url, date, confidence: high, medium or low}."),
    SPECIAL_ROW("prices.parts", false, "Parts by their names, such as server.h100-sxm: a typical price alone, or the fields that follow; what is left out stays as in the base. Kinds: server, gpu, board, bridge, pcie-switch, host, chassis, nic, switch, optic, optic-switch, dac, aec, aoc, fibre, link-node, link-switch, rack, facility, labour, electricity, colocation, pue, leased-line, rent, term."),
    {.path = NULL},
};

#undef TARGET
#define TARGET gl_price

const gl_field gl_part_fields[] = {
    TEXT_ROW("part.title", title, "that of the base", "What it is, for people."),
    TEXT_ROW("part.unit", unit, "that of the base", "What the price is for."),
    REAL_ROW("part.low", low, GL_NUMBER, 0, 1e15, "by confidence", "Low price: P10."),
    REAL_ROW("part.typical", typical, GL_NUMBER, 0, 1e15, "middle of low and high", "Typical price; without one and without a range the part is unpriced and stops totals."),
    REAL_ROW("part.high", high, GL_NUMBER, 0, 1e15, "by confidence", "High price: P90."),
    TEXT_ROW("part.currency", currency, "that of the list", "Currency of these figures."),
    REAL_ROW("part.power", power_w, GL_WATTS, 0, 1e7, "", "Power that one piece may draw."),
    INT_ROW("part.ports", ports, 1, 4096, "1", "Ports of a switch; links that one module or cable serves; bridges of a pair."),
    INT_ROW("part.gpus", gpus, 1, 100000, "", "GPUs that one piece serves."),
    REAL_ROW("part.reach", reach_m, GL_METRES, 0, 1e6, "", "Longest link that a cable makes."),
    BOOL_ROW("part.nics_included", nics_included, "false", "The server comes with its NICs."),
    TEXT_ROW("part.source", source, "the file", "Where the price comes from: a name of prices.sources, or a text."),
    TEXT_ROW("part.date", date, "that of the source", "When."),
    TEXT_ROW("part.note", note, "", "What else to know."),
    {.path = NULL},
};
/* clang-format on */

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of data/prices/NAME.yaml, of one part in it, and the kinds of parts. */
#include "planner/core/cost_terms.h"
#include "planner/input/field_rows.h"
#include "planner/input/price_file.h"

/* A table: its rows stay as they are written. */
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
    SPECIAL_ROW("prices.exchange", false, "Rates for parts in other currencies: {EUR: 1.08}."),
    SPECIAL_ROW("prices.sources", false, "Where prices come from: NAME: {text, url, date, confidence: high, medium or low}."),
    SPECIAL_ROW("prices.parts", false, "Parts by their names, such as server.h100-sxm: a typical price alone, or fields of a part; what is left out stays as in the base. A name that neither the base nor data/gpus and data/links has needs new: true."),
    {.path = NULL},
};

#undef TARGET
#define TARGET gl_price

const gl_field gl_part_fields[] = {
    TEXT_ROW("part.title", title, "that of the base", "What it is, for people."),
    TEXT_ROW("part.unit", unit, "that of the base", "What the price is for."),
    REAL_ROW("part.low", low, GL_NUMBER, 0, 1e12, "by confidence", "Low price: P10; alone, it goes over the base's, whose typical and high price stay. Prices of some kinds have narrower ranges: below."),
    REAL_ROW("part.typical", typical, GL_NUMBER, 0, 1e12, "middle of low and high", "Typical price; it replaces the base's range, too. Without one and without a range the part is unpriced and stops totals."),
    REAL_ROW("part.high", high, GL_NUMBER, 0, 1e12, "by confidence", "High price: P90; alone, it goes over the base's, whose low and typical price stay."),
    TEXT_ROW("part.currency", currency, "that of the list", "Currency of these figures; stated with a price."),
    REAL_ROW("part.power", power_w, GL_WATTS, 0, 1e7, "", "Power that one piece may draw."),
    INT_ROW("part.ports", ports, 1, 4096, "1", "Ports of a switch; links that one module or cable serves; bridges of a pair."),
    INT_ROW("part.gpus", gpus, 1, 100000, "", "GPUs that one piece serves."),
    REAL_ROW("part.reach", reach_m, GL_METRES, 0, 1e6, "", "Longest link that a cable or a transceiver makes; a bill with a longer one is refused."),
    BOOL_ROW("part.rack", rack, "false", "The machine is a rack that holds the GPUs of several nodes, as many as gpus says; without, every node has a machine of its own."),
    BOOL_ROW("part.nics_included", nics_included, "false", "The server comes with its NICs."),
    TEXT_ROW("part.link", link, "", "The link between GPUs that a machine comes with; a bill of one with another link says that its price is not known."),
    TEXT_ROW("part.source", source, "the file", "Where the price comes from: a name of prices.sources, or a text."),
    TEXT_ROW("part.date", date, "that of the source", "When: a day, such as 2026-11-20."),
    TEXT_ROW("part.note", note, "", "What else to know."),
    BOOL_ROW("part.new", is_new, "false", "A part of one's own: its name is not misspelt although the base does not have it."),
    {.path = NULL},
};

#undef TARGET
#define TARGET gl_exchange

const gl_field gl_exchange_fields[] = {
    REAL_ROW("rate", rate, GL_NUMBER, 1e-9, 1e9, "", "Units of the list's currency for one of this."),
    {.path = NULL},
};

static const char *const none[] = {NULL};
static const char *const machine[] = {"power", "gpus", "rack", "nics_included", "link", NULL};
static const char *const machine_parts[] = {"power", "gpus", "rack", NULL};
static const char *const power[] = {"power", NULL};
static const char *const joining[] = {"power", "ports", "gpus", NULL};
static const char *const ports[] = {"power", "ports", NULL};
static const char *const cable[] = {"power", "ports", "reach", NULL};
static const char *const management[] = {"in-band", "out-of-band", NULL};
static const char *const labours[] = {"lossless", "tuning", "staff", NULL};
static const char *const anywhere[] = {"default", NULL};

static const char *const terms[] = {
#define AS_NAME(key, name, ...) name,
    GL_COST_TERMS(AS_NAME)
#undef AS_NAME
    NULL,
};

const gl_part_kind gl_part_kinds[] = {
    {"server", GL_PART_GPU, NULL, 1e12, machine, "A machine bought whole: a server, or a rack of several nodes (rack), for so many GPUs (gpus)."},
    {"gpu", GL_PART_GPU, NULL, 1e12, power, "A GPU, of servers that are put together; with a whole server, what of its price is GPUs."},
    {"board", GL_PART_LINK, NULL, 1e12, joining, "The board that joins the GPUs of a node, with its switch chips."},
    {"cooling", GL_PART_GPU, NULL, 1e12, machine_parts, "Liquid cooling of a machine that is put together; with a whole one, what of its price is cooling."},
    {"bridge", GL_PART_LINK, NULL, 1e12, joining, "A bridge between the GPUs of a group (gpus); a group has so many (ports)."},
    {"pcie-switch", GL_PART_LINK, NULL, 1e12, joining, "A PCIe switch board for so many GPUs (gpus): cluster.pcie.switches of a node."},
    {"host", GL_PART_ALONE, NULL, 1e12, power, "CPUs, memory and storage of a node that is put together."},
    {"chassis", GL_PART_ALONE, NULL, 1e12, power, "Chassis, power, cooling and integration of such a node."},
    {"nic", GL_PART_LINK, NULL, 1e12, power, "A NIC."},
    {"switch", GL_PART_LINK, management, 1e12, ports, "A switch with so many ports (ports) at the speed of the link; in-band and out-of-band: of the management networks."},
    {"optic", GL_PART_LINK, NULL, 1e12, cable, "A transceiver at a node, for so many links (ports)."},
    {"optic-switch", GL_PART_LINK, NULL, 1e12, cable, "A transceiver at a switch, for so many links (ports)."},
    {"dac", GL_PART_LINK, NULL, 1e12, cable, "A copper cable with its ends."},
    {"aec", GL_PART_LINK, NULL, 1e12, cable, "An active copper cable."},
    {"aoc", GL_PART_LINK, NULL, 1e12, cable, "An active optical cable."},
    {"fibre", GL_PART_ALONE, NULL, 1e12, ports, "A fibre between two transceivers."},
    {"link-node", GL_PART_LINK, NULL, 1e12, power, "A whole link from a node to its leaf, ends included (medium: link)."},
    {"link-switch", GL_PART_LINK, NULL, 1e12, power, "A whole link between switches, ends included."},
    {"rack", GL_PART_ALONE, NULL, 1e12, none, "A rack and its cabling."},
    {"facility", GL_PART_ALONE, NULL, 1e12, none, "Facility over the life of a node, where a list prices it so."},
    {"labour", GL_PART_FIXED, labours, 1e12, none, "Work: lossless for a project, tuning for an hour, staff for a person and year."},
    {"electricity", GL_PART_REGION, anywhere, 1e6, none, "A kWh."},
    {"colocation", GL_PART_REGION, anywhere, 1e9, none, "A reserved kW and month, all in."},
    {"pue", GL_PART_REGION, NULL, 0, none, "Power of the site over power of the machines."},
    {"leased-line", GL_PART_REGION, NULL, 1e9, none, "A Gbit/s and month of a route."},
    {"rent", GL_PART_GPU, NULL, 1e6, none, "A rented GPU and hour."},
    {"term", GL_PART_FIXED, terms, 0, none, "What is no price and yet makes costs."},
    {.name = NULL},
};
/* clang-format on */

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/xlsx.h"

#include <xlsxwriter.h>

#include <errno.h>
#include <math.h>
#include <string.h>

/* What a sheet holds below its bill: inputs, and figures that follow from them. */
typedef enum line_key {
    L_GPUS,
    L_JOB_GPUS,
    L_NODES,
    L_POWER_KW,
    L_TOKENS_PER_S,
    L_RUN_TOKENS,
    L_CONVENTION,
    L_LIFE,
    L_RESIDUAL,
    L_INTEREST,
    L_DECAY,
    L_SUPPORT,
    L_STAFF,
    L_STAFF_COST,
    L_DRAW,
    L_PUE,
    L_ELECTRICITY,
    L_COLOCATION,
    L_LINES,
    L_RENT,
    L_AVAILABILITY,
    L_FAILURES,
    L_CHECKPOINT,
    L_RESTART,
    L_INPUT_COUNT,
    L_CAPEX = L_INPUT_COUNT,
    L_HARDWARE,
    L_NETWORK,
    L_AMORTISED,
    L_ENERGY,
    L_COLOCATION_YEAR,
    L_SUPPORT_YEAR,
    L_STAFF_YEAR,
    L_LINES_YEAR,
    L_RENT_YEAR,
    L_PER_YEAR,
    L_MTBF,
    L_INTERVAL,
    L_GOODPUT,
    L_GPU_HOUR,
    L_MILLION_TOKENS,
    L_RUN_DAYS,
    L_RUN,
    L_COUNT
} line_key;

enum {
    COLUMN_PLACE,
    COLUMN_PART,
    COLUMN_ROLE,
    COLUMN_TITLE,
    COLUMN_COUNT,
    COLUMN_SPARES,
    COLUMN_PRICE,
    COLUMN_AMOUNT,
    COLUMN_LOW,
    COLUMN_HIGH,
    COLUMN_KNOWN,
    COLUMN_DATE,
    COLUMN_SOURCE,
    COLUMN_HARDWARE,
    BILL_COLUMNS,
    BILL_ROW = 4, /* of its heading, from 0 */
    FORMULA_BYTES = 1024,
    OPTIONS_MAX = 250
};

typedef struct option {
    const char *name, *currency;
    int row[L_COUNT]; /* of each line, from 1, as formulas have it */
    double value[L_COUNT];
    bool costed;
    bool stopped;               /* there is no total, whatever is typed into the sheet */
    const char *words[L_COUNT]; /* of lines without a value */
} option;

struct gl_xlsx {
    gl_arena *arena;
    FILE *file; /* nameless: a run that is killed leaves nothing behind */
    lxw_workbook *book;
    lxw_worksheet *summary;
    lxw_format *bold, *input, *input_money, *input_share, *money, *share, *plain, *wrap;
    option options[OPTIONS_MAX];
    size_t count;
    gl_texts absent, reasons; /* plans that are not here: their names, and why */
};

const char *gl_xlsx_version(void)
{
    return "libxlsxwriter " LXW_VERSION;
}

static lxw_format *format_of(lxw_workbook *book, const char *number, bool input)
{
    lxw_format *format = gl_memory_checked(workbook_add_format(book));
    if (number != NULL)
        format_set_num_format(format, number);
    if (input)
        format_set_bg_color(format, 0xFFF2CC);
    return format;
}

bool gl_xlsx_begin(gl_xlsx **out, gl_error *err)
{
    char path[32];
    gl_arena *arena = gl_arena_create();
    gl_xlsx *x = GL_ARENA_NEW(arena, gl_xlsx, 1);
    x->arena = arena;
    x->file = tmpfile();
    if (x->file == NULL) {
        gl_fail(err, GL_ERROR_SYSTEM, "no temporary file: %s", strerror(errno));
        gl_arena_destroy(arena);
        return false;
    }
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(x->file));
    x->book = gl_memory_checked(workbook_new(path));
    x->summary = gl_memory_checked(workbook_add_worksheet(x->book, "Summary"));
    x->bold = gl_memory_checked(workbook_add_format(x->book));
    format_set_bold(x->bold);
    x->wrap = gl_memory_checked(workbook_add_format(x->book));
    format_set_text_wrap(x->wrap);
    x->input = format_of(x->book, NULL, true);
    x->input_money = format_of(x->book, "#,##0.00", true);
    x->input_share = format_of(x->book, "0.00%", true);
    x->money = format_of(x->book, "#,##0.00", false);
    x->share = format_of(x->book, "0.00%", false);
    x->plain = format_of(x->book, "General", false);
    *out = x;
    return true;
}

/* ---- cells ---- */

static void put_text(lxw_worksheet *sheet, int row, int column, const char *text,
                     lxw_format *format)
{
    worksheet_write_string(sheet, (lxw_row_t)row, (lxw_col_t)column, text, format);
}

static void put_number(lxw_worksheet *sheet, int row, int column, double value, lxw_format *format)
{
    if (isfinite(value))
        worksheet_write_number(sheet, (lxw_row_t)row, (lxw_col_t)column, value, format);
    else
        worksheet_write_blank(sheet, (lxw_row_t)row, (lxw_col_t)column, format);
}

/* With the value that it has now, for readers that do not compute; `otherwise` where it has none.
 */
static void put_formula(lxw_worksheet *sheet, int row, int column, const char *formula,
                        double value, const char *otherwise, lxw_format *format)
{
    if (isfinite(value))
        worksheet_write_formula_num(sheet, (lxw_row_t)row, (lxw_col_t)column, formula, format,
                                    value);
    else
        worksheet_write_formula_str(sheet, (lxw_row_t)row, (lxw_col_t)column, formula, format,
                                    otherwise);
}

/* ---- the bill ---- */

static void put_bill_heading(const gl_xlsx *x, lxw_worksheet *sheet)
{
    static const char *const headings[BILL_COLUMNS] = {
        "Where",  "Part", "For",  "What",  "Count", "Spares", "Price of one",
        "Amount", "Low",  "High", "Known", "Date",  "Source", "Hardware (1) or work (0)"};
    for (int i = 0; i < BILL_COLUMNS; i++)
        put_text(sheet, BILL_ROW, i, headings[i], x->bold);
}

/* The first line of a part holds its price; others of the same part follow it. */
static void put_price(const gl_xlsx *x, lxw_worksheet *sheet, const gl_bom *bom, size_t index,
                      int row)
{
    const gl_bom_line *line = &bom->lines[index];
    char formula[64];
    for (size_t i = 0; i < index; i++)
        if (strcmp(bom->lines[i].part, line->part) == 0) {
            int first = BILL_ROW + 2 + (int)i;
            snprintf(formula, sizeof formula, "=IF(ISNUMBER(G%d),G%d,\"\")", first, first);
            put_formula(sheet, row, COLUMN_PRICE, formula, line->typical, "", x->money);
            return;
        }
    put_number(sheet, row, COLUMN_PRICE, line->typical, x->input_money);
}

static void put_bill(const gl_xlsx *x, lxw_worksheet *sheet, const gl_bom *bom)
{
    put_bill_heading(x, sheet);
    for (size_t i = 0; i < bom->count; i++) {
        const gl_bom_line *line = &bom->lines[i];
        const gl_price *price = line->price;
        int row = BILL_ROW + 1 + (int)i;
        char formula[96];
        snprintf(formula, sizeof formula, "=IF(ISNUMBER(G%d),(E%d+F%d)*G%d,\"\")", row + 1, row + 1,
                 row + 1, row + 1);
        put_text(sheet, row, COLUMN_PLACE, gl_cost_place_name(gl_cost_group_place(line->group)),
                 NULL);
        put_text(sheet, row, COLUMN_PART, line->part, NULL);
        put_text(sheet, row, COLUMN_ROLE, line->role, NULL);
        put_number(sheet, row, COLUMN_COUNT, (double)line->count, x->input);
        put_number(sheet, row, COLUMN_SPARES, (double)line->spares, x->input);
        put_price(x, sheet, bom, i, row);
        put_formula(sheet, row, COLUMN_AMOUNT, formula, gl_bom_pieces(line) * line->typical, "",
                    x->money);
        put_number(sheet, row, COLUMN_HARDWARE, !gl_cost_group_is_labour(line->group), NULL);
        if (price == NULL)
            continue;
        put_text(sheet, row, COLUMN_TITLE, price->title != NULL ? price->title : "", NULL);
        put_number(sheet, row, COLUMN_LOW, line->low, x->money);
        put_number(sheet, row, COLUMN_HIGH, line->high, x->money);
        put_text(sheet, row, COLUMN_KNOWN, gl_confidence_name(price->confidence), NULL);
        put_text(sheet, row, COLUMN_DATE, price->date, NULL);
        put_text(sheet, row, COLUMN_SOURCE, price->source, NULL);
    }
}

/* ---- what follows from it ---- */

static const char *const labels[L_COUNT] = {
    [L_GPUS] = "GPUs",
    [L_JOB_GPUS] = "GPUs of the job",
    [L_NODES] = "Nodes",
    [L_POWER_KW] = "Power that the machines may draw, kW",
    [L_TOKENS_PER_S] = "Tokens per second while training goes on",
    [L_RUN_TOKENS] = "Tokens of a run",
    [L_CONVENTION] = "Amortisation: straight, annuity or decay",
    [L_LIFE] = "Life, years",
    [L_RESIDUAL] = "Worth at the end, share",
    [L_INTEREST] = "Price of money a year",
    [L_DECAY] = "Decay, powers of ten a year",
    [L_SUPPORT] = "Support a year, share of the hardware",
    [L_STAFF] = "Persons a node",
    [L_STAFF_COST] = "Cost of a person and year",
    [L_DRAW] = "Draw, share of the power",
    [L_PUE] = "PUE",
    [L_ELECTRICITY] = "Price of a kWh (0 with colocation)",
    [L_COLOCATION] = "Price of a reserved kW and month (0 with energy)",
    [L_LINES] = "Leased lines, a month",
    [L_RENT] = "Rent of a GPU and hour (0 when bought)",
    [L_AVAILABILITY] = "Available, share of the hours",
    [L_FAILURES] = "Stops for each GPU and hour",
    [L_CHECKPOINT] = "Time of a checkpoint, s",
    [L_RESTART] = "Time of a restart, s",
    [L_CAPEX] = "Purchase",
    [L_HARDWARE] = "of it hardware",
    [L_NETWORK] = "of it between nodes",
    [L_AMORTISED] = "Amortised a year",
    [L_ENERGY] = "Energy a year",
    [L_COLOCATION_YEAR] = "Colocation a year",
    [L_SUPPORT_YEAR] = "Support a year",
    [L_STAFF_YEAR] = "Staff a year",
    [L_LINES_YEAR] = "Leased lines a year",
    [L_RENT_YEAR] = "Rent a year",
    [L_PER_YEAR] = "Cost of a year",
    [L_MTBF] = "Seconds between stops of the job",
    [L_INTERVAL] = "Seconds between checkpoints",
    [L_GOODPUT] = "Time that counts, share",
    [L_GPU_HOUR] = "Cost of a delivered GPU-hour",
    [L_MILLION_TOKENS] = "Cost of a million tokens",
    [L_RUN_DAYS] = "Time of a run, days",
    [L_RUN] = "Cost of a run",
};

static bool is_share(int key)
{
    return key == L_RESIDUAL || key == L_INTEREST || key == L_SUPPORT || key == L_DRAW ||
           key == L_AVAILABILITY || key == L_GOODPUT;
}

static bool is_plain(int key)
{
    return key < L_INPUT_COUNT && key != L_STAFF_COST && key != L_LINES;
}

static void fill_inputs(const gl_plan *plan, double *v)
{
    const gl_cost *cost = &plan->cost;
    const gl_cluster *c = cost->cluster;
    double power_w = 0;
    bool rents = c->terms.acquisition == GL_RENT;
    bool reserves = c->terms.power_by == GL_POWER_BY_COLOCATION;
    for (size_t i = 0; i < cost->bom.count; i++)
        power_w += (double)cost->bom.lines[i].count * cost->bom.lines[i].power_w;
    v[L_GPUS] = (double)cost->gpus;
    v[L_JOB_GPUS] = (double)cost->job_gpus;
    v[L_NODES] = c->nodes;
    v[L_POWER_KW] = power_w / 1000;
    v[L_TOKENS_PER_S] = plan->step.tokens_per_s;
    v[L_RUN_TOKENS] = cost->run_tokens > 0 ? cost->run_tokens : (double)NAN;
    v[L_LIFE] = gl_cost_term_value(c, GL_TERM_LIFE);
    v[L_RESIDUAL] = gl_cost_term_value(c, GL_TERM_RESIDUAL);
    v[L_INTEREST] = gl_cost_term_value(c, GL_TERM_INTEREST);
    v[L_DECAY] = gl_cost_term_value(c, GL_TERM_DECAY);
    v[L_SUPPORT] = gl_cost_term_value(c, GL_TERM_SUPPORT);
    v[L_STAFF] = rents ? 0 : gl_cost_term_value(c, GL_TERM_STAFF);
    v[L_STAFF_COST] = cost->staff_cost_per_year;
    v[L_DRAW] = gl_cost_term_value(c, GL_TERM_DRAW);
    v[L_PUE] = cost->pue;
    v[L_ELECTRICITY] = rents || reserves ? 0 : cost->electricity_per_kwh;
    v[L_COLOCATION] = rents || !reserves ? 0 : cost->colocation_per_kw_month;
    v[L_LINES] = cost->line_fee_per_month;
    v[L_RENT] = cost->rent_per_gpu_hour;
    v[L_AVAILABILITY] = gl_cost_term_value(c, GL_TERM_AVAILABILITY);
    v[L_FAILURES] = gl_cost_term_value(c, GL_TERM_FAILURES);
    v[L_CHECKPOINT] = gl_cost_term_value(c, GL_TERM_CHECKPOINT);
    v[L_RESTART] = gl_cost_term_value(c, GL_TERM_RESTART);
}

static void fill_results(const gl_cost *cost, double *v)
{
    const gl_cost_figures *f = &cost->typical;
    v[L_CAPEX] = f->capex;
    v[L_HARDWARE] = f->hardware;
    v[L_NETWORK] = f->network;
    v[L_AMORTISED] = f->amortised_per_year;
    v[L_ENERGY] = f->energy_per_year;
    v[L_COLOCATION_YEAR] = f->colocation_per_year;
    v[L_SUPPORT_YEAR] = f->support_per_year;
    v[L_STAFF_YEAR] = f->staff_per_year;
    v[L_LINES_YEAR] = f->lines_per_year;
    v[L_RENT_YEAR] = f->rent_per_year;
    v[L_PER_YEAR] = f->per_year;
    v[L_MTBF] = f->mtbf_s;
    v[L_INTERVAL] = f->checkpoint_interval_s;
    v[L_GOODPUT] = f->goodput;
    v[L_GPU_HOUR] = f->per_gpu_hour;
    v[L_MILLION_TOKENS] = f->per_million_tokens;
    v[L_RUN_DAYS] = f->run_s / 86400;
    v[L_RUN] = f->per_run;
}

/* What stands where a total would need a price that nobody says, or work that is not done. */
#define MISSING "\"a price is missing\""
#define NO_WORK "\"no work is done\""
static const char NO_TOTAL[] = "no total: see above";

/* The names that formulas use for cells. */
static const struct {
    const char *name;
    line_key key;
} cells[] = {
    {"gpus", L_GPUS},
    {"job", L_JOB_GPUS},
    {"nodes", L_NODES},
    {"kw", L_POWER_KW},
    {"rate", L_TOKENS_PER_S},
    {"tokens", L_RUN_TOKENS},
    {"convention", L_CONVENTION},
    {"life", L_LIFE},
    {"residual", L_RESIDUAL},
    {"r", L_INTEREST},
    {"decay", L_DECAY},
    {"support", L_SUPPORT},
    {"staff", L_STAFF},
    {"person", L_STAFF_COST},
    {"draw", L_DRAW},
    {"pue", L_PUE},
    {"kwh", L_ELECTRICITY},
    {"kwmonth", L_COLOCATION},
    {"lines", L_LINES},
    {"rent", L_RENT},
    {"available", L_AVAILABILITY},
    {"failures", L_FAILURES},
    {"checkpoint", L_CHECKPOINT},
    {"restart", L_RESTART},
    {"capex", L_CAPEX},
    {"hardware", L_HARDWARE},
    {"amortised", L_AMORTISED},
    {"energy", L_ENERGY},
    {"colo", L_COLOCATION_YEAR},
    {"supportyear", L_SUPPORT_YEAR},
    {"staffyear", L_STAFF_YEAR},
    {"linesyear", L_LINES_YEAR},
    {"rentyear", L_RENT_YEAR},
    {"year", L_PER_YEAR},
    {"mtbf", L_MTBF},
    {"interval", L_INTERVAL},
    {"goodput", L_GOODPUT},
    {"million", L_MILLION_TOKENS},
};

/* The formulas of planner/core/cost.c; [name] is a cell, [first] and [last] rows of the bill. Each
 * is computed where all of `needs` are numbers; otherwise nothing is. */
static const struct {
    const char *needs, *text;
} formulas[L_COUNT] = {
    [L_CAPEX] = {"[person],[kwh],[kwmonth],[lines],[rent]",
                 "IF(COUNT(G[first]:G[last])<ROWS(G[first]:G[last])," MISSING
                 ",SUM(H[first]:H[last]))"},
    [L_HARDWARE] = {"[capex]", "SUMPRODUCT(H[first]:H[last],N[first]:N[last])"},
    [L_NETWORK] = {"[capex]", "SUMIF(A[first]:A[last],\"between nodes\",H[first]:H[last])"},
    [L_AMORTISED] =
        {"[capex],[residual],[r],[decay],[life]",
         "IF([convention]=\"decay\",[capex]*[decay]*LN(10),IF([life]>0,IF(AND("
         "[convention]=\"annuity\",[r]>0),[capex]*[r]/(1-(1+[r])^-[life])-[capex]*"
         "[residual]*[r]/((1+[r])^[life]-1),[capex]*(1-[residual])/[life]),\"no life\"))"},
    [L_ENERGY] = {"[capex],[kw],[draw],[pue],[kwh]", "[kw]*[draw]*[pue]*8760*[kwh]"},
    [L_COLOCATION_YEAR] = {"[capex],[kw],[kwmonth]", "[kw]*[kwmonth]*12"},
    [L_SUPPORT_YEAR] = {"[support],[hardware]", "[support]*[hardware]"},
    [L_STAFF_YEAR] = {"[staff],[nodes],[person]", "[staff]*[nodes]*[person]"},
    [L_LINES_YEAR] = {"[lines]", "[lines]*12"},
    [L_RENT_YEAR] = {"[rent],[gpus]", "[rent]*[gpus]*8760"},
    [L_PER_YEAR] = {"[amortised],[energy],[colo],[supportyear],[staffyear],[linesyear],[rentyear]",
                    "[amortised]+[energy]+[colo]+[supportyear]+[staffyear]+[linesyear]+[rentyear]"},
    [L_MTBF] = {"[failures],[job]",
                "IF([failures]*[job]>0,3600/([failures]*[job]),\"never stopped\")"},
    [L_INTERVAL] =
        {"[checkpoint]",
         "IF(ISNUMBER([mtbf]),IF([checkpoint]<2*[mtbf],SQRT(2*[checkpoint]*[mtbf])*(1+"
         "SQRT([checkpoint]/(2*[mtbf]))/3+[checkpoint]/(18*[mtbf]))-[checkpoint],[mtbf]),"
         "\"never stopped\")"},
    [L_GOODPUT] = {"[failures],[checkpoint],[restart]",
                   "IF(ISNUMBER([mtbf]),EXP(-[restart]/[mtbf])*IF([interval]>0,[interval]/[mtbf]*"
                   "EXP(-([interval]+[checkpoint])/[mtbf])/(1-EXP(-([interval]+[checkpoint])/[mtbf]"
                   ")),1),1)"},
    [L_GPU_HOUR] =
        {"[year],[gpus],[available],[goodput]",
         "IF([gpus]*[available]*[goodput]>0,[year]/([gpus]*8760*[available]*[goodput])," NO_WORK
         ")"},
    [L_MILLION_TOKENS] = {"[year],[available],[goodput]",
                          "IF([rate]>0,IF([available]*[goodput]>0,[year]/([rate]*[available]*"
                          "[goodput]*8760*3600)*1000000," NO_WORK "),\"\")"},
    [L_RUN_DAYS] = {"[year],[available],[goodput]",
                    "IF(AND([tokens]>0,[rate]>0),IF([available]*[goodput]>0,[tokens]/([rate]*"
                    "[available]*[goodput])/86400," NO_WORK "),\"\")"},
    [L_RUN] = {"[year]", "IF(AND([tokens]>0,[rate]>0),IF(ISNUMBER([million]),[tokens]/1000000*"
                         "[million],[million]),\"\")"},
};

static int row_of(const option *o, const gl_bom *bom, const char *name, size_t length)
{
    if (length == 5 && strncmp(name, "first", 5) == 0)
        return BILL_ROW + 2;
    if (length == 4 && strncmp(name, "last", 4) == 0)
        return BILL_ROW + 1 + (int)(bom->count > 0 ? bom->count : 1);
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        if (strlen(cells[i].name) == length && strncmp(cells[i].name, name, length) == 0)
            return o->row[cells[i].key];
    return 0;
}

/* "[name]" → "H30"; within "G[first]" the row alone. */
static const char *expand(const option *o, const gl_bom *bom, const char *formula, char *text,
                          size_t size)
{
    size_t used = 0;
    for (const char *c = formula; *c != '\0' && used + 16 < size; c++) {
        if (*c != '[') {
            text[used++] = *c;
            continue;
        }
        size_t length = strcspn(c + 1, "]");
        bool row_alone = strncmp(c, "[first]", 7) == 0 || strncmp(c, "[last]", 6) == 0;
        used += (size_t)snprintf(text + used, size - used, "%s%d", row_alone ? "" : "H",
                                 row_of(o, bom, c + 1, length));
        c += length + 1;
    }
    text[used] = '\0';
    return text;
}

static size_t count_names(const char *needs)
{
    size_t count = 0;
    for (const char *c = needs; *c != '\0'; c++)
        count += *c == '[' ? 1 : 0;
    return count;
}

/* The formula of a line, as the sheet has it. */
static const char *formula_of(const option *o, const gl_bom *bom, int key, char *text, size_t size)
{
    char whole[FORMULA_BYTES];
    const char *needs = formulas[key].needs;
    bool empty = bom->count == 0 && strstr(formulas[key].text, "[first]") != NULL;
    snprintf(whole, sizeof whole, "=IF(COUNT(%s)<%zu," MISSING ",%s)", needs, count_names(needs),
             empty ? "0" : formulas[key].text);
    return expand(o, bom, whole, text, size);
}

/* What a line says in words where it has no figure. */
static const char *words_of(const gl_cost *cost, int key)
{
    bool of_tokens = key == L_MILLION_TOKENS || key == L_RUN_DAYS || key == L_RUN;
    if (key == L_MTBF || key == L_INTERVAL)
        return "never stopped";
    if (cost->missing != NULL)
        return "a price is missing";
    return isnan(cost->typical.per_gpu_hour) ? "no work is done" : of_tokens ? "" : "not known";
}

static void put_line(const gl_xlsx *x, lxw_worksheet *sheet, const option *o, const gl_cost *cost,
                     int key)
{
    const gl_bom *bom = &cost->bom;
    int row = o->row[key] - 1;
    char text[FORMULA_BYTES];
    put_text(sheet, row, COLUMN_PLACE, labels[key], NULL);
    if (key < L_INPUT_COUNT)
        put_number(sheet, row, COLUMN_AMOUNT, o->value[key],
                   is_share(key)   ? x->input_share
                   : is_plain(key) ? x->input
                                   : x->input_money);
    else if (key == L_CAPEX && o->stopped)
        put_text(sheet, row, COLUMN_AMOUNT, NO_TOTAL, x->money);
    else
        put_formula(sheet, row, COLUMN_AMOUNT, formula_of(o, bom, key, text, sizeof text),
                    o->value[key], o->words[key], is_share(key) ? x->share : x->money);
}

/* Is something missing that no empty cell of the sheet stands for? */
static bool is_stopped(const option *o, const gl_cost *cost)
{
    if (cost->missing == NULL)
        return false;
    for (size_t i = 0; i < cost->bom.count; i++)
        if (isnan(cost->bom.lines[i].typical))
            return false;
    for (int i = 0; i < L_INPUT_COUNT; i++)
        if (i != L_CONVENTION && i != L_TOKENS_PER_S && i != L_RUN_TOKENS && isnan(o->value[i]))
            return false;
    return true;
}

static void put_lines(const gl_xlsx *x, lxw_worksheet *sheet, option *o, const gl_plan *plan)
{
    const gl_bom *bom = &plan->cost.bom;
    int row = BILL_ROW + 3 + (int)bom->count;
    put_text(sheet, row - 1, COLUMN_PLACE, "Cost", x->bold);
    for (int i = L_INPUT_COUNT; i < L_COUNT; i++)
        o->row[i] = ++row;
    row++;
    put_text(sheet, row, COLUMN_PLACE, "What it is computed with", x->bold);
    row++;
    for (int i = 0; i < L_INPUT_COUNT; i++)
        o->row[i] = ++row;
    for (int i = 0; i < L_COUNT; i++)
        o->words[i] = words_of(&plan->cost, i);
    if (o->stopped)
        o->words[L_CAPEX] = NO_TOTAL;
    for (int i = 0; i < L_COUNT; i++)
        put_line(x, sheet, o, &plan->cost, i);
    put_text(sheet, o->row[L_CONVENTION] - 1, COLUMN_AMOUNT,
             gl_amortisations[plan->cost.cluster->terms.amortisation], x->input);
}

void gl_xlsx_add(gl_xlsx *x, const gl_plan *plan, const char *name)
{
    char title[32];
    if (x->count == OPTIONS_MAX) {
        gl_xlsx_add_absent(
            x, name, gl_arena_printf(x->arena, "left out: a workbook holds %d plans", OPTIONS_MAX));
        return;
    }
    option *o = &x->options[x->count++];
    *o = (option){.name = gl_arena_strdup(x->arena, name)};
    snprintf(title, sizeof title, "Option %zu", x->count);
    lxw_worksheet *sheet = gl_memory_checked(workbook_add_worksheet(x->book, title));
    put_text(sheet, 0, 0, o->name, x->bold);
    if (plan->cost.cluster == NULL) {
        put_text(sheet, 1, 0, "The cluster names no price list: no cost is planned.", NULL);
        return;
    }
    o->costed = true;
    o->currency = gl_arena_strdup(x->arena, plan->cost.currency);
    put_text(sheet, 1, 0,
             gl_arena_printf(x->arena,
                             "Amounts in %s, price list %s. Shaded cells are yours to change: the "
                             "others follow.",
                             o->currency, plan->cost.cluster->price_list->name),
             NULL);
    if (plan->cost.missing != NULL)
        put_text(sheet, 2, 0, plan->cost.missing, NULL);
    fill_inputs(plan, o->value);
    fill_results(&plan->cost, o->value);
    o->stopped = is_stopped(o, &plan->cost);
    put_bill(x, sheet, &plan->cost.bom);
    put_lines(x, sheet, o, plan);
    worksheet_set_column(sheet, COLUMN_PLACE, COLUMN_PLACE, 24, NULL);
    worksheet_set_column(sheet, COLUMN_PART, COLUMN_TITLE, 20, NULL);
    worksheet_set_column(sheet, COLUMN_PRICE, COLUMN_HIGH, 15, NULL);
    worksheet_freeze_panes(sheet, BILL_ROW + 1, 0);
}

void gl_xlsx_add_absent(gl_xlsx *x, const char *name, const char *reason)
{
    gl_texts_add(&x->absent, x->arena, gl_arena_strdup(x->arena, name));
    gl_texts_add(&x->reasons, x->arena, gl_arena_strdup(x->arena, reason));
}

/* ---- summary and end ---- */

static void put_summary(const gl_xlsx *x)
{
    static const line_key shown[] = {L_CAPEX,          L_NETWORK,  L_PER_YEAR, L_GPU_HOUR,
                                     L_MILLION_TOKENS, L_RUN_DAYS, L_RUN};
    enum { SHOWN = sizeof shown / sizeof shown[0] };
    put_text(x->summary, 0, 0, "Option", x->bold);
    put_text(x->summary, 0, 1, "Plan", x->bold);
    put_text(x->summary, 0, 2, "Currency", x->bold);
    for (int k = 0; k < SHOWN; k++)
        put_text(x->summary, 0, 3 + k, labels[shown[k]], x->bold);
    for (size_t i = 0; i < x->count; i++) {
        const option *o = &x->options[i];
        int row = (int)i + 1;
        put_number(x->summary, row, 0, (double)row, x->plain);
        put_text(x->summary, row, 1, o->name, NULL);
        put_text(x->summary, row, 2, o->costed ? o->currency : "", NULL);
        for (int k = 0; o->costed && k < SHOWN; k++) {
            char formula[64];
            snprintf(formula, sizeof formula, "='Option %zu'!H%d", i + 1, o->row[shown[k]]);
            put_formula(x->summary, row, 3 + k, formula, o->value[shown[k]], o->words[shown[k]],
                        x->money);
        }
    }
    for (size_t i = 0; i < x->absent.count; i++) {
        put_text(x->summary, (int)(x->count + i) + 1, 1, x->absent.items[i], NULL);
        put_text(x->summary, (int)(x->count + i) + 1, 3, x->reasons.items[i], NULL);
    }
    worksheet_set_column(x->summary, 1, 1, 60, NULL);
    worksheet_set_column(x->summary, 3, 2 + SHOWN, 18, NULL);
}

static bool copy_file(FILE *file, gl_output *out, gl_error *err)
{
    char bytes[16384];
    size_t count;
    rewind(file);
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
        gl_output_write(out, bytes, count);
    return ferror(file) == 0 ||
           gl_fail(err, GL_ERROR_SYSTEM, "the workbook cannot be read: %s", strerror(errno));
}

bool gl_xlsx_end(gl_xlsx *x, gl_output *out, gl_error *err)
{
    put_summary(x);
    lxw_error status = workbook_close(x->book);
    bool done = status == LXW_NO_ERROR
                    ? copy_file(x->file, out, err)
                    : gl_fail(err, GL_ERROR_SYSTEM, "the workbook cannot be written: %s",
                              lxw_strerror(status));
    fclose(x->file);
    gl_arena_destroy(x->arena);
    return done;
}

void gl_xlsx_discard(gl_xlsx *x)
{
    if (x == NULL)
        return;
    workbook_close(x->book);
    fclose(x->file);
    gl_arena_destroy(x->arena);
}

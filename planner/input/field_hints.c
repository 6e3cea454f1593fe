/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/field_hints.h"

#include "common/text.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64, GUESSES_MAX = 4, FIELDS_MAX = 400 };

/* Names of Megatron-LM, DeepSpeed, PyTorch, NeMo and Hugging Face, and what people say. */
/* clang-format off */
const gl_synonym gl_field_synonyms[] = {
    {.name = "activationcheckpoint", .paths = "parallel.recompute"},
    {.name = "activationcheckpointing", .paths = "parallel.recompute"},
    {.name = "activationrecompute", .paths = "parallel.recompute"},
    {.name = "activationrecomputation", .paths = "parallel.recompute"},
    {.name = "attentionheads", .paths = "model.heads"},
    {.name = "batchsize", .paths = "batch.global,batch.micro"},
    {.name = "bs", .paths = "batch.global,batch.micro"},
    {.name = "bucketcapmb", .paths = "buckets.gradient"},
    {.name = "bucketsize", .paths = "buckets.gradient"},
    {.name = "checkpointing", .paths = "parallel.recompute"},
    {.name = "contextlength", .paths = "model.sequence"},
    {.name = "contextparallel", .paths = "parallel.cp"},
    {.name = "contextparallelsize", .paths = "parallel.cp"},
    {.name = "cpsize", .paths = "parallel.cp"},
    {.name = "dataparallel", .paths = "parallel.dp"},
    {.name = "dataparallelsize", .paths = "parallel.dp"},
    {.name = "decoderseqlength", .paths = "model.sequence"},
    {.name = "dff", .paths = "model.ffn"},
    {.name = "dim", .paths = "model.hidden"},
    {.name = "dmodel", .paths = "model.hidden"},
    {.name = "dpsize", .paths = "parallel.dp"},
    {.name = "dtype", .paths = "precision.compute"},
    {.name = "electricityprice", .paths = "cluster.site.electricity"},
    {.name = "embeddim", .paths = "model.hidden"},
    {.name = "epsize", .paths = "parallel.ep"},
    {.name = "expertmodelparallelsize", .paths = "parallel.ep"},
    {.name = "expertparallel", .paths = "parallel.ep"},
    {.name = "expertparallelsize", .paths = "parallel.ep"},
    {.name = "ffndim", .paths = "model.ffn"},
    {.name = "ffnhiddensize", .paths = "model.ffn"},
    {.name = "fsdp", .paths = "parallel.zero"},
    {.name = "gbs", .paths = "batch.global"},
    {.name = "globalbatch", .paths = "batch.global"},
    {.name = "globalbatchsize", .paths = "batch.global"},
    {.name = "gpucount", .paths = "cluster.nodes,cluster.gpus_per_node"},
    {.name = "gpus", .paths = "cluster.nodes,cluster.gpus_per_node"},
    {.name = "gputype", .paths = "cluster.gpu"},
    {.name = "gradientcheckpointing", .paths = "parallel.recompute"},
    {.name = "headdimension", .paths = "model.head_dim"},
    {.name = "hiddendim", .paths = "model.hidden"},
    {.name = "hiddensize", .paths = "model.hidden"},
    {.name = "hsdp", .paths = "parallel.shard"},
    {.name = "intermediatesize", .paths = "model.ffn"},
    {.name = "kvchannels", .paths = "model.head_dim"},
    {.name = "kvlorarank", .paths = "model.attention.kv_lora"},
    {.name = "localbatchsize", .paths = "batch.micro"},
    {.name = "maxpositionembeddings", .paths = "model.sequence,model.learned_positions"},
    {.name = "maxseqlen", .paths = "model.sequence"},
    {.name = "maxseqlength", .paths = "model.sequence"},
    {.name = "mbs", .paths = "batch.micro"},
    {.name = "microbatch", .paths = "batch.micro"},
    {.name = "microbatchsize", .paths = "batch.micro"},
    {.name = "minibatch", .paths = "batch.global"},
    {.name = "mixedprecision", .paths = "precision.compute"},
    {.name = "moeintermediatesize", .paths = "model.moe.expert_ffn"},
    {.name = "moeroutertopk", .paths = "model.moe.top_k"},
    {.name = "nembd", .paths = "model.hidden"},
    {.name = "ngpu", .paths = "cluster.nodes,cluster.gpus_per_node"},
    {.name = "ngpus", .paths = "cluster.nodes,cluster.gpus_per_node"},
    {.name = "nhead", .paths = "model.heads"},
    {.name = "nheads", .paths = "model.heads"},
    {.name = "nics", .paths = "cluster.inter_node.nics_per_node"},
    {.name = "nlayer", .paths = "model.layers"},
    {.name = "nlayers", .paths = "model.layers"},
    {.name = "nnodes", .paths = "cluster.nodes"},
    {.name = "nodecount", .paths = "cluster.nodes"},
    {.name = "nparams", .paths = "model.parameters"},
    {.name = "nprocpernode", .paths = "cluster.gpus_per_node"},
    {.name = "numattentionheads", .paths = "model.heads"},
    {.name = "numexperts", .paths = "model.moe.experts"},
    {.name = "numexpertspertok", .paths = "model.moe.top_k"},
    {.name = "numgpus", .paths = "cluster.nodes,cluster.gpus_per_node"},
    {.name = "numgpuspernode", .paths = "cluster.gpus_per_node"},
    {.name = "numheads", .paths = "model.heads"},
    {.name = "numhiddenlayers", .paths = "model.layers"},
    {.name = "numkeyvalueheads", .paths = "model.kv_heads"},
    {.name = "numlayers", .paths = "model.layers"},
    {.name = "numlayerspervirtualpipelinestage", .paths = "parallel.virtual_stages"},
    {.name = "numlocalexperts", .paths = "model.moe.experts"},
    {.name = "nstages", .paths = "parallel.pp"},
    {.name = "numnodes", .paths = "cluster.nodes"},
    {.name = "numquerygroups", .paths = "model.kv_heads"},
    {.name = "nroutedexperts", .paths = "model.moe.experts"},
    {.name = "numstages", .paths = "parallel.pp"},
    {.name = "oversub", .paths = "cluster.inter_node.oversubscription"},
    {.name = "params", .paths = "model.parameters"},
    {.name = "perdevicetrainbatchsize", .paths = "batch.micro"},
    {.name = "pipelineparallel", .paths = "parallel.pp"},
    {.name = "pipelineparallelsize", .paths = "parallel.pp"},
    {.name = "pipelinemodelparallelsize", .paths = "parallel.pp"},
    {.name = "pipelineparalleldegree", .paths = "parallel.pp"},
    {.name = "pipelinestages", .paths = "parallel.pp"},
    {.name = "ppsize", .paths = "parallel.pp"},
    {.name = "pricelist", .paths = "prices"},
    {.name = "qlorarank", .paths = "model.attention.q_lora"},
    {.name = "recomputation", .paths = "parallel.recompute"},
    {.name = "recomputeactivations", .paths = "parallel.recompute"},
    {.name = "recomputegranularity", .paths = "parallel.recompute"},
    {.name = "seqlen", .paths = "model.sequence"},
    {.name = "seqlength", .paths = "model.sequence"},
    {.name = "sequencelength", .paths = "model.sequence"},
    {.name = "sharp", .paths = "cluster.inter_node.in_network_reduction"},
    {.name = "slidingwindow", .paths = "model.attention.window"},
    {.name = "sp", .paths = "parallel.sequence_parallel"},
    {.name = "tensormodelparallelsize", .paths = "parallel.tp"},
    {.name = "tensorparallel", .paths = "parallel.tp"},
    {.name = "tensorparalleldegree", .paths = "parallel.tp"},
    {.name = "tensorparallelsize", .paths = "parallel.tp"},
    {.name = "tiewordembeddings", .paths = "model.tied_embeddings"},
    {.name = "tpsize", .paths = "parallel.tp"},
    {.name = "trainbatchsize", .paths = "batch.global"},
    {.name = "trainmicrobatchsizepergpu", .paths = "batch.micro"},
    {.name = "virtualpipelinemodelparallelsize", .paths = "parallel.virtual_stages"},
    {.name = "vocabsize", .paths = "model.vocab"},
    {.name = "vpp", .paths = "parallel.virtual_stages"},
    {.name = "worldsize", .paths = "cluster.nodes,cluster.gpus_per_node"},
    {.name = "zerostage", .paths = "parallel.zero"},
    {.name = NULL},
};

const gl_synonym gl_value_synonyms[] = {
    {"ddp", "parallel.zero", "0"},
    {"none", "parallel.zero", "0"},
    {"false", "parallel.zero", "0"},
    {"zero1", "parallel.zero", "1"},
    {"stage1", "parallel.zero", "1"},
    {"distributedoptimizer", "parallel.zero", "1"},
    {"zero2", "parallel.zero", "2"},
    {"stage2", "parallel.zero", "2"},
    {"zero3", "parallel.zero", "3"},
    {"stage3", "parallel.zero", "3"},
    {"fsdp", "parallel.zero", "3"},
    {"fsdp2", "parallel.zero", "3"},
    {"hsdp", "parallel.zero", "3"},
    {"noshard", "parallel.zero", "0"},
    {"shardgradop", "parallel.zero", "2"},
    {"fullshard", "parallel.zero", "3"},
    {"hybridshard", "parallel.zero", "3"},
    {"true", "parallel.recompute", "full"},
    {"yes", "parallel.recompute", "full"},
    {"false", "parallel.recompute", "none"},
    {"no", "parallel.recompute", "none"},
    {"mha", "model.attention.kind", "gqa"},
    {"mqa", "model.attention.kind", "gqa"},
    {"flash", "kernels.attention", "best"},
    {"flash3", "kernels.attention", "best"},
    {"sdpa", "kernels.attention", "best"},
    {"eager", "kernels.attention", "unfused"},
    {.name = NULL},
};

#define ACCUMULATION                                                                               \
    "microbatches follow from the batch: batch.global / (parallel.dp x batch.micro) of them a step"
#define ADAPTERS "adapters over frozen weights (LoRA, QLoRA) are not planned: all weights are trained"
#define THE_LINKS                                                                                  \
    "it is the link's inside a node: name another cluster.intra_node.link, or a link file of your own"
#define ADAM "the optimizer is Adam with two moments; their type is precision.optimizer"

const gl_advice gl_field_advices[] = {
    {"cluster.intra_node.bandwidth", THE_LINKS},
    {"cluster.intra_node.latency", THE_LINKS},
    {"optimizer.name", ADAM},
    {"optimizer.type", ADAM},
    {"precision.weights", "weights are held in precision.compute and precision.master; " ADAPTERS},
    {"accumulation", ACCUMULATION},
    {"accumulationsteps", ACCUMULATION},
    {"gradaccum", ACCUMULATION},
    {"gradaccumsteps", ACCUMULATION},
    {"gradientaccumulation", ACCUMULATION},
    {"gradientaccumulationsteps", ACCUMULATION},
    {"microbatches", ACCUMULATION},
    {"nummicrobatches", ACCUMULATION},
    {"adapter", ADAPTERS},
    {"adapters", ADAPTERS},
    {"bnb4bitquanttype", ADAPTERS},
    {"freeze", ADAPTERS},
    {"frozen", ADAPTERS},
    {"loadin4bit", ADAPTERS},
    {"loadin8bit", ADAPTERS},
    {"lora", ADAPTERS},
    {"loraalpha", ADAPTERS},
    {"loradropout", ADAPTERS},
    {"lorar", ADAPTERS},
    {"lorarank", ADAPTERS},
    {"loratargetmodules", ADAPTERS},
    {"peft", ADAPTERS},
    {"qlora", ADAPTERS},
    {"trainableparameters", ADAPTERS},
    {.name = NULL},
};

/* Types of weights that are not trained. */
static const char *const frozen_types[] = {"nf4", "fp4", "int4", "uint4", "4bit", NULL};
/* clang-format on */

/* Lower case without '-' and '_'; "" when it is longer than any name. */
static const char *normalise(const char *text, char out[NAME_BYTES])
{
    size_t length = 0;
    for (; *text != '\0' && length < NAME_BYTES - 1; text++)
        if (*text != '-' && *text != '_')
            out[length++] = (char)(*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text);
    out[*text == '\0' ? length : 0] = '\0';
    return out;
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

/* Fields that were probably meant. */
typedef struct guesses {
    const char *paths[GUESSES_MAX];
    int lengths[GUESSES_MAX]; /* bytes of each path */
    size_t count;
} guesses;

static void add_guess(guesses *g, const char *path, size_t length)
{
    if (g->count == GUESSES_MAX)
        return;
    g->paths[g->count] = path;
    g->lengths[g->count++] = (int)length;
}

static int depth(const char *path)
{
    int dots = 0;
    for (; *path != '\0'; path++)
        dots += *path == '.';
    return dots;
}

/* The fields of this name that lie highest: "nodes" is cluster.nodes, not those of its expansion.
 */
static void find_same_name(const gl_field *fields, const char *name, guesses *g)
{
    char own[NAME_BYTES];
    for (const gl_field *field = fields; field->path != NULL; field++) {
        if (strcmp(normalise(last_part(field->path), own), name) != 0)
            continue;
        if (g->count > 0 && depth(field->path) < depth(g->paths[0]))
            g->count = 0;
        if (g->count == 0 || depth(field->path) == depth(g->paths[0]))
            add_guess(g, field->path, strlen(field->path));
    }
}

static void find_synonyms(const char *name, guesses *g)
{
    for (const gl_synonym *s = gl_field_synonyms; s->name != NULL; s++) {
        if (strcmp(s->name, name) != 0)
            continue;
        for (const char *path = s->paths; *path != '\0';) {
            size_t length = strcspn(path, ",");
            add_guess(g, path, length);
            path += length + (path[length] == ',');
        }
    }
}

/* The field whose last name is a slip away. */
static void find_nearest(const gl_field *fields, const char *name, guesses *g)
{
    const char *names[FIELDS_MAX] = {NULL};
    size_t count = 0;
    for (; count < FIELDS_MAX && fields[count].path != NULL; count++)
        names[count] = last_part(fields[count].path);
    const char *nearest = gl_nearest(name, names, count);
    for (size_t i = 0; nearest != NULL && i < count; i++)
        if (strcmp(names[i], nearest) == 0)
            add_guess(g, fields[i].path, strlen(fields[i].path));
}

static bool takes(const gl_field *fields, const char *path, int length, const gl_yaml_node *value)
{
    for (const gl_field *field = fields; field != NULL && field->path != NULL; field++)
        if (strncmp(field->path, path, (size_t)length) == 0 && field->path[length] == '\0')
            return gl_field_takes(field, value);
    return false;
}

/* Of several fields those that take the value, where there are such. */
static void prefer_takers(guesses *g, const gl_field *fields, const gl_field *other,
                          const gl_yaml_node *value)
{
    guesses takers = {.count = 0};
    if (value == NULL || value->kind != GL_YAML_SCALAR)
        return;
    for (size_t i = 0; i < g->count; i++)
        if (takes(fields, g->paths[i], g->lengths[i], value) ||
            takes(other, g->paths[i], g->lengths[i], value))
            add_guess(&takers, g->paths[i], (size_t)g->lengths[i]);
    if (takers.count > 0)
        *g = takers;
}

/* The description that stands beside this one on a command line; NULL: none. */
static const gl_field *other_description(const gl_field *fields)
{
    if (gl_starts_with(fields[0].path, "model."))
        return gl_cluster_fields;
    return gl_starts_with(fields[0].path, "cluster.") ? gl_model_fields : NULL;
}

/* Is the path, or its first section, one of these fields'? */
static bool belongs(const gl_field *fields, const char *path)
{
    size_t length = strlen(path);
    for (const gl_field *field = fields; field->path != NULL; field++)
        if (strncmp(field->path, path, length) == 0 &&
            (field->path[length] == '.' || field->path[length] == '\0'))
            return true;
    return false;
}

static const char *write_guesses(const guesses *g, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < g->count; i++) {
        const char *before = i == 0 ? "; did you mean " : i + 1 < g->count ? ", " : " or ";
        if (used + strlen(before) + (size_t)g->lengths[i] + sizeof "''?" > size)
            break;
        used += (size_t)snprintf(out + used, size - used, "%s'%.*s'", before, g->lengths[i],
                                 g->paths[i]);
    }
    if (used > 0)
        snprintf(out + used, size - used, "?");
    return out;
}

/* What there is no field for; NULL: nothing is known. "q_lora" is a field's name, "qlora" is not.
 */
static const char *find_advice(const char *path, const char *name)
{
    for (const gl_advice *a = gl_field_advices; a->name != NULL; a++)
        if (strcmp(a->name, path) == 0 ||
            (strcmp(a->name, name) == 0 && strcmp(last_part(path), "q_lora") != 0))
            return a->text;
    return NULL;
}

const char *gl_field_hint(const gl_field *fields, const char *path, const gl_yaml_node *value,
                          char *out, size_t size)
{
    guesses g = {.count = 0};
    char name[NAME_BYTES];
    const gl_field *other = other_description(fields);
    if (other != NULL && belongs(other, path)) {
        snprintf(out, size, "; it belongs to a %s",
                 other == gl_cluster_fields ? "cluster description, given with --cluster"
                                            : "model description");
        return out;
    }
    normalise(last_part(path), name);
    const char *advice = other != NULL ? find_advice(path, name) : NULL;
    if (advice == NULL && other != NULL && strchr(path, '.') != NULL) {
        /* "lora: {r: 8}" is about the section. */
        char section[NAME_BYTES], top[NAME_BYTES];
        snprintf(top, sizeof top, "%.*s", (int)strcspn(path, "."), path);
        advice = find_advice(top, normalise(top, section));
    }
    if (advice != NULL) {
        snprintf(out, size, "; %s", advice);
        return out;
    }
    if (name[0] != '\0')
        find_same_name(fields, name, &g);
    if (g.count == 0 && name[0] != '\0' && other != NULL)
        find_same_name(other, name, &g);
    if (g.count == 0 && other != NULL)
        find_synonyms(name, &g);
    prefer_takers(&g, fields, other, value);
    return write_guesses(&g, out, size);
}

const char *gl_field_hint_nearest(const gl_field *fields, const char *path,
                                  const gl_yaml_node *value, char *out, size_t size)
{
    guesses g = {.count = 0};
    const gl_field *other = other_description(fields);
    if (gl_field_hint(fields, path, value, out, size)[0] != '\0')
        return out;
    find_nearest(fields, last_part(path), &g);
    if (g.count == 0 && other != NULL)
        find_nearest(other, last_part(path), &g);
    prefer_takers(&g, fields, other, value);
    return write_guesses(&g, out, size);
}

const char *gl_value_hint(const gl_field *field, const char *value, char *out, size_t size)
{
    guesses g = {.count = 0};
    char name[NAME_BYTES];
    size_t count = 0;
    normalise(value, name);
    for (const gl_synonym *s = gl_value_synonyms; s->name != NULL; s++)
        if (strcmp(s->name, name) == 0 && strcmp(s->paths, field->path) == 0)
            add_guess(&g, s->value, strlen(s->value));
    if (g.count > 0)
        return write_guesses(&g, out, size);
    for (size_t i = 0; field->type == GL_FIELD_DTYPE && frozen_types[i] != NULL; i++)
        if (strcmp(frozen_types[i], name) == 0) {
            snprintf(out, size, "; " ADAPTERS ";");
            return out;
        }
    while (field->choices != NULL && field->choices[count] != NULL)
        count++;
    return gl_did_you_mean(value, field->choices, count, out, size);
}

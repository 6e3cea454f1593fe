/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/huggingface.h"

#include "common/text.h"
#include "planner/input/fields.h"
#include "planner/input/json_check.h"
#include "planner/input/notes.h"

#include <stdio.h>
#include <string.h>

enum { KEY_BYTES = 64, FOUND_BYTES = 48, GUESS_BYTES = 160, LIST_BYTES = 320, FFN_MAX = 16777216 };

/* What the code of a family fixes, whatever its configuration says. */
enum {
    GATED = 1 << 0,          /* SwiGLU: three matrices */
    TIED = 1 << 1,           /* when tie_word_embeddings is absent */
    FUSED = 1 << 2,          /* one QKV tensor */
    LAYERNORM = 1 << 3,      /* with bias; otherwise RMSNorm */
    BIASES = 1 << 4,         /* on every linear layer */
    QKV_BIASES = 1 << 5,     /* on Q, K and V only */
    QK_NORM = 1 << 6,        /* a norm on every Q and K head */
    EMBEDDING_NORM = 1 << 7, /* a norm after the embedding */
    FOUR_HIDDEN = 1 << 8,    /* the MLP is 4 × hidden wide unless stated */
    MIXTURE = 1 << 9         /* every layer has experts: no dense MLP */
};

typedef struct reader {
    const gl_yaml_tree *tree;
    const char *family;
    gl_arena *arena;
    gl_model *model;
    int *positions;
    gl_texts *warnings;
    gl_diagnostics *diagnostics;
} reader;

typedef struct family {
    const char *type; /* model_type */
    unsigned traits;
    /* Names of keys; alternatives are joined by '|'. */
    const char *layers, *hidden, *heads, *kv_heads, *ffn, *positions;
    void (*finish)(const reader *r); /* what is particular; NULL = nothing */
    const char *note;                /* what is not counted, as a warning; NULL = nothing */
} family;

/* ---- values ---- */

static bool is_null(const gl_yaml_node *node)
{
    return node->kind == GL_YAML_SCALAR && !node->quoted &&
           (strcmp(node->text, "null") == 0 || node->text[0] == '\0');
}

/* The first of the keys "a|b" that has a value; null is as good as absent. */
static const gl_yaml_node *find(const reader *r, const char *keys)
{
    char key[KEY_BYTES];
    while (*keys != '\0') {
        size_t length = strcspn(keys, "|");
        snprintf(key, sizeof key, "%.*s", (int)length, keys);
        const gl_yaml_node *node = gl_yaml_get(r->tree->root, key);
        if (node != NULL && !is_null(node))
            return node;
        keys += length + (keys[length] == '|');
    }
    return NULL;
}

static void diagnose_missing(const reader *r, const char *keys)
{
    char key[KEY_BYTES];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(keys, "|"), keys);
    gl_mark file = {.file = r->tree->file};
    gl_diagnose(r->diagnostics, &file, key, "missing; a configuration of model_type %s needs it",
                r->family);
}

/* Reads a whole number within the range that the model description has for `path`; *value stays as
 * it is when the key is absent or wrong. */
static bool read_int(const reader *r, const char *keys, const char *path, int *value)
{
    gl_error err;
    long long found;
    char range[96], text[FOUND_BYTES];
    const gl_yaml_node *node = find(r, keys);
    const gl_field *field = gl_fields_find(gl_model_fields, path);
    if (node == NULL)
        return false;
    if (node->kind != GL_YAML_SCALAR || node->quoted)
        return gl_diagnose(r->diagnostics, &node->mark, node->key, "needed: a whole number");
    if (!gl_parse_integer(node->text, &found, &err))
        return gl_diagnose(r->diagnostics, &node->mark, node->key, "%s", err.message);
    if (!gl_field_in_range(field, (double)found, range, sizeof range))
        return gl_diagnose(r->diagnostics, &node->mark, node->key,
                           "'%s' is out of range; allowed: %s",
                           gl_printable(node->text, text, sizeof text), range);
    *value = (int)found;
    return true;
}

static void need_int(const reader *r, const char *keys, const char *path, int *value)
{
    if (find(r, keys) == NULL)
        diagnose_missing(r, keys);
    else
        read_int(r, keys, path, value);
}

static void read_bool(const reader *r, const char *key, bool *value)
{
    const gl_yaml_node *node = find(r, key);
    if (node == NULL)
        return;
    bool yes = node->kind == GL_YAML_SCALAR && !node->quoted && strcmp(node->text, "true") == 0;
    bool no = node->kind == GL_YAML_SCALAR && !node->quoted && strcmp(node->text, "false") == 0;
    if (yes || no)
        *value = yes;
    else
        gl_diagnose(r->diagnostics, &node->mark, node->key, "needed: true or false");
}

static bool flag(const reader *r, const char *key, bool initial)
{
    read_bool(r, key, &initial);
    return initial;
}

static void warn(const reader *r, const char *key, const char *message)
{
    const gl_yaml_node *node = key != NULL ? find(r, key) : NULL;
    gl_mark file = {.file = r->tree->file};
    gl_warn(r->warnings, r->arena, node != NULL ? &node->mark : &file, key, "%s", message);
}

/* ---- what is particular to a family ---- */

static void finish_llama(const reader *r)
{
    bool attention = flag(r, "attention_bias", false), mlp = flag(r, "mlp_bias", false);
    if (attention && mlp) {
        r->model->biases = GL_BIASES_ALL;
    } else if (attention) {
        r->model->biases = GL_BIASES_QKV;
        warn(r, "attention_bias", "the bias of the attention's output projection is not counted");
    } else if (mlp) {
        warn(r, "mlp_bias", "the biases of the MLP are not counted");
    }
}

static void finish_window(const reader *r)
{
    read_int(r, "sliding_window", "model.attention.window", &r->model->attention.window);
}

/* Qwen's window is off unless use_sliding_window is set, and then holds for the upper layers. */
static void finish_qwen(const reader *r)
{
    if (flag(r, "use_sliding_window", false))
        warn(r, "use_sliding_window",
             "attention is taken as full; only some layers have a sliding window");
    if (flag(r, "attention_bias", false) && r->model->biases == GL_BIASES_NONE) {
        r->model->biases = GL_BIASES_QKV;
        warn(r, "attention_bias", "the bias of the attention's output projection is not counted");
    }
}

static void read_experts(const reader *r, const char *experts, const char *expert_ffn)
{
    gl_moe *moe = &r->model->moe;
    need_int(r, experts, "model.moe.experts", &moe->experts);
    need_int(r, "num_experts_per_tok", "model.moe.top_k", &moe->top_k);
    need_int(r, expert_ffn, "model.moe.expert_ffn", &moe->expert_ffn);
}

static void finish_mixtral(const reader *r)
{
    finish_window(r);
    read_experts(r, "num_local_experts", "intermediate_size");
}

/* Layers listed as dense must be the leading ones: that is all that the model can say. */
static void read_dense_layers(const reader *r)
{
    int count = 0;
    const gl_yaml_node *node = find(r, "mlp_only_layers");
    if (node == NULL)
        return;
    for (const gl_yaml_node *item = node->first; item != NULL; item = item->next) {
        char expected[16];
        snprintf(expected, sizeof expected, "%d", count++);
        if (item->kind == GL_YAML_SCALAR && strcmp(item->text, expected) == 0)
            continue;
        gl_diagnose(r->diagnostics, &item->mark, node->key,
                    "only leading layers (0, 1, …) can be dense here");
        return;
    }
    r->model->moe.first_dense_layers = count;
}

static void finish_qwen_moe(const reader *r)
{
    gl_moe *moe = &r->model->moe;
    finish_qwen(r);
    read_experts(r, "num_experts", "moe_intermediate_size");
    read_int(r, "shared_expert_intermediate_size", "model.moe.shared_ffn", &moe->shared_ffn);
    read_int(r, "decoder_sparse_step", "model.moe.every", &moe->every);
    read_dense_layers(r);
    if (moe->shared_ffn > 0)
        warn(r, "shared_expert_intermediate_size",
             "the shared expert's gate (hidden weights a layer) is not counted");
}

static void read_latent_attention(const reader *r)
{
    gl_attention *a = &r->model->attention;
    a->kind = GL_ATTENTION_MLA;
    read_int(r, "q_lora_rank", "model.attention.q_lora", &a->q_lora);
    need_int(r, "kv_lora_rank", "model.attention.kv_lora", &a->kv_lora);
    need_int(r, "qk_nope_head_dim", "model.attention.qk_nope", &a->qk_nope);
    need_int(r, "qk_rope_head_dim", "model.attention.qk_rope", &a->qk_rope);
    need_int(r, "v_head_dim", "model.attention.v_head", &a->v_head);
}

/* Shared experts are stated by their number, each as wide as a routed one. */
static void read_shared_experts(const reader *r)
{
    int count = 0;
    gl_moe *moe = &r->model->moe;
    if (!read_int(r, "n_shared_experts", "model.moe.shared_ffn", &count))
        return;
    if ((int64_t)count * moe->expert_ffn > FFN_MAX)
        gl_diagnose(r->diagnostics, &find(r, "n_shared_experts")->mark, "n_shared_experts",
                    "the shared experts together are wider than %d", FFN_MAX);
    else
        moe->shared_ffn = count * moe->expert_ffn;
}

static void finish_deepseek(const reader *r)
{
    gl_moe *moe = &r->model->moe;
    read_latent_attention(r);
    /* Dense is what says so: without the key the family's own default has experts. */
    if (gl_yaml_get(r->tree->root, "n_routed_experts") != NULL &&
        find(r, "n_routed_experts|moe_intermediate_size|num_experts_per_tok") == NULL)
        return;
    read_experts(r, "n_routed_experts", "moe_intermediate_size");
    read_shared_experts(r);
    read_int(r, "first_k_dense_replace", "model.moe.first_dense_layers", &moe->first_dense_layers);
    read_int(r, "moe_layer_freq", "model.moe.every", &moe->every);
}

/* V3 routes without an auxiliary loss: e_score_correction_bias, one value per expert. */
static void finish_deepseek_v3(const reader *r)
{
    int extra = 0;
    finish_deepseek(r);
    r->model->moe.router_bias = r->model->moe.experts > 0;
    read_int(r, "num_nextn_predict_layers", "model.moe.first_dense_layers", &extra);
    if (extra > 0)
        warn(r, "num_nextn_predict_layers", "layers for multi-token prediction are not counted");
}

static void finish_gpt2(const reader *r)
{
    read_int(r, "n_positions|n_ctx", "model.learned_positions", &r->model->learned_positions);
    if (r->model->learned_positions == 0)
        diagnose_missing(r, "n_positions");
}

static void finish_neox(const reader *r)
{
    if (flag(r, "attention_bias", true))
        return;
    r->model->biases = GL_BIASES_NONE;
    warn(r, "attention_bias", "the biases of the MLP are not counted");
}

/* OPT's table begins with two positions that are never used. */
static void finish_opt(const reader *r)
{
    int positions = 0, projection = r->model->hidden;
    need_int(r, "max_position_embeddings", "model.learned_positions", &positions);
    r->model->learned_positions = positions > 0 ? positions + 2 : 0;
    read_int(r, "word_embed_proj_dim", "model.hidden", &projection);
    if (projection != r->model->hidden)
        gl_diagnose(r->diagnostics, &find(r, "word_embed_proj_dim")->mark, "word_embed_proj_dim",
                    "embeddings of another width than hidden_size are not supported");
    if (!flag(r, "enable_bias", true))
        r->model->biases = GL_BIASES_NONE;
}

/* The first Falcon models have one K and V head (multi_query) and one norm a layer; the new
 * architecture has groups and two norms. */
static void finish_falcon(const reader *r)
{
    bool grouped = flag(r, "new_decoder_architecture", false);
    bool multi_query = flag(r, "multi_query", true);
    if (!grouped)
        r->model->kv_heads = multi_query ? 1 : 0;
    if (flag(r, "bias", false))
        r->model->biases = GL_BIASES_ALL;
    if (!grouped && flag(r, "parallel_attn", true))
        warn(r, NULL, "each layer has one norm; two are counted");
}

#define COMMON_KEYS                                                                                \
    .layers = "num_hidden_layers", .hidden = "hidden_size", .heads = "num_attention_heads",        \
    .ffn = "intermediate_size", .positions = "max_position_embeddings"
#define GPT_KEYS                                                                                   \
    .layers = "n_layer|num_hidden_layers", .hidden = "n_embd|hidden_size",                         \
    .heads = "n_head|num_attention_heads", .ffn = "n_inner", .positions = "n_positions|n_ctx"

static const family families[] = {
    {.type = "llama",
     .traits = GATED,
     COMMON_KEYS,
     .kv_heads = "num_key_value_heads",
     .finish = finish_llama},
    {.type = "mistral",
     .traits = GATED,
     COMMON_KEYS,
     .kv_heads = "num_key_value_heads",
     .finish = finish_window},
    {.type = "mixtral",
     .traits = GATED | MIXTURE,
     COMMON_KEYS,
     .kv_heads = "num_key_value_heads",
     .finish = finish_mixtral},
    {.type = "qwen2",
     .traits = GATED | QKV_BIASES,
     COMMON_KEYS,
     .kv_heads = "num_key_value_heads",
     .finish = finish_qwen},
    {.type = "qwen3",
     .traits = GATED | QK_NORM,
     COMMON_KEYS,
     .kv_heads = "num_key_value_heads",
     .finish = finish_qwen},
    {.type = "qwen2_moe",
     .traits = GATED | QKV_BIASES,
     COMMON_KEYS,
     .kv_heads = "num_key_value_heads",
     .finish = finish_qwen_moe},
    {.type = "qwen3_moe",
     .traits = GATED | QK_NORM,
     COMMON_KEYS,
     .kv_heads = "num_key_value_heads",
     .finish = finish_qwen_moe},
    {.type = "deepseek_v2", .traits = GATED, COMMON_KEYS, .finish = finish_deepseek},
    {.type = "deepseek_v3", .traits = GATED, COMMON_KEYS, .finish = finish_deepseek_v3},
    {.type = "gpt2",
     .traits = TIED | FUSED | LAYERNORM | BIASES | FOUR_HIDDEN,
     GPT_KEYS,
     .finish = finish_gpt2},
    {.type = "gptj",
     .traits = LAYERNORM | FOUR_HIDDEN,
     GPT_KEYS,
     .note = "each layer has one norm and biases in the MLP only: counted as two norms and none"},
    {.type = "gpt_neox", .traits = FUSED | LAYERNORM | BIASES, COMMON_KEYS, .finish = finish_neox},
    {.type = "opt",
     .traits = TIED | LAYERNORM | BIASES,
     .layers = "num_hidden_layers",
     .hidden = "hidden_size",
     .heads = "num_attention_heads",
     .ffn = "ffn_dim",
     .positions = "max_position_embeddings",
     .finish = finish_opt},
    {.type = "bloom",
     .traits = TIED | FUSED | LAYERNORM | BIASES | EMBEDDING_NORM | FOUR_HIDDEN,
     .layers = "n_layer|num_hidden_layers",
     .hidden = "hidden_size|n_embed",
     .heads = "n_head|num_attention_heads",
     .ffn = "n_inner",
     .positions = "seq_length"},
    {.type = "falcon",
     .traits = TIED | FUSED | LAYERNORM | FOUR_HIDDEN,
     .layers = "num_hidden_layers|n_layer",
     .hidden = "hidden_size",
     .heads = "num_attention_heads|n_head",
     .kv_heads = "num_kv_heads|n_head_kv",
     .ffn = "ffn_hidden_size",
     .positions = "max_position_embeddings",
     .finish = finish_falcon},
};

enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

/* ---- all families ---- */

/* Experts that the code of a family does not know of would go unseen, and most of the parameters
 * with them. A single one is an MLP. */
static void refuse_experts(const reader *r)
{
    static const char *const counts[] = {"num_local_experts", "num_experts",
                                         "n_routed_experts",  "moe_num_experts",
                                         "num_moe_experts",   "num_experts_per_tok"};
    char found[FOUND_BYTES];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && r->model->moe.experts == 0; i++) {
        const gl_yaml_node *node = find(r, counts[i]);
        if (node == NULL || (node->kind == GL_YAML_SCALAR &&
                             (strcmp(node->text, "0") == 0 || strcmp(node->text, "1") == 0)))
            continue;
        gl_diagnose(r->diagnostics, &node->mark, node->key,
                    "%s, but model_type %s is a dense model: a model with experts has another "
                    "model_type (mixtral, qwen3_moe, deepseek_v3, …), or is described in YAML "
                    "(model.moe)",
                    node->kind == GL_YAML_SCALAR ? gl_printable(node->text, found, sizeof found)
                                                 : "is no number",
                    r->family);
        return;
    }
}

static void apply_traits(const reader *r, unsigned traits)
{
    gl_model *m = r->model;
    m->gated_mlp = (traits & GATED) != 0;
    m->tied_embeddings = (traits & TIED) != 0;
    m->fused_weights = (traits & FUSED) != 0;
    m->norms = (traits & LAYERNORM) != 0 ? GL_NORMS_LAYERNORM : GL_NORMS_RMSNORM;
    m->qk_norm = (traits & QK_NORM) != 0;
    m->embedding_norm = (traits & EMBEDDING_NORM) != 0;
    if ((traits & BIASES) != 0)
        m->biases = GL_BIASES_ALL;
    else
        m->biases = (traits & QKV_BIASES) != 0 ? GL_BIASES_QKV : GL_BIASES_NONE;
}

static void read_sizes(const reader *r, const family *f)
{
    gl_model *m = r->model;
    need_int(r, f->layers, "model.layers", &m->layers);
    need_int(r, f->hidden, "model.hidden", &m->hidden);
    need_int(r, f->heads, "model.heads", &m->heads);
    need_int(r, "vocab_size", "model.vocab", &m->vocab);
    read_int(r, "head_dim", "model.head_dim", &m->head_dim);
    read_int(r, f->positions, "model.sequence", r->positions);
    read_bool(r, "tie_word_embeddings", &m->tied_embeddings);
    if (f->kv_heads != NULL)
        read_int(r, f->kv_heads, "model.kv_heads", &m->kv_heads);
    if ((f->traits & MIXTURE) != 0)
        return;
    if ((f->traits & FOUR_HIDDEN) == 0)
        need_int(r, f->ffn, "model.ffn", &m->ffn);
    else if (!read_int(r, f->ffn, "model.ffn", &m->ffn))
        m->ffn = 4 * m->hidden;
}

/* The family of the text model inside one that also sees or hears; NULL: none that is known. */
static const family *find_text_family(const gl_yaml_tree *tree)
{
    const gl_yaml_node *text = gl_yaml_get(tree->root, "text_config");
    const gl_yaml_node *node =
        text != NULL && text->kind == GL_YAML_MAPPING ? gl_yaml_get(text, "model_type") : NULL;
    for (size_t i = 0; i < FAMILY_COUNT && node != NULL && node->kind == GL_YAML_SCALAR; i++)
        if (strcmp(node->text, families[i].type) == 0)
            return &families[i];
    return NULL;
}

static const family *find_family(const gl_yaml_tree *tree, gl_arena *arena,
                                 gl_diagnostics *diagnostics)
{
    gl_error err;
    const char *names[FAMILY_COUNT];
    char found[FOUND_BYTES], list[LIST_BYTES], guess[GUESS_BYTES];
    const gl_yaml_node *node = gl_yaml_get(tree->root, "model_type");
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        names[i] = families[i].type;
        if (node != NULL && node->kind == GL_YAML_SCALAR && strcmp(node->text, names[i]) == 0)
            return &families[i];
    }
    if (node == NULL && !gl_json_check(tree->file, arena, &err)) {
        gl_diagnose_error(diagnostics, &err);
        return NULL;
    }
    gl_list_names(names, FAMILY_COUNT, list, sizeof list);
    gl_mark file = {.file = tree->file};
    if (node == NULL || node->kind != GL_YAML_SCALAR) {
        gl_diagnose(diagnostics, node != NULL ? &node->mark : &file, "model_type",
                    "missing; needed: a Hugging Face config.json of one of these families: %s",
                    list);
        return NULL;
    }
    const family *text_family = find_text_family(tree);
    if (text_family != NULL) {
        gl_diagnose(diagnostics, &node->mark, "model_type",
                    "'%s' joins a text model with others, which are not planned: save its "
                    "text_config (%s) as a file of its own",
                    gl_printable(node->text, found, sizeof found), text_family->type);
        return NULL;
    }
    gl_diagnose(diagnostics, &node->mark, "model_type", "'%s' is not supported%s supported: %s",
                gl_printable(node->text, found, sizeof found),
                gl_did_you_mean(node->text, names, FAMILY_COUNT, guess, sizeof guess), list);
    return NULL;
}

bool gl_huggingface_load(const gl_yaml_tree *tree, gl_arena *arena, gl_model *model, int *positions,
                         gl_texts *warnings, gl_diagnostics *diagnostics)
{
    size_t before = diagnostics->count + diagnostics->dropped;
    if (tree->root->kind != GL_YAML_MAPPING)
        return gl_diagnose(diagnostics, &tree->root->mark, NULL,
                           "needed: a mapping, such as a Hugging Face config.json");
    const family *f = find_family(tree, arena, diagnostics);
    if (f == NULL)
        return false;
    reader r = {.tree = tree,
                .family = f->type,
                .arena = arena,
                .model = model,
                .positions = positions,
                .warnings = warnings,
                .diagnostics = diagnostics};
    *positions = 0;
    apply_traits(&r, f->traits);
    read_sizes(&r, f);
    if (f->finish != NULL)
        f->finish(&r);
    if (diagnostics->count + diagnostics->dropped == before)
        refuse_experts(&r);
    if (f->note != NULL)
        warn(&r, NULL, f->note);
    if (find(&r, "quantization_config") != NULL)
        warn(&r, "quantization_config",
             "is how weights are stored, not how the model is trained: precision.compute says that "
             "(bf16 unless set)");
    return diagnostics->count + diagnostics->dropped == before;
}

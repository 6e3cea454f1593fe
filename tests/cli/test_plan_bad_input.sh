#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every kind of bad input: one message that says where and what, the right status, never a crash.
source "$GPULINK_SOURCE/tests/cli/support.sh"
base=$models/llama-8b-16l-tp.yaml
cluster=hgx-h100-16-ndr

plan() {
    gpulink-plan "$1" --cluster "${2-$cluster}"
}

cp "$base" good.yaml
expect 0 'Llama 8B' plan good.yaml

# Fields of the description.
variant unit.yaml '$a buckets: {gradient: 25 MB/s}'
expect 3 '^gpulink-plan: unit\.yaml:[0-9]+:[0-9]+: buckets\.gradient: .*MB/s.*bytes' plan unit.yaml
variant bare.yaml '$a buckets: {gradient: 25}'
expect 3 'bare\.yaml:[0-9]+:[0-9]+: buckets\.gradient: .*unit' plan bare.yaml
variant key.yaml 's/kv_heads/kv_haeds/'
expect 3 "key\.yaml:[0-9]+:[0-9]+: .*kv_haeds.*did you mean '?kv_heads" plan key.yaml
variant twice.yaml 's/^  layers: 16/  layers: 16\n  layers: 16/'
expect 3 'twice\.yaml:[0-9]+:[0-9]+: .*layers.*(twice|duplicate|again)' plan twice.yaml
variant tab.yaml 's/^  layers: 16/\tlayers: 16/'
expect 3 'tab\.yaml:[0-9]+:[0-9]+: .*tab' plan tab.yaml
variant nan.yaml 's/^  parameters: .*/  parameters: .nan/'
expect 3 'nan\.yaml:[0-9]+:[0-9]+: model\.parameters: ' plan nan.yaml
variant nan2.yaml 's/^  parameters: .*/  parameters: nan/'
expect 3 'nan2\.yaml:[0-9]+:[0-9]+: model\.parameters: ' plan nan2.yaml
variant text.yaml 's/^  layers: 16/  layers: sixteen/'
expect 3 'text\.yaml:[0-9]+:[0-9]+: model\.layers: .*sixteen' plan text.yaml
variant negative.yaml 's/^  tp: 2/  tp: -2/'
expect 3 'negative\.yaml:[0-9]+:[0-9]+: parallel\.tp: .*-2' plan negative.yaml
variant zero.yaml 's/^  tp: 2/  tp: 0/'
expect 3 'zero\.yaml:[0-9]+:[0-9]+: parallel\.tp: .*0' plan zero.yaml
variant choice.yaml 's/^  tp: 2/  tp: 2\n  schedule: 1f1c/'
expect 3 "choice\.yaml:[0-9]+:[0-9]+: parallel\.schedule: .*1f1b" plan choice.yaml

# Rules between fields.
variant heads.yaml 's/^  tp: 2/  tp: 3/'
expect 3 'heads\.yaml:[0-9]+:[0-9]+: .*heads.*32.*tp.*3' plan heads.yaml
variant uneven.yaml 's/^  tp: 2/  tp: 2\n  pp: 3/' 's/global: 1, micro: 1/global: 6, micro: 1/'
expect 0 'no multiple of pp' plan uneven.yaml
expect 0 'held by stage 0: 5, stage 1: 6, stage 2: 5' plan uneven.yaml
variant many.yaml 's/^  tp: 2/  tp: 2\n  dp: 512/' 's/global: 1, micro: 1/global: 512, micro: 1/'
expect 3 'many\.yaml.*1024.*128' plan many.yaml
cat >ep.yaml <<'YAML'
model: {name: M, layers: 4, hidden: 512, heads: 8, ffn: 1024, vocab: 1000, sequence: 512,
        moe: {experts: 16, top_k: 2, expert_ffn: 512}}
parallel: {dp: 2, ep: 8}
batch: {global: 2, micro: 1}
YAML
expect 3 'ep\.yaml:[0-9]+:[0-9]+: parallel\.ep: .*8.*2' plan ep.yaml
printf 'model: {parameters: 7e9}\nparallel: {tp: 2}\n' >bare_tp.yaml
expect 3 'bare_tp\.yaml.*architecture|bare_tp\.yaml.*layers' plan bare_tp.yaml
variant count.yaml 's/^  parameters: .*/  parameters: 9e9/'
expect 3 'count\.yaml:[0-9]+:[0-9]+: model\.parameters: .*9' plan count.yaml

# Several problems: all are said.
variant several.yaml 's/kv_heads/kv_haeds/' 's/^  tp: 2/  tp: 0/'
expect 3 'kv_haeds' plan several.yaml
expect 3 'parallel\.tp' plan several.yaml
{
    printf 'model: {name: M}\nparallel:\n'
    for i in $(seq 1 30); do printf '  wrong_%d: 1\n' "$i"; done
} >thirty.yaml
expect 3 'and 1[0-9] more' plan thirty.yaml

# Files that are no descriptions.
: >empty.yaml
expect 3 'empty\.yaml.*empty' plan empty.yaml
head -c 4096 "$GPULINK_BIN/gpulink-plan" >binary.yaml
expect 3 'binary\.yaml' plan binary.yaml
mkdir folder
expect 3 'folder.*directory' plan folder
expect 3 'missing\.yaml.*(no such|not there|does not exist|No such)' plan missing.yaml
printf 'gpu: {}\n' >other.yaml
expect 3 'other\.yaml' plan other.yaml

# Clusters.
expect 3 "did you mean '?hgx-h100-16-ndr" plan good.yaml hgx-h100-16-ndx
expect 3 'folder.*directory' plan good.yaml folder
expect 3 'empty\.yaml' plan good.yaml empty.yaml
expect 3 'binary\.yaml' plan good.yaml binary.yaml
expect 3 'is a model description|cluster' plan good.yaml good.yaml
if command -v sqlite3 >/dev/null; then
    sqlite3 other.db 'create table t(x); insert into t values (1);'
else
    # An SQLite file of another program: a header page alone, with its own application id.
    printf 'SQLite format 3\000\020\000\001\001\000\100\040\040\000\000\000\001\000\000\000\001' >other.db
    head -c 4068 /dev/zero >>other.db
fi
expect 3 'other\.db' plan good.yaml other.db
db=$(find "$GPULINK_BUILD/data/calibrations" -name '*.db' | sort | head -n 1)
head -c 5000 "$db" >truncated.db
expect 3 'truncated\.db' plan good.yaml truncated.db

# Files of another kind, and names of parts.
expect 3 "h100-16-ndr\.yaml: is a cluster description, and a model description is expected" \
    plan "$GPULINK_SOURCE/data/clusters/$cluster.yaml" "$cluster"
expect 3 'good\.yaml: is a model description, and a cluster is expected here: are the two swapped' \
    plan "$GPULINK_SOURCE/data/clusters/$cluster.yaml" good.yaml
expect 3 'is a calibration database, and a model description is expected' plan "$db"
expect 3 'all_reduce\.txt: is output of nccl-tests: import it first: gpulink-calibrate import' \
    plan good.yaml "$GPULINK_SOURCE/tests/fixtures/nccl/check_all_reduce.txt"
expect 3 'is output of nccl-tests' plan good.yaml "$GPULINK_SOURCE/tests/fixtures/nccl/json_all_reduce.json"
config=$GPULINK_SOURCE/tests/fixtures/huggingface/llama-3-8b.json
expect 0 'llama-3-8b' plan "$config" "$cluster"
expect 3 'standard input: is a Hugging Face configuration: give its file' \
    bash -c 'gpulink-plan check - <"$1"' - "$config"
expect 3 "'ethernet-100' is a link of the catalogue, not a cluster" plan good.yaml ethernet-100
expect 3 "'h200-sxm' is a GPU of the catalogue, not a cluster.*cluster\.gpu" plan good.yaml h200-sxm
printf '{"hidden_size": 5120,}\n' >comma.json
expect 3 'comma\.json:1:22: not valid JSON: string or .\}. expected near' plan comma.json "$cluster"
expect 3 'comma\.json:1:22: not valid JSON: ' gpulink-plan check comma.json
printf 'model: {huggingface: comma.json, sequence: 10}\n' >hf-comma.yaml
expect 3 'comma\.json:1:22: not valid JSON: ' plan hf-comma.yaml "$cluster"
printf '{"hidden_size": 5120}\n' >whole.json
expect 3 'whole\.json: is no Hugging Face config\.json' plan whole.json "$cluster"
printf '{"model_type": "llama"' >broken.json
expect 3 'broken\.json:2:1: not valid JSON: ' plan broken.json
cp good.yaml llama-one.yaml
cp good.yaml llama-two.yaml
expect 3 "llama: no such file; did you mean 'llama-one.yaml' or 'llama-two.yaml'\?" plan ./llama
expect 3 "no such file; did you mean 'good.yaml'\?" plan god.yaml
expect 3 "no such cluster: './good.yml'; did you mean 'good.yaml'\?" plan good.yaml ./good.yml
printf 'model: {huggingface: lama.json, sequence: 10}\n' >hf.yaml
cp "$config" llama.json
expect 3 "no such file: lama\.json; did you mean 'llama\.json'" plan hf.yaml
description='cluster: {nodes: 1, gpus_per_node: 8, gpu: a100, intra_node: {link: hdr}}'
printf '%s\n' "$description" >parts.yaml
expect 3 "no GPU 'a100'; did you mean 'a100-sxm-40gb', 'a100-sxm-80gb' or 'a100-pcie-80gb'" plan good.yaml parts.yaml
expect 3 "no link 'hdr'; did you mean 'ib-hdr'\?" plan good.yaml parts.yaml
expect 2 "no link 'infiniband'; did you mean 'ib-edr', 'ib-hdr', 'ib-ndr' or 'ib-xdr'" \
    gpulink-plan good.yaml --cluster $cluster --set cluster.inter_node.link=infiniband

# The command line.
expect 2 "unknown option|did you mean" gpulink-plan good.yaml --cluster "$cluster" --fromat json
expect 2 "did you mean.*--format|--format" gpulink-plan good.yaml --cluster "$cluster" --fromat json
expect 2 "no table|not known.*traffic" gpulink-plan good.yaml --cluster "$cluster" --format csv --table trafic
expect 2 "did you mean 'traffic'" gpulink-plan good.yaml --cluster "$cluster" --format csv --table trafic
expect 2 "'xml' is not known" gpulink-plan good.yaml --cluster "$cluster" --format xml
expect 2 'cluster is missing' gpulink-plan good.yaml
expect 2 'example: gpulink-plan plan good.yaml --cluster' gpulink-plan good.yaml
expect 2 'bundled: .*hgx-h100-16-ndr' gpulink-plan good.yaml
expect 2 "neither a command nor a file; did you mean 'plan'" gpulink-plan plam good.yaml
expect 2 'model description' gpulink-plan
expect 2 'key=value' gpulink-plan good.yaml --cluster "$cluster" --set parallel.tp
expect 2 'empty value' gpulink-plan good.yaml --cluster "$cluster" --sweep parallel.tp=1,,2
expect 2 'set twice' gpulink-plan good.yaml --cluster "$cluster" --set parallel.tp=1 --sweep parallel.tp=1,2
expect 2 'more than 10000 scenarios' gpulink-plan good.yaml --cluster "$cluster" \
    --sweep "batch.micro=$(seq -s, 1 101)" --sweep "batch.global=$(seq -s, 1 101)"
expect 2 '^gpulink-plan: --sweep parallel\.tpp=1: parallel\.tpp: unknown field' \
    gpulink-plan good.yaml --cluster "$cluster" --sweep parallel.tpp=1,2
expect 2 'is a calibration database: --sweep cluster\.nodes needs' \
    gpulink-plan good.yaml --cluster "$db" --sweep cluster.nodes=1,2
expect 2 "'explian' is neither a command nor a file; did you mean 'explain'" gpulink-plan help explian
expect 2 'stage' gpulink-plan good.yaml --cluster "$cluster" --stage 7
expect 2 'headroom' gpulink-plan good.yaml --cluster "$cluster" --headroom 0.5
expect 2 'parallel\.tpp' gpulink-plan good.yaml --cluster "$cluster" --set parallel.tpp=4
expect 2 'parallel\.tp' gpulink-plan good.yaml --cluster "$cluster" --set parallel.tp=many
expect 2 "no line 'step.tims_s'|did you mean 'step.time_s'" gpulink-plan explain good.yaml --cluster "$cluster" step.tims_s
expect 2 'there is no line 999' gpulink-plan explain good.yaml --cluster "$cluster" 999
expect 2 "no schema 'modle'" gpulink-plan schema modle

# Writing.
expect 4 'space|full|write' bash -c "gpulink-plan good.yaml --cluster $cluster >/dev/full"
expect 4 'nowhere' gpulink-plan good.yaml --cluster "$cluster" --output nowhere/out.txt
expect 4 'space|full|write' bash -c 'gpulink-plan schema >/dev/full'
expect 4 'space|full|write' bash -c 'gpulink-plan --help >/dev/full'
expect 4 'space|full|write' bash -c 'gpulink-plan check good.yaml >/dev/full'

cp "$GPULINK_SOURCE/data/clusters/$cluster.yaml" own.yaml
expect 2 'overwrite the input good\.yaml' gpulink-plan good.yaml --cluster "$cluster" --output ./good.yaml
expect 2 'overwrite the input own\.yaml' gpulink-plan good.yaml --cluster own.yaml --output own.yaml
expect 0 '' cmp "$base" good.yaml
# … nor over any file that a description names.
mkdir -p named kept
cp "$GPULINK_SOURCE/tests/fixtures/huggingface/llama-3-8b.json" named/config.json
cp "$GPULINK_SOURCE/data/gpus/h100-sxm.yaml" "$GPULINK_SOURCE/data/links/nvlink4.yaml" "$GPULINK_SOURCE/data/links/ib-ndr.yaml" named
cp "$GPULINK_SOURCE/data/prices/standard.yaml" named/base.yaml
cp "$GPULINK_BUILD/data/calibrations/h200-nvlink.db" named/lab.db
printf 'prices: {base: base.yaml, currency: USD}\n' >named/quotes.yaml
cp named/* kept
printf 'model: {huggingface: named/config.json, sequence: 4096}\n' >naming.yaml
cat >naming-cluster.yaml <<'YAML'
cluster:
  gpu: named/h100-sxm.yaml
  nodes: 2
  gpus_per_node: 2
  intra_node: {link: named/nvlink4.yaml, calibration: named/lab.db}
  inter_node: {link: named/ib-ndr.yaml, nics_per_node: 2}
prices: named/quotes.yaml
YAML
naming=(gpulink-plan naming.yaml --cluster naming-cluster.yaml)
expect 0 '' "${naming[@]}" -o named/new.txt
for file in config.json h100-sxm.yaml nvlink4.yaml ib-ndr.yaml quotes.yaml base.yaml; do
    expect 2 "writing named/$file would overwrite the input .*$file" "${naming[@]}" -o "named/$file"
    expect 0 '' cmp "kept/$file" "named/$file"
done
expect 2 'is a database' "${naming[@]}" -o named/lab.db
expect 2 'would overwrite the input' "${naming[@]}" -f trace -o named/quotes.yaml
expect 2 'would overwrite the input' gpulink-plan accept naming.yaml --cluster naming-cluster.yaml --list named/quotes.yaml
expect 2 'would overwrite the input' gpulink-plan search naming.yaml --cluster naming-cluster.yaml -o named/quotes.yaml
expect 0 '' cmp kept/quotes.yaml named/quotes.yaml

# What is given for a config.json and is none, or says more than is planned.
odd() {
    local status=$1 words=$2
    printf '%s\n' "$3" >odd.json
    says "$status" "$words" gpulink-plan --huggingface odd.json --gpus 8 --cluster hgx-h100-16-ndr --set batch.global=64 --fix micro=1 \
        --fix schedule=1f1b --no-recompute
}
llama='"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000'
odd 0 'on 8 GPUs' "{\"model_type\": \"llama\", $llama}"
odd 3 'odd.json: is no Hugging Face config.json: that says its model_type' '{}'
odd 3 'odd.json: is no Hugging Face config.json: that says its model_type' '{"weight_map": {"a": "b"}}'
odd 3 'is neither a model description (model: …) nor a Hugging Face config.json: it holds a list' '[1, 2]'
odd 3 'is neither a model description (model: …) nor a Hugging Face config.json: it holds a text' 'version https://git-lfs.github.com/spec/v1'
odd 3 'num_hidden_layers: missing; a configuration of model_type llama needs it' '{"model_type": "llama", "hidden_size": 4096}'
odd 3 "'llava' joins a text model with others, which are not planned: save its text_config (llama)" \
    '{"model_type": "llava", "text_config": {"model_type": "llama"}}'
odd 3 "model_type: 'gemma3' is not supported" '{"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"}}'
odd 3 'n_routed_experts: missing' "{\"model_type\": \"deepseek_v3\", $llama, \"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128,
    \"qk_rope_head_dim\": 64, \"v_head_dim\": 128, \"num_experts_per_tok\": 8, \"moe_intermediate_size\": 2048}"
odd 0 'quantization_config: is how weights are stored' "{\"model_type\": \"llama\", $llama, \"quantization_config\": {\"bits\": 4}}"
says 3 'a model of the hub is not fetched: download its config.json' gpulink-plan --huggingface meta-llama/Llama-3-8B --cluster h200-nvlink
says 2 'is a description: give it without' gpulink-plan --huggingface "$models/llama3-8b.yaml" --cluster h200-nvlink

# What was slipped is looked for line by line, also above a million comments.
{ printf 'model:\n  name: x\n' && seq 1000000 | sed 's/.*/#/' && echo '  a: b: c'; } >long.yaml
expect 3 "long.yaml:1000003:7: not valid YAML: .*; a text that holds ': ' wants quotes" gpulink-plan check long.yaml

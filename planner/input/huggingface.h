/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hugging Face config.json files to model architectures.
 *
 * Families: see the table in huggingface.c. What a family's code fixes (kinds of norms, biases,
 * tied tables when the file does not say) is taken from the family. Weights are counted as the
 * checkpoint holds them: separate tensors, except where the family itself fuses Q, K and V (GPT-2,
 * GPT-NeoX, BLOOM, Falcon). Keys of other meaning are ignored. What the model structure here cannot
 * express is a warning when it is a fraction of a percent of the weights, and refused otherwise.
 */
#ifndef GL_INPUT_HUGGINGFACE_H
#define GL_INPUT_HUGGINGFACE_H

#include "common/texts.h"
#include "planner/core/workload.h"
#include "planner/input/yaml_tree.h"

/*
 * Fills the architecture of `model`, which holds the defaults; kv_heads and head_dim stay 0 where
 * the configuration leaves them to follow from others. *positions is the longest sequence that the
 * file allows, 0 when it does not say: nobody trains with it just because it is possible. Returns
 * true when nothing was diagnosed.
 */
bool gl_huggingface_load(const gl_yaml_tree *tree, gl_arena *arena, gl_model *model, int *positions,
                         gl_texts *warnings, gl_diagnostics *diagnostics);

#endif

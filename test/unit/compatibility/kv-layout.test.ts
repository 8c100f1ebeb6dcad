import { describe, expect, test } from "vitest";
import {
  kvLayoutOf,
  type KvQuestion,
  longestRequest,
  requestBytes,
} from "../../../provider/src/core/compatibility/kv-layout";
import { modelFactsOf } from "../../../provider/src/core/compatibility/model-facts";
import { LLAMA, MLA, SPARSE_MLA } from "./situations";

const layout = (config: unknown, question: Partial<KvQuestion> = {}): ReturnType<typeof kvLayoutOf> => {
  const model = modelFactsOf(JSON.stringify(config));
  return model === null
    ? null
    : kvLayoutOf(model, { kvDtype: "auto", dtypeBytes: 2, tensor: 1, pipeline: 1, ...question });
};
const plain = { slidingBytesPerToken: 0, window: 0, stateBytes: 0 };

describe("bytes of a token on one GPU", () => {
  test.each([
    ["K and V of each head", {}, 2 * 8 * 128 * 2 * 32],
    ["heads are split", { tensor: 4 }, 2 * 2 * 128 * 2 * 32],
    ["fewer heads than GPUs are repeated", { tensor: 16 }, 2 * 1 * 128 * 2 * 32],
    ["layers are split into stages, the largest counts", { pipeline: 3 }, 2 * 8 * 128 * 2 * 11],
    ["FP8 is half", { kvDtype: "fp8_e4m3" }, 2 * 8 * 128 * 32],
    ["float32 is twice", { dtypeBytes: 4 }, 2 * 8 * 128 * 4 * 32],
    ["NVFP4 has a scale for 16", { kvDtype: "nvfp4" }, 2 * 8 * (64 + 8) * 32],
    ["a scale for each token and head", { kvDtype: "int8_per_token_head" }, 2 * 8 * (128 + 4) * 32],
    ["the same in 4 bits", { kvDtype: "int4_per_token_head" }, 2 * 8 * (64 + 4) * 32],
  ] as const)("%s", (_rule, question, bytesPerToken) => {
    expect(layout(LLAMA, question)).toEqual({ ...plain, bytesPerToken });
  });

  test.each([
    ["MLA keeps one vector, whole on each GPU", MLA, { tensor: 8 }, (512 + 64) * 2 * 32],
    ["in FP8", MLA, { kvDtype: "fp8" }, (512 + 64) * 32],
    ["sparse MLA keeps the indexer's keys beside it", SPARSE_MLA, {}, ((512 + 64) * 2 + 132) * 32],
    ["and DeepSeek's layout in FP8", SPARSE_MLA, { kvDtype: "fp8_ds_mla" }, (656 + 132) * 32],
  ] as const)("%s", (_rule, config, question, bytesPerToken) => {
    expect(layout(config, question)).toEqual({ ...plain, bytesPerToken });
  });

  test.each([
    ["a dtype that is not known", LLAMA, { kvDtype: "turboquant_k8v4" }],
    [
      "a size that is not said",
      { ...LLAMA, num_attention_heads: undefined, num_key_value_heads: undefined },
      {},
    ],
    ["layers of a kind that is not known", { ...LLAMA, layer_types: Array(32).fill("own_attention") }, {}],
    ["a window whose pattern is in code", { ...LLAMA, model_type: "gemma3_text", sliding_window: 1024 }, {}],
    ["a latent vector that is computed back into heads", { ...MLA, model_type: "minicpm3" }, {}],
    ["chunks", { ...LLAMA, attention_chunk_size: 8192 }, {}],
    ["attention now and then, said in code", { ...LLAMA, attn_layer_period: 8 }, {}],
    ["linear attention, said in code", { ...LLAMA, linear_attn_config: { kda_layers: [1] } }, {}],
    ["layers of different sizes", { ...LLAMA, global_head_dim: 512 }, {}],
    ["an encoder", { ...LLAMA, is_encoder_decoder: true }, {}],
    ["Mamba without its sizes", { ...LLAMA, hybrid_override_pattern: "M*".repeat(16) }, {}],
  ] as const)("not known: %s", (_rule, config, question) => {
    expect(layout(config, question)).toBeNull();
  });
});

describe("layers that do not keep everything", () => {
  const sliding = {
    ...LLAMA,
    sliding_window: 128,
    layer_types: Array(16).fill(["full_attention", "sliding_attention"]).flat(),
  };
  const linear = {
    text_config: {
      ...LLAMA,
      full_attention_interval: 4,
      linear_num_key_heads: 16,
      linear_num_value_heads: 32,
      linear_key_head_dim: 128,
      linear_value_head_dim: 128,
      linear_conv_kernel_dim: 4,
      mamba_ssm_dtype: "float32",
    },
  };
  const layerBytes = 2 * 8 * 128 * 2;

  test("sliding layers keep their window", () => {
    expect(layout(sliding)).toEqual({
      bytesPerToken: 16 * layerBytes,
      slidingBytesPerToken: 16 * layerBytes,
      window: 128,
      stateBytes: 0,
    });
  });

  test("linear layers keep one state, split over GPUs", () => {
    expect(layout(linear, { tensor: 2 })).toEqual({
      bytesPerToken: 8 * (layerBytes / 2),
      slidingBytesPerToken: 0,
      window: 0,
      stateBytes: (24 * (32 * 128 * 128 * 4 + 3 * (2 * 16 * 128 + 32 * 128) * 2)) / 2,
    });
  });

  test("a request takes the window and one step in sliding layers, and the longest one fits exactly", () => {
    const kept = { bytesPerToken: 10, slidingBytesPerToken: 4, window: 100, stateBytes: 1000 };
    expect(requestBytes(kept, 50, 20)).toBe(50 * 14 + 1000);
    expect(requestBytes(kept, 5000, 20)).toBe(5000 * 10 + 120 * 4 + 1000);
    for (const tokens of [50, 120, 121, 5000]) {
      expect(longestRequest(kept, requestBytes(kept, tokens, 20), 20)).toBe(tokens);
    }
    expect(longestRequest(kept, 500, 20)).toBe(0);
    expect(longestRequest({ ...kept, bytesPerToken: 0, slidingBytesPerToken: 0 }, 500, 20)).toBeNull();
  });
});

import * as pulumi from "@pulumi/pulumi";
import { VllmServer } from "pulumi-vllm";

const config = new pulumi.Config();

const server = new VllmServer("llm", {
  host: config.require("host"),
  model: { path: config.require("modelPath") },
  // The checkpoint may ask for an FP8 KV cache, which not every GPU and backend can do. This takes that request out of its config, in
  // config.json and hf_quant_config.json alike, and asks vLLM for a 16-bit one.
  kvCacheDtype: "bfloat16",
  // Merged into the quantization config, wherever it stands: these layers are not quantized.
  quantizationConfigOverrides: { ignore: ["lm_head"] },
  // Merged into the rest of config.json. null sets null; nothing is deleted.
  configOverrides: { max_position_embeddings: 16384, rope_scaling: null },
  engine: { servedModelName: ["llm"], maxModelLen: 8192 },
  listen: { port: config.requireNumber("port") },
});

export const baseUrl = server.baseUrl;

/** The folder that vLLM serves: links to the checkpoint, and the changed files in place of the originals. */
export const modelPath = server.modelPath;

/** What the running server made of `kvCacheDtype`. */
export const kvCacheDtype = server.resolvedKvCacheDtype;

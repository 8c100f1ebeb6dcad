import type { ModelFacts } from "./model-facts";
import type { ParallelSizes } from "./situation";

/**
 * Bytes of weights on the GPU that gets most, of `weightBytes` in the checkpoint. Tensor parallelism splits all layers, embeddings and
 * output; pipeline parallelism the layers; over data parallelism only experts are split.
 * Source: vLLM 0.32.0 model_executor/layers/linear.py, vocab_parallel_embedding.py, fused_moe/config.py, distributed/utils.py get_pp_indices.
 */
export function weightShare(model: ModelFacts, weightBytes: number, parallel: ParallelSizes): number {
  const { tensor, pipeline, data } = parallel;
  const loaded = (weightBytes - predictBytes(model, weightBytes)) * growth(model);
  const ends = Math.min(loaded / 2, endBytes(model));
  const layers = model.layers ?? pipeline;
  // The first stage has the embeddings, the last one the output: each one of the two ends.
  const stage =
    pipeline === 1 ? loaded : ((loaded - 2 * ends) * Math.ceil(layers / pipeline)) / layers + ends;
  const experts = expertShare(model);
  return (stage * (1 - experts)) / tensor + (stage * experts) / (tensor * data);
}

/** MXFP4 experts are padded to what their kernels take, 2880 to 3072. Source: vLLM 0.32.0 model_executor/layers/fused_moe/oracle/mxfp4.py; measured, docs/memory-fit.md. */
function growth({ quantization }: ModelFacts): number {
  return quantization === "mxfp4" || quantization === "gpt_oss_mxfp4" ? 3072 / 2880 : 1;
}

/** Layers for multi-token prediction are in the checkpoint like any other, and are not loaded. Source: vLLM 0.32.0 model_executor/models/deepseek_v2.py load_weights. */
function predictBytes(model: ModelFacts, weightBytes: number): number {
  const { layers, predictLayers } = model;
  return layers === null || predictLayers === 0
    ? 0
    : (weightBytes * predictLayers) / (layers + predictLayers);
}

/** Of the embeddings, and of the output: kept in 16 bits whatever the layers are. */
function endBytes({ vocabSize, hiddenSize }: ModelFacts): number {
  return 2 * (vocabSize ?? 0) * (hiddenSize ?? 0);
}

/**
 * Whether the files hold more than two bytes for each parameter: float32, of which vLLM loads half, or something that is not loaded.
 * Counted without what only few models have, so the number of parameters is rather too small.
 */
export function isWiderThanLoaded(model: ModelFacts, weightBytes: number): boolean {
  const { layers, hiddenSize: hidden, attentionHeads, kvHeads, headDim, experts, vocabSize } = model;
  const size = model.expertIntermediateSize ?? model.intermediateSize;
  if (layers === null || hidden === null || size === null || headDim === null || experts === null)
    return true;
  const attention = 2 * hidden * headDim * ((attentionHeads ?? 0) + (kvHeads ?? 0));
  const feedForward = 3 * hidden * size * Math.max(1, experts);
  const parameters = layers * (attention + feedForward) + 2 * (vocabSize ?? 0) * hidden;
  return weightBytes > WIDE_BYTES * parameters;
}

/** Bytes for a parameter: float32 has four. What is not counted, such as an encoder of images, stays below. */
const WIDE_BYTES = 3;

/** Of all weights; experts are three matrices each, and the rest of a layer is counted as four of the hidden size. */
function expertShare(model: ModelFacts): number {
  const { experts, expertIntermediateSize: size, hiddenSize: hidden, layers, vocabSize } = model;
  if (experts === null || size === null || hidden === null || layers === null) return 0;
  const expertParameters = layers * experts * 3 * hidden * size;
  const otherParameters = layers * 4 * hidden * hidden + 2 * (vocabSize ?? 0) * hidden;
  return expertParameters / (expertParameters + otherParameters);
}

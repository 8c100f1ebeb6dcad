import { isOfMethod } from "../config-patch/read-config";
import { isList } from "../config-patch/json-text";
import type { JsonValue } from "../json";
import type { CompatibilityRule, Judgement } from "./rule";
import type { Situation, VersionRange } from "./situation";
import { LATEST_READ } from "./versions";

/** Sizes of a model that cannot be divided as the inputs ask. */

const ALL_READ: VersionRange = { since: [0, 11], before: LATEST_READ };
const Q = "model_executor/layers/quantization";

export const PARALLEL_RULES: readonly CompatibilityRule[] = [
  {
    row: "attention heads",
    judge: ({ model, parallel: { tensor } }) => {
      const heads = model?.attentionHeads ?? null;
      if (heads === null || heads % tensor === 0) return null;
      return tensorProblem(`the model has ${String(heads)} attention heads, need a multiple of`, tensor);
    },
    fails: ALL_READ,
    source:
      "vLLM 0.11.0 to 0.33.0 config/model.py verify_with_parallel_config: Total number of attention heads",
  },
  {
    row: "KV heads",
    judge: ({ kv, model, parallel: { tensor } }) => {
      const heads = model?.kvHeads ?? 0;
      if (kv.attentionKind !== "attention" || heads === 0 || isEvenlyKept(heads, tensor)) return null;
      return tensorProblem(
        `the model has ${String(heads)} KV heads, which can be neither split nor repeated evenly over`,
        tensor,
      );
    },
    fails: ALL_READ,
    source: "vLLM 0.11.0 to 0.33.0 model_executor/layers/linear.py QKVParallelLinear: divide",
  },
  {
    row: "feed-forward size",
    judge: ({ model, parallel: { tensor } }) => {
      const size = model?.experts === 0 ? model.intermediateSize : null;
      if (size === null || size % tensor === 0) return null;
      return tensorProblem(`the model's intermediate_size is ${String(size)}, need a multiple of`, tensor);
    },
    fails: ALL_READ,
    source: "vLLM 0.11.0 to 0.33.0 model_executor/layers/linear.py ColumnParallelLinear: divide",
  },
  {
    row: "expert size",
    judge: (situation) => {
      const split = expertSplit(situation);
      if (split === null || split.size % split.ranks === 0) return null;
      return expertProblem(
        `an expert's intermediate size is ${String(split.size)}, need a multiple of`,
        split,
      );
    },
    // Later versions pad the shards of some methods.
    fails: { since: [0, 11], before: [0, 25] },
    source: "vLLM 0.11.0 to 0.24.0 model_executor/layers/fused_moe: assert intermediate_size % tp_size == 0",
  },
  {
    row: "FP8 blocks of experts",
    judge: (situation) => {
      const split = expertSplit(situation);
      const [block] = blockShape(situation);
      if (split === null || block === undefined || split.ranks === 1 || split.size % split.ranks !== 0)
        return null;
      if ((split.size / split.ranks) % block === 0) return null;
      const part = String(split.size / split.ranks);
      return expertProblem(
        `each GPU gets ${part} of an expert's intermediate size, need a multiple of the FP8 block of ${String(block)}:`,
        split,
      );
    },
    // 0.29 and later may take finer blocks instead: model_executor/layers/quantization/fp8.py weight_scale_refine, in 0.32.0 and not in 0.28.0.
    fails: { since: [0, 11], before: [0, 29] },
    source: `vLLM 0.11.0 to 0.28.0 ${Q}/fp8.py: The output_size of gate's and up's weight is not divisible by weight quantization block_n`,
  },
  {
    row: "FP8 blocks of feed-forward layers",
    judge: (situation) => {
      const { model, parallel } = situation;
      const size = model?.experts === 0 ? model.intermediateSize : null;
      const [block] = blockShape(situation);
      if (size === null || block === undefined || parallel.tensor === 1 || size % parallel.tensor !== 0)
        return null;
      if ((size / parallel.tensor) % block === 0) return null;
      const part = String(size / parallel.tensor);
      return tensorProblem(
        `each GPU gets ${part} of intermediate_size ${String(size)}, need a multiple of the FP8 block of ${String(block)}:`,
        parallel.tensor,
      );
    },
    fails: ALL_READ,
    source: `vLLM 0.11.0 to 0.33.0 ${Q}/utils/fp8_utils.py validate_fp8_block_shape`,
  },
  {
    row: "AWQ groups",
    judge: (situation) => groupProblem(situation, ["awq", "awq_marlin", "auto_awq"]),
    fails: ALL_READ,
    source: `vLLM 0.11.0 to 0.33.0 ${Q}/awq.py, auto_awq.py: The input size is not aligned with the quantized weight shape`,
  },
  {
    row: "GPTQ groups",
    judge: (situation) => groupProblem(situation, ["gptq", "auto_gptq", "gptq_marlin"]),
    // Some kernel may take it, where the order of activations was not used.
    fails: null,
    source: `vLLM 0.32.0 ${Q}/utils/marlin_utils.py check_marlin_supports_layer`,
  },
  {
    row: "expert parallel without experts",
    judge: ({ model, parallel }) =>
      model?.experts !== 0 || !parallel.isExpertParallel
        ? null
        : {
            summary: "engine.enableExpertParallel is for a mixture of experts, and the model has no experts",
            change: "engine.enableExpertParallel: false",
            path: "engine.enableExpertParallel",
          },
    fails: ALL_READ,
    source: "vLLM 0.11.0 to 0.33.0 config/model.py _verify_with_expert_parallelism",
  },
  {
    row: "more stages than layers",
    judge: ({ model, parallel: { pipeline } }) => {
      const layers = model?.layers ?? null;
      if (layers === null || pipeline <= layers) return null;
      return {
        summary: `the model has ${String(layers)} layers, need at least one for each of ${String(pipeline)} pipeline stages`,
        change: `engine.pipelineParallelSize: ${String(layers)}   (or less)`,
        path: "engine.pipelineParallelSize",
      };
    },
    // A stage without layers is not refused by name.
    fails: null,
    source: "vLLM 0.32.0 distributed/utils.py get_pp_indices",
  },
];

function tensorProblem(found: string, tensor: number): Judgement {
  return {
    summary: `${found} engine.tensorParallelSize ${String(tensor)}`,
    change: null,
    path: "engine.tensorParallelSize",
  };
}

interface ExpertSplit {
  readonly size: number;
  /** GPUs that each expert is split over. */
  readonly ranks: number;
}

/** Experts are split over all ranks of tensor and data parallelism; with expert parallelism each stays whole. Source: vLLM 0.32.0 model_executor/layers/fused_moe/config.py FusedMoEParallelConfig.make. */
function expertSplit({ model, parallel }: Situation): ExpertSplit | null {
  const size = model?.expertIntermediateSize ?? null;
  if (size === null || parallel.isExpertParallel) return null;
  return { size, ranks: parallel.tensor * parallel.data };
}

function expertProblem(found: string, { ranks }: ExpertSplit): Judgement {
  return {
    summary: `${found} engine.tensorParallelSize ${String(ranks)}`,
    change: "engine.enableExpertParallel: true   (or a smaller engine.tensorParallelSize)",
    path: "engine.tensorParallelSize",
  };
}

function groupProblem(situation: Situation, methods: readonly string[]): Judgement | null {
  const { kv, model, parallel } = situation;
  const size = model?.experts === 0 ? model.intermediateSize : null;
  const group = kv.config?.value("group_size") ?? kv.config?.value("q_group_size");
  if (!isOfMethod(kv.config, ...methods) || size === null || typeof group !== "number" || group <= 0)
    return null;
  const { tensor } = parallel;
  if (tensor === 1 || size % tensor !== 0 || (size / tensor) % group === 0) return null;
  return tensorProblem(
    `each GPU gets ${String(size / tensor)} of intermediate_size ${String(size)}, need a multiple of the quantization group of ${String(group)}:`,
    tensor,
  );
}

/** Of a block-quantized FP8 checkpoint whose feed-forward layers are quantized; []: none. */
function blockShape({ kv }: Situation): readonly number[] {
  if (!isOfMethod(kv.config, "fp8")) return [];
  const kept: JsonValue =
    kv.config?.value("modules_to_not_convert") ?? kv.config?.value("ignored_layers") ?? [];
  const isKept = JSON.stringify(kept).match(/mlp|gate_proj|up_proj|down_proj|experts/) !== null;
  const shape = kv.config?.value("weight_block_size");
  if (isKept || shape === undefined || shape === null || typeof shape !== "object" || !isList(shape))
    return [];
  return shape.filter((side) => typeof side === "number");
}

/** Fewer KV heads than GPUs are repeated. Source: vLLM 0.32.0 model_executor/layers/linear.py QKVParallelLinear. */
function isEvenlyKept(kvHeads: number, tensor: number): boolean {
  return kvHeads > tensor ? kvHeads % tensor === 0 : tensor % kvHeads === 0;
}

/** The largest tensor parallel size below the one asked for that no row finds fault with; 1 always works. */
export function smallerTensor(situation: Situation): number {
  for (let tensor = situation.parallel.tensor - 1; tensor > 1; tensor -= 1) {
    const other = { ...situation, parallel: { ...situation.parallel, tensor } };
    if (PARALLEL_RULES.every((rule) => rule.judge(other) === null)) return tensor;
  }
  return 1;
}

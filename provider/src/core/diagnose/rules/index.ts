import type { CauseRule } from "../rule";
import { DISTRIBUTED_RULES } from "./distributed";
import { FILES_RULES } from "./files";
import { GPU_AND_DRIVER_RULES } from "./gpu-and-driver";
import { HUB_RULES } from "./hub";
import { KV_AND_ATTENTION_RULES } from "./kv-and-attention";
import { LIFE_CYCLE_RULES } from "./life-cycle";
import { LIMITS_AND_FLAGS_RULES } from "./limits-and-flags";
import { MEMORY_RULES } from "./memory";
import { MODEL_SUPPORT_RULES } from "./model-support";
import { PORTS_RULES } from "./ports";
import { QUANTIZATION_RULES } from "./quantization";
import { TOOLCHAIN_RULES } from "./toolchain";

/** Every rule. Order does not decide: weights do, then the order of the log. */
export const ALL_RULES: readonly CauseRule[] = [
  ...KV_AND_ATTENTION_RULES,
  ...MEMORY_RULES,
  ...LIMITS_AND_FLAGS_RULES,
  ...PORTS_RULES,
  ...HUB_RULES,
  ...FILES_RULES,
  ...MODEL_SUPPORT_RULES,
  ...QUANTIZATION_RULES,
  ...TOOLCHAIN_RULES,
  ...GPU_AND_DRIVER_RULES,
  ...DISTRIBUTED_RULES,
  ...LIFE_CYCLE_RULES,
];

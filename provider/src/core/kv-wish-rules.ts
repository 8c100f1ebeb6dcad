import { DECIDED_BY_BACKEND } from "./kv-wish-rules-backend";
import { DECIDED_BY_FILES } from "./kv-wish-rules-files";
import { DECIDED_BY_VERSION } from "./kv-wish-rules-version";
import type { KvWishRule } from "./kv-wish-rule";

/** Wishes that vLLM cannot or will not fulfil. Every row that holds is told. */
export const KV_WISH_RULES: readonly KvWishRule[] = [
  ...DECIDED_BY_VERSION,
  ...DECIDED_BY_BACKEND,
  ...DECIDED_BY_FILES,
];

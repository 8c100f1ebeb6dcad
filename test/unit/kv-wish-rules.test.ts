import { describe, expect, test } from "vitest";
import { chooseKvCacheFlag } from "../../provider/src/core/kv-cache-flag";
import { situationOf } from "../../provider/src/core/kv-cache-situation";
import { KV_WISH_RULES } from "../../provider/src/core/kv-wish-rules";
import { BASE, EXAMPLES, files } from "./kv-wish-examples";

describe.each(EXAMPLES)("%s", (row, told, silent) => {
  const rule = KV_WISH_RULES.find((one) => one.row === row);

  test.each(told.map((example) => ({ example })))("is told: $example", ({ example }) => {
    expect(rule?.holds(situationOf({ ...BASE, ...example }))).toBe(true);
    expect(chooseKvCacheFlag({ ...BASE, ...example }).warnings).toContainEqual({
      code: rule?.code,
      message: rule?.message,
    });
  });

  test.each(silent.map((example) => ({ example })))("is not told: $example", ({ example }) => {
    expect(rule?.holds(situationOf({ ...BASE, ...example }))).toBe(false);
  });
});

test("every row has an example, a name of its own and a source", () => {
  expect(EXAMPLES.map(([row]) => row)).toEqual(KV_WISH_RULES.map(({ row }) => row));
  expect(new Set(KV_WISH_RULES.map(({ row }) => row)).size).toBe(KV_WISH_RULES.length);
  for (const { source } of KV_WISH_RULES) expect(source).toMatch(/^vllm \d/);
});

test("a plain wish on a plain checkpoint is told nothing", () => {
  expect(
    chooseKvCacheFlag({
      ...BASE,
      ...files({ architectures: ["LlamaForCausalLM"] }),
      computeCapabilities: ["12.0"],
    }),
  ).toEqual({
    flag: "bfloat16",
    warnings: [],
  });
});

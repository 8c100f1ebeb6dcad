import { beforeAll, describe, expect, it } from "vitest";
import { patchCheckpoint } from "../../provider/src/core/config-patch";
import type { JsonObject } from "../../provider/src/core/json";
import { chooseKvCacheFlag } from "../../provider/src/core/kv-cache-flag";
import { attentionKindOf, isSixteenBit, modelDtypeOf } from "../../provider/src/core/model-config";
import { isObject } from "../../provider/src/core/config-patch/json-edit";
import { TINY_LLAMA } from "../support/checkpoints";
import { CONFIG_PATCH_CASES, type ConfigPatchCase } from "../support/config-patch-cases";
import { isRealVllmThere } from "../support/vllm-driver";
import { askJudge, type KvCacheAnswer, type KvCacheQuestion } from "../support/vllm-judge";
import { BROKEN_BY_OVERRIDES, NOT_GRANTED, NOT_JUDGED } from "./kv-cache-refusals";

interface Subject {
  readonly id: string;
  readonly wish: string;
  readonly original: ConfigPatchCase;
  /** The original files, nothing asked for. */
  readonly before: KvCacheQuestion;
  /** The patched files with the flag that we pass. */
  readonly after: KvCacheQuestion;
  /** The patched files with no flag: whether anything in them still asks. */
  readonly neutral: KvCacheQuestion;
  readonly warnings: readonly string[];
}

const subjects = CONFIG_PATCH_CASES.filter((one) => one.expect.rejected === false).map(subjectOf);
const answers = new Map<KvCacheQuestion, KvCacheAnswer>();
const answerTo = (question: KvCacheQuestion): KvCacheAnswer => {
  const answer = answers.get(question);
  if (answer === undefined) throw new Error("the judge was not asked");
  return answer;
};
const judged = subjects.filter(({ id }) =>
  [NOT_JUDGED, BROKEN_BY_OVERRIDES, NOT_GRANTED].every((table) => !table.has(id)),
);

describe.skipIf(!isRealVllmThere)("the KV-cache dtype that vLLM 0.32.0 settles on", () => {
  beforeAll(() => {
    const questions = subjects.flatMap(({ before, after, neutral }) => [before, after, neutral]);
    askJudge(questions).forEach((answer, index) => {
      const question = questions[index];
      if (question !== undefined) answers.set(question, answer);
    });
  }, 600_000);

  it.each(judged.filter(({ wish }) => wish !== "auto"))(
    "is the wished one: $id, $wish",
    ({ wish, after }) => {
      expect(granted(answerTo(after), wish)).toEqual({ error: null, dtype: wish });
    },
  );

  it.each(judged.filter(({ wish }) => wish === "auto"))(
    "is left to the checkpoint by auto: $id",
    (subject) => {
      const { resolves, error } = answerTo(subject.after);
      expect({ resolves, error }).toEqual({ resolves: subject.original.expect.vllmResolves, error: null });
    },
  );

  it.each(judged.filter(({ wish }) => isSixteenBit(wish)))(
    "asked of nothing in the patched files: $id",
    ({ neutral }) => {
      const { resolves, error } = answerTo(neutral);
      expect({ resolves, error }).toEqual({ resolves: "auto", error: null });
    },
  );

  it.each(judged.filter(({ original }) => original.oracle !== undefined))(
    "was another one before, where a request is followed: $id",
    ({ before, original }) => {
      expect(answerTo(before).resolves).toBe(original.oracle?.before.resolves);
    },
  );

  it.each(rows(NOT_GRANTED))(
    "is not the wished one, and we say so: $id, $reason",
    ({ id, stage, error, told }) => {
      const subject = subjectNamed(id);
      expect(answerTo(subject.after)).toMatchObject({
        resolves: null,
        stage,
        error: expect.stringContaining(error),
      });
      expect(answerTo(subject.before).error).toBeNull();
      expect(subject.warnings).toContain(told);
    },
  );

  it.each(rows(BROKEN_BY_OVERRIDES))(
    "cannot be asked about after such overrides: $id, $reason",
    ({ id, stage, error }) => {
      const subject = subjectNamed(id);
      expect(answerTo(subject.after)).toMatchObject({ stage, error: expect.stringContaining(error) });
      expect(answerTo(subject.before).error).toBeNull();
    },
  );

  it.each(rows(NOT_JUDGED))("cannot be asked about: $id, $reason", ({ id, stage, error }) => {
    const subject = subjectNamed(id);
    for (const question of [subject.before, subject.after]) {
      expect(answerTo(question)).toMatchObject({ stage, error: expect.stringContaining(error) });
    }
  });
});

function rows<Row extends object>(
  table: ReadonlyMap<string, Row>,
): readonly (Row & { readonly id: string })[] {
  return [...table].map(([id, row]) => ({ ...row, id }));
}

function subjectNamed(id: string): Subject {
  const subject = subjects.find((one) => one.id === id);
  if (subject === undefined) throw new Error(`no case ${id}`);
  return subject;
}

/** "auto" is the model's own dtype. */
function granted({ resolves, error, modelDtype }: KvCacheAnswer, wish: string): object {
  return { error, dtype: resolves === "auto" && isSixteenBit(wish) ? modelDtype : resolves };
}

function subjectOf(original: ConfigPatchCase): Subject {
  const files = Object.fromEntries(
    Object.entries(original.files).map(([name, value]) => [
      name,
      JSON.stringify(name === "config.json" ? loadable(value) : value, null, 2),
    ]),
  );
  const patch = patchCheckpoint({
    files,
    kvCacheDtype: original.kvCacheDtype,
    quantizationConfigOverrides: original.quantizationConfigOverrides ?? {},
    configOverrides: original.configOverrides ?? {},
  });
  if (patch.kind === "rejected") throw new Error(`${original.id}: ${patch.message}`);
  const patched = { ...files, ...patch.files };
  const config = patched["config.json"] ?? null;
  const { flag, warnings } = chooseKvCacheFlag({
    wish: original.kvCacheDtype,
    vllmVersion: "0.32.0",
    modelDtype: modelDtypeOf(config),
    dtypeArgument: null,
    attentionKind: attentionKindOf(config),
    files: patched,
  });
  const capability = original.oracle?.before.capability?.split(".").map(Number) ?? null;
  const asked = { dtype: null, capability };
  return {
    id: original.id,
    wish: original.kvCacheDtype,
    original,
    before: { ...asked, files, flag: null },
    after: { ...asked, files: patched, flag },
    // Without a device: a hook of the architecture can turn auto into fp8 whatever the files say.
    neutral: { ...asked, files: patched, flag: null, capability: null },
    warnings: warnings.map(({ code }) => code),
  };
}

/** Cases that hold little but quantization configs become a model that vLLM knows. */
function loadable(config: JsonObject): JsonObject {
  if ("architectures" in config || "model_type" in config) return config;
  const { text_config: text } = config;
  return { ...TINY_LLAMA, ...config, ...(isObject(text) ? { text_config: { ...TINY_LLAMA, ...text } } : {}) };
}

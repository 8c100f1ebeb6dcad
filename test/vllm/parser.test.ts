import { beforeAll, describe, expect, it } from "vitest";
import { ENGINE_FLAGS } from "../../provider/src/core/engine-flags";
import { servedModelNames } from "../../provider/src/core/derived-outputs";
import type { JsonValue } from "../../provider/src/core/json";
import { parseInputs } from "../../provider/src/core/parse-inputs";
import type { Spec } from "../../provider/src/core/spec";
import { renderServeConfig, type ServeConfigFacts } from "../../provider/src/core/vllm-command";
import { flagRowsFor, flagTableFor, unsuitableValues } from "../../provider/src/core/vllm-flags";
import type { FlagRow, FlagTable } from "../../provider/src/core/vllm-flags-table";
import { spec } from "../support/host-facts";
import { askParser, isRealVllmThere, type ParserAnswer, type ParserCase } from "../support/vllm-parser";
import { ENGINE_SAMPLES, samplesFor, wrongSamplesFor } from "./flag-samples";
import { TRAPS } from "./parser-traps";

/** Cannot stand in a file for --config, or is the model itself. */
const NOT_IN_THE_FILE: ReadonlySet<string> = new Set(["config", "model"]);

const LEAST = { host: "gpu1", model: { path: "/m" } };

const table: FlagTable = flagRowsFor("0.32.0") ?? new Map<string, FlagRow>();
const samples = [...table]
  .filter(([flag]) => !NOT_IN_THE_FILE.has(flag))
  .flatMap(([flag, row]) => samplesFor(flag, row).map((value) => ({ flag, value, kind: row.kind })));
const typed = Object.entries(ENGINE_SAMPLES).map(([name, value]) => ({ name, value }));

/** Written from other inputs, whatever is given here. */
const WRITTEN_BY_US: ReadonlySet<string> = new Set(["fingerprint-mode", "port", "shutdown-timeout"]);
const wrong = [...table]
  .filter(([flag, row]) => !WRITTEN_BY_US.has(flag) && row.judged === undefined)
  .flatMap(([flag, row]) => wrongSamplesFor(row).map((value) => ({ flag, value })));

const NO_MEMBER = "no_such_member";

/** Every member that the table knows of a config, alone, and one that is none; the same of members that have some themselves. */
const members = [...table]
  .filter(([, row]) => row.keys !== undefined && row.judged === undefined)
  .flatMap(([flag, { keys = [], members: below = {} }]) => [
    ...[...keys, NO_MEMBER].map((key) => ({ flag, key, value: { [key]: null } })),
    ...Object.entries(below).flatMap(([name, inside]) =>
      [...inside, NO_MEMBER].map((key) => ({
        flag,
        key: `${name}.${key}`,
        value: { [name]: { [key]: null } },
      })),
    ),
  ]);
const unexpected = "unexpected_keyword_argument";

const asked = {
  flags: samples.map((sample) => file(rendered(sample.flag, sample.value))),
  typed: typed.map(({ name, value }) => file(renderedSpec(taken({ engine: { [name]: value } })))),
  members: members.map(({ flag, value }) => file(rendered(flag, value))),
  wrong: wrong.map(({ flag, value }) => file(rendered(flag, value))),
  byHand: TRAPS.map(({ yaml, words }) => ({ yaml, words })),
  ours: TRAPS.map(({ wish, ours }) => (ours === "refused" ? file("") : file(renderedSpec(taken(wish))))),
} satisfies Record<string, readonly ParserCase[]>;

const answers = new Map<ParserCase, ParserAnswer>();
const answerTo = (group: keyof typeof asked, index: number): ParserAnswer => {
  const question = asked[group][index];
  return (question === undefined ? undefined : answers.get(question)) ?? { error: "no answer", values: {} };
};

describe.skipIf(!isRealVllmThere)("the real parser of vLLM 0.32.0", () => {
  beforeAll(() => {
    const questions = Object.values(asked).flat();
    askParser(questions).forEach((answer, index) => {
      const question = questions[index];
      if (question !== undefined) answers.set(question, answer);
    });
  }, 600_000);

  it.each(samples.map((sample, index) => ({ ...sample, index })))(
    "takes --$flag as we write $value",
    ({ flag, value, kind, index }) => {
      const { error, values } = answerTo("flags", index);
      expect({ error, model: values["model_tag"] }).toEqual({ error: null, model: "/m" });
      if (kind === "json" || kind === "enum" || flag === "lora-modules") return;
      expect(values[pythonName(flag)]).toEqual(value);
    },
  );

  it.each(typed.map((sample, index) => ({ ...sample, index })))(
    "takes engine.$name: $value",
    ({ name, value, index }) => {
      const { error, values } = answerTo("typed", index);
      expect({ error, model: values["model_tag"] }).toEqual({ error: null, model: "/m" });
      const parsed = values[pythonName(ENGINE_FLAGS.get(name)?.flag ?? "")];
      if (name === "maxModelLen") expect(parsed).toBe(-1);
      else if (name !== "compilationConfig" && name !== "loraModules") expect(parsed).toEqual(value);
    },
  );

  it("has a sample for every typed flag", () => {
    expect(typed.map(({ name }) => name).sort()).toEqual([...ENGINE_FLAGS.keys()].sort());
  });

  it("knows every member of a config that the table knows, and no other", () => {
    const refused = members.filter(
      (_, index) => answerTo("members", index).error?.endsWith(unexpected) === true,
    );
    const wrong = members.filter(({ key }) => key.endsWith(NO_MEMBER));
    expect(refused.map(({ flag, key }) => `${flag} ${key}`)).toEqual(
      wrong.map(({ flag, key }) => `${flag} ${key}`),
    );
  });

  it("refuses what our own check calls unsuitable", () => {
    const taken = wrong.filter(({ flag, value }, index) => {
      const told = unsuitableValues(spec({ extraArgs: { [flag]: value } }), table);
      return answerTo("wrong", index).error === null || told.length === 0;
    });
    expect(taken).toEqual([]);
  });

  it("is never given a value that our own check calls unsuitable", () => {
    expect(
      samples.flatMap(({ flag, value }) => unsuitableValues(spec({ extraArgs: { [flag]: value } }), table)),
    ).toEqual([]);
  });

  it.each(TRAPS.map((trap, index) => ({ ...trap, index })))(
    "has a trap by hand: $trap",
    ({ index, byHand }) => {
      expectOutcome(answerTo("byHand", index), byHand);
    },
  );

  it.each(TRAPS.map((trap, index) => ({ ...trap, index })))(
    "is kept out of the trap: $trap",
    ({ index, wish, ours }) => {
      if (ours === "refused") expect(parseInputs({ ...LEAST, ...wish }).ok).toBe(false);
      else expectOutcome(answerTo("ours", index), ours);
    },
  );
});

function expectOutcome(answer: ParserAnswer, { error, ...values }: { readonly error: string | null }): void {
  if (error === null) expect(answer.error).toBeNull();
  else expect(answer.error).toContain(error);
  expect(answer.values).toMatchObject(values);
}

function pythonName(flag: string): string {
  return flag === "device-memory-utilization" ? "gpu_memory_utilization" : flag.replaceAll("-", "_");
}

function file(yaml: string): ParserCase {
  return { yaml, words: ["/m", "--config", "{file}"] };
}

function taken(inputs: object): Spec {
  const result = parseInputs({ ...LEAST, ...inputs });
  if (!result.ok) throw new Error(result.problems.map((problem) => problem.message).join("\n"));
  return result.spec;
}

/** Past the checks of inputs, because every flag is tried, also those that are not the user's to give. */
function rendered(flag: string, value: JsonValue): string {
  const listen = {
    address: flag === "host" ? textOf(value) : "::1",
    port: flag === "port" && typeof value === "number" ? value : 8000,
  };
  return renderedSpec(spec({ extraArgs: { [flag]: value }, listen }), {
    kvCacheDtypeFlag: flag === "kv-cache-dtype" ? textOf(value) : null,
    fingerprint: flag === "fingerprint-value" ? textOf(value) : null,
    shutdownTimeoutSeconds: flag === "shutdown-timeout" ? Number(value) : null,
    ...(flag === "served-model-name" && Array.isArray(value) ? { servedModelNames: value.map(String) } : {}),
  });
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function renderedSpec(given: Spec, facts: Partial<ServeConfigFacts> = {}): string {
  return renderServeConfig(given, {
    kvCacheDtypeFlag: null,
    servedModelNames: servedModelNames(given),
    fingerprint: null,
    shutdownTimeoutSeconds: null,
    flagKinds: flagTableFor("0.32.0"),
    ...facts,
  });
}

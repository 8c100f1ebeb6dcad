import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, it } from "vitest";
import { servedModelNames } from "../../provider/src/core/derived-outputs";
import { fromCommand } from "../../provider/src/core/from-command";
import { SHORT_NAMES } from "../../provider/src/core/from-command/written-flags";
import { isMembers } from "../../provider/src/core/input-json";
import type { JsonObject } from "../../provider/src/core/json";
import { parseInputs } from "../../provider/src/core/parse-inputs";
import type { Spec } from "../../provider/src/core/spec";
import { commandLine } from "../../provider/src/core/to-command";
import { renderServeConfig } from "../../provider/src/core/vllm-command";
import { flagRowsFor, flagTableFor } from "../../provider/src/core/vllm-flags";
import { FROM_COMMAND_CASES } from "../support/from-command-cases";
import {
  askParserWithNames,
  isRealVllmThere,
  type ParserAnswer,
  type ParserCase,
  type ParserNames,
} from "../support/vllm-parser";
import { decided, editedWords, RULES } from "./from-command-rules";

/** A text on its way there and back. */
interface Journey {
  readonly name: string;
  readonly inputs: JsonObject;
  /** Its own words, as 0.32 can read them. */
  readonly original: ParserCase;
  /** What the provider starts for its inputs. */
  readonly served: ParserCase;
  /** What `to-command` prints for its inputs. */
  readonly byHand: ParserCase;
}

const served = FROM_COMMAND_CASES.flatMap(({ name, command, argv, expect: { rejected } }) =>
  rejected === false && argv !== null ? [{ name, command, argv }] : [],
);

const journeys: Journey[] = [];
let names: ParserNames | null = null;
const answers = new Map<ParserCase, ParserAnswer>();

describe.skipIf(!isRealVllmThere || served.length === 0)("the way back from the inputs of a text", () => {
  beforeAll(async () => {
    for (const { name, command, argv } of served) journeys.push(await journeyOf(name, command, argv));
    const questions = journeys.flatMap(({ original, served, byHand }) => [original, served, byHand]);
    const { answers: given, ...said } = askParserWithNames(questions);
    names = said;
    given.forEach((answer, index) => {
      const question = questions[index];
      if (question !== undefined) answers.set(question, answer);
    });
  }, 600_000);

  it("knows the short names of flags that vLLM 0.32.0 knows", () => {
    const { "-h": _help, "-O": _level, ...others } = names?.shortNames ?? {};
    expect(Object.fromEntries(SHORT_NAMES)).toEqual(others);
  });

  it("knows the members of the speculative config that vLLM 0.32.0 takes", () => {
    // These two it fills in itself.
    const own = ["target_model_config", "target_parallel_config"];
    const wanted = names?.speculativeMembers.filter((name) => !own.includes(name));
    expect(flagRowsFor("0.32.0")?.get("speculative-config")?.keys).toEqual(wanted);
  });

  it.each(served)("$name: vLLM 0.32.0 reads what we start as it reads the original", ({ name }) => {
    compare(name, "served");
  });

  it.each(served)("$name: vLLM 0.32.0 reads the line to try by hand as it reads the original", ({ name }) => {
    compare(name, "byHand");
  });
});

function compare(name: string, way: "served" | "byHand"): void {
  const journey = journeys.find((each) => each.name === name);
  if (journey === undefined) throw new Error(`no ${name}`);
  const original = answerTo(journey.original);
  const ours = answerTo(journey[way]);
  expect(withoutPlace(ours.error)).toBe(withoutPlace(original.error));
  if (original.error !== null) return;
  const wanted = Object.entries(original.values).map(([value, before]) => {
    const rule = RULES[value];
    return [value, rule === undefined ? before : rule.wanted(journey.inputs, original.values)];
  });
  // A folder of the cache is of one revision; only the line by hand names it.
  const revision = way === "served" ? { revision: null } : {};
  expect(withoutIds(ours.values)).toEqual(withoutIds({ ...Object.fromEntries(wanted), ...revision }));
}

/** vLLM gives every connector one of its own. */
function withoutIds(values: Readonly<Record<string, unknown>>): unknown {
  return JSON.parse(JSON.stringify(values).replace(/engine_id='[0-9a-f-]{36}'/g, "engine_id='...'"));
}

function answerTo(question: ParserCase): ParserAnswer {
  return answers.get(question) ?? { error: "no answer", values: {} };
}

/** What is refused, without the order in which it was found. */
function withoutPlace(error: string | null): string | null {
  return error?.replace(/^[^:]*: error: /, "") ?? null;
}

async function journeyOf(name: string, command: string, argv: readonly string[]): Promise<Journey> {
  const inputs = decided((await fromCommand(command)).inputs);
  const spec = specOf(inputs);
  const config = renderServeConfig(spec, {
    kvCacheDtypeFlag: spec.kvCacheDtype === "auto" ? null : spec.kvCacheDtype,
    servedModelNames: servedModelNames(spec),
    fingerprint: null,
    shutdownTimeoutSeconds: null,
    flagKinds: flagTableFor("0.32.0"),
  });
  const model = spec.model.kind === "local" ? spec.model.path : spec.model.repo;
  return {
    name,
    inputs,
    original: {
      yaml: null,
      words: editedWords(argv, isMembers(inputs["vllm"]) && "version" in inputs["vllm"]),
    },
    served: { yaml: config, words: [model, "--config", "{file}"] },
    byHand: { yaml: null, words: wordsOfBash(commandLine(spec).text) },
  };
}

function specOf(inputs: JsonObject): Spec {
  const parsed = parseInputs({ host: "gpu1", ...inputs });
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join("\n"));
  return parsed.spec;
}

/** What bash makes of the line, with `vllm` in its place. */
function wordsOfBash(line: string): readonly string[] {
  const script = `vllm() { shift; printf '%s\\0' "$@"; }\n${line.replace(/^\S*vllm serve/m, "vllm serve")}`;
  const environment = {
    PATH: "/usr/bin:/bin",
    HOME: "~",
    VLLM_API_KEY: "k",
    HF_TOKEN: "t",
    LANGCHAIN_API_KEY: "l",
  };
  const { stdout, stderr, status } = spawnSync("bash", ["-c", script], {
    env: environment,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.split("\0").slice(0, -1);
}

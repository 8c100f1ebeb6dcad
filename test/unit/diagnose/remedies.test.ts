import { expect, test } from "vitest";
import { diagnose } from "../../../provider/src/core/diagnose";
import { ALL_RULES } from "../../../provider/src/core/diagnose/rules";
import { LIFE_ENDINGS } from "../../../provider/src/core/diagnose/rules/endings";
import { RUNTIME_OOM_RULE } from "../../../provider/src/core/diagnose/rules/memory";
import { ENGINE_FLAGS } from "../../../provider/src/core/engine-flags";
import { INPUT_NAMES, parseInputs } from "../../../provider/src/core/parse-inputs";
import { NEWEST_FLAGS } from "../../../provider/src/core/vllm-flags-table";

const kernelLines = [
  "Out of memory: Killed process 7 (x)",
  "Memory cgroup out of memory: Killed process 7 (x)",
  "NVRM: Xid (PCI:0000:41:00): 79, x",
  "NVRM: Xid (PCI:0000:41:00): 48, x",
  "NVRM: Xid (PCI:0000:41:00): 31, x",
];
const changes: readonly (readonly [string, string])[] = [
  ...[...ALL_RULES, RUNTIME_OOM_RULE].flatMap(({ cause, change }) =>
    change.map((text) => [cause, text] as const),
  ),
  ...LIFE_ENDINGS.map(({ cause, change }) => [cause, change] as const),
  ...kernelLines.map((line) => {
    const { cause, change } = diagnose({ log: "", exitCode: 1, signal: null, kernel: [line] });
    return [cause, change ?? ""] as const;
  }),
];

/** `engine.x`, `extraArgs["x-y"]`: names below an input. */
const BELOW = new RegExp(`\\b(${INPUT_NAMES.join("|")})(?:\\.([A-Za-z_]\\w*)|\\["([^"]+)"\\])`, "g");

function namesBelow(text: string): readonly (readonly [input: string, name: string])[] {
  return [...text.matchAll(BELOW)].map(
    ([, input = "", name, quoted]) => [input, name ?? quoted ?? ""] as const,
  );
}

/** What the inputs say of a name, rather than of its value. */
const ABOUT_A_NAME =
  /^one of |^the name |^(?:engine|listen|environment)\.|^(?:model|gpus|apiKey|kvCacheDtype)$/;

function nameProblems(input: string, name: string): readonly string[] {
  const value = { environment: "x", extraArgs: 1 }[input] ?? {};
  const parsed = parseInputs({ host: "gpu1", model: { path: "/m" }, [input]: { [name]: value } });
  const wanted = parsed.ok ? [] : parsed.problems.map((problem) => problem.wanted);
  const isUnknownFlag = input === "extraArgs" && !NEWEST_FLAGS.has(name);
  return [
    ...wanted.filter((text) => ABOUT_A_NAME.test(text)),
    ...(isUnknownFlag ? [`no flag of vLLM: ${name}`] : []),
  ];
}

test.each(changes)("%s names only inputs that exist: %s", (_cause, change) => {
  expect(namesBelow(change).flatMap(([input, name]) => nameProblems(input, name))).toEqual([]);
});

test.each(changes)("%s begins with an input, or with what is done on the host: %s", (_cause, change) => {
  const [first = ""] = /^\w+/.exec(change) ?? [];
  expect(["host", "start", ...INPUT_NAMES]).toContain(first);
  if (first === "host") expect(change).toMatch(/^host: /);
  if (first === "start") expect(change).toMatch(/^start again/);
});

test("a name that no input has is found", () => {
  expect(nameProblems("engine", "maxModelLength")).not.toEqual([]);
  expect(nameProblems("extraArgs", "kv-cache-memory-bytes")).toEqual(["engine.kvCacheMemoryBytes"]);
  expect(nameProblems("extraArgs", "no-such-flag")).not.toEqual([]);
  expect(nameProblems("vllm", "wheel")).not.toEqual([]);
  expect(nameProblems("model", "name")).not.toEqual([]);
});

test("a typed flag that is named beside its input is that input's flag", () => {
  const pairs = changes.flatMap(([, change]) =>
    [...change.matchAll(/engine\.(\w+)[^(;,]*\((--[\w-]+)/g)].map(([, name = "", flag = ""]) => ({
      name,
      flag,
      wanted: `--${ENGINE_FLAGS.get(name)?.flag ?? "?"}`,
    })),
  );
  expect(pairs.length).toBeGreaterThan(30);
  expect(
    pairs.filter(({ flag, wanted }) => flag !== wanted && flag !== wanted.replace("--", "--no-")),
  ).toEqual([]);
});

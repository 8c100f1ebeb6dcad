import { isDeepStrictEqual } from "node:util";
import { derivedOutputsKnown, isDerivedOutput } from "./core/derived-outputs";
import { describeDiff, describeDrift, describeRename, diffContext, diffInputs } from "./core/diff";
import { isDriftInInputs, readDrift, reachedInputs, untoldIn } from "./core/drift";
import { pathsOverlap } from "./core/input-path";
import { inputsOf, parseInputs } from "./core/parse-inputs";
import { type SecretMarks, withoutMarkedValue } from "./core/secret-marks";
import type { Spec } from "./core/spec";
import { judgingTable, unsuitableValues } from "./core/vllm-flags";
import type * as HostHooks from "./host-hooks";
import { noteWish } from "./newest-wish";
import { fromWire, type Wire } from "./pulumi/adapter";
import { engineLog } from "./pulumi/engine-log";
import { hostIdentity } from "./ssh/host-identity";

/**
 * The hooks of the dynamic provider. Every state ever written points here by `require("pulumi-vllm/runtime").v1`, so v1 keeps its
 * names and meanings for ever; what changes is behind it. check and diff never open a connection: the engine serialises them.
 */
export const v1 = {
  check,
  diff,
  create: async (inputs: Wire) => (await hostHooks()).create(inputs),
  read,
  update: async (id: string, olds: Wire, news: Wire) => (await hostHooks()).update(id, olds, news),
  delete: async (id: string, props: Wire) => (await hostHooks()).remove(id, props),
};

/** Loaded by the first hook that needs a host: a preview does without SSH, and without loading it. */
const hostHooks = (): Promise<typeof HostHooks> => import("./host-hooks.js");

interface CheckResult {
  readonly inputs: Wire;
  readonly failures: readonly { readonly property: string; readonly reason: string }[];
}

/** Resources that were read and not checked since: the engine compares those with what their state had. */
const justRead = new Set<string>();

async function read(id: string, props: Wire): ReturnType<typeof HostHooks.read> {
  justRead.add(fromWire(props).urn);
  return (await hostHooks()).read(id, props);
}

/** Outputs that follow from the inputs alone are added as inputs: that makes them known in preview. */
async function check(_olds: Wire, news: Wire): Promise<CheckResult> {
  const { inputs, urn, marks } = fromWire(news);
  justRead.delete(urn);
  const parsed = parseInputs(withoutPlaceholders(inputs));
  if (!parsed.ok) {
    // Each reason begins with its path. A failure that names a property makes the engine print what it holds, secrets
    // inside an object too, and "value {<nil>}" for every path with a dot. Seen with the CLI 3.276.0.
    const failures = parsed.problems.map((problem) => ({
      property: "",
      reason: withoutMarkedValue(problem, marks).message,
    }));
    return { inputs: news, failures };
  }
  const untold = untoldIn(inputs);
  if (untold.length > 0) return { inputs: news, failures: [{ property: "", reason: untoldReason(untold) }] };
  if (!parsed.unknowns.some((path) => pathsOverlap(path, "onDelete"))) noteWish(urn, parsed.spec.onDelete);
  await warnOfValues(urn, parsed.spec, marks);
  return {
    inputs: {
      ...withoutPlaceholders(news),
      ...derivedOutputsKnown(parsed.spec, parsed.unknowns),
      ...reachedInputs(),
    },
    failures: [],
  };
}

/** What vLLM's parser would refuse: told before a host is asked, and no error, for the version that will run may be another. */
async function warnOfValues(urn: string, spec: Spec, marks: SecretMarks): Promise<void> {
  const table = judgingTable(spec.vllm.kind === "environment" ? spec.vllm.version : null);
  const problems = table === null ? [] : unsuitableValues(spec, table.rows);
  for (const problem of problems) {
    const { message } = withoutMarkedValue(problem, marks);
    engineLog().warning(urn, `vLLM ${table?.version ?? ""} would refuse ${message}`);
  }
  if (problems.length > 0) await engineLog().flush();
}

/** A secret of the host is not told, so there is nothing to adopt. */
function untoldReason(paths: readonly string[]): string {
  return `${paths.join(", ")}: the value on the host is another one and not known here, need it declared; take it out of ignoreChanges`;
}

/** Without the nulls that only carry the mark of a secret to an output that follows from the inputs. */
function withoutPlaceholders(inputs: Wire): Wire {
  const isPlaceholder = (name: string, value: unknown): boolean => value === null && isDerivedOutput(name);
  return Object.fromEntries(Object.entries(inputs).filter(([name, value]) => !isPlaceholder(name, value)));
}

interface DiffResult {
  /** undefined: the engine compares the inputs of the state with the program's, and shows each difference at its property. */
  readonly changes: boolean | undefined;
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
}

async function diff(_id: string, olds: Wire, news: Wire): Promise<DiffResult> {
  const { inputs: before, urn: oldUrn, marks: oldMarks } = fromWire(olds);
  const after = fromWire(news);
  // A refresh: the host was looked at a moment ago, and nothing is going to be done about it.
  if (justRead.has(after.urn)) return { changes: undefined, replaces: [], deleteBeforeReplace: false };
  const renamed = describeRename(oldUrn, after.urn);
  const marks = [...oldMarks, ...after.marks];
  const result = diffInputs(before, after.inputs, hostsOf(before, after.inputs), marks);
  const drift = readDrift(before);
  const context = diffContext(before);
  const words = [
    ...describeDiff(result, context),
    ...(renamed === null ? [] : [renamed]),
    ...describeDrift(drift, result, context),
  ];
  for (const line of words) engineLog().info(after.urn, line);
  await engineLog().flush();
  const isProviderNew = olds["__provider"] !== news["__provider"];
  return {
    // Without a change the engine keeps the old outputs, the old provider text and the old credentials. Inputs of a state with drift
    // are those found on the host, and differ from any program's by the lines that tell of it.
    changes: isDriftInInputs(before)
      ? undefined
      : result.hasChanges || drift.length > 0 || isProviderNew || renamed !== null,
    replaces: result.replaces,
    deleteBeforeReplace: false,
  };
}

/** The same words mean the same host, today's SSH configuration being one: it is read only where they differ. */
function hostsOf(before: Wire, after: Wire): { readonly oldHost: string; readonly newHost: string } {
  if (isDeepStrictEqual(before["host"], after["host"])) return { oldHost: "", newHost: "" };
  return { oldHost: identityOf(before), newHost: identityOf(after) };
}

/** "": not readable. Whether the host is known yet is for the comparison to judge. */
function identityOf(inputs: Wire): string {
  const parsed = parseInputs(inputsOf(inputs));
  return parsed.ok ? hostIdentity(parsed.spec.host) : "";
}

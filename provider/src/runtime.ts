import { isDeepStrictEqual } from "node:util";
import { derivedOutputsKnown, isDerivedOutput } from "./core/derived-outputs";
import { describeDiff, describeDrift, describeRename, diffContext, diffInputs } from "./core/diff";
import { pathsOverlap } from "./core/input-path";
import { inputsOf, parseInputs } from "./core/parse-inputs";
import { withoutMarkedValue } from "./core/secret-marks";
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
  read: async (id: string, props: Wire) => (await hostHooks()).read(id, props),
  update: async (id: string, olds: Wire, news: Wire) => (await hostHooks()).update(id, olds, news),
  delete: async (id: string, props: Wire) => (await hostHooks()).remove(id, props),
};

/** Loaded by the first hook that needs a host: a preview does without SSH, and without loading it. */
const hostHooks = (): Promise<typeof HostHooks> => import("./host-hooks.js");

interface CheckResult {
  readonly inputs: Wire;
  readonly failures: readonly { readonly property: string; readonly reason: string }[];
}

/** Outputs that follow from the inputs alone are added as inputs: that makes them known in preview. */
function check(_olds: Wire, news: Wire): CheckResult {
  const { inputs, urn, marks } = fromWire(news);
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
  if (!parsed.unknowns.some((path) => pathsOverlap(path, "onDelete"))) noteWish(urn, parsed.spec.onDelete);
  return { inputs: { ...news, ...derivedOutputsKnown(parsed.spec, parsed.unknowns) }, failures: [] };
}

/** Without the nulls that only carry the mark of a secret to an output that follows from the inputs. */
function withoutPlaceholders(inputs: Wire): Wire {
  const isPlaceholder = (name: string, value: unknown): boolean => value === null && isDerivedOutput(name);
  return Object.fromEntries(Object.entries(inputs).filter(([name, value]) => !isPlaceholder(name, value)));
}

interface DiffResult {
  readonly changes: boolean;
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
}

async function diff(_id: string, olds: Wire, news: Wire): Promise<DiffResult> {
  const { inputs: before, urn: oldUrn, marks: oldMarks } = fromWire(olds);
  const after = fromWire(news);
  const renamed = describeRename(oldUrn, after.urn);
  const marks = [...oldMarks, ...after.marks];
  const result = diffInputs(before, after.inputs, hostsOf(before, after.inputs), marks);
  const drift = driftIn(before);
  const context = diffContext(before);
  const repair = describeDrift(drift, result, context);
  const words = [...describeDiff(result, context), ...[renamed, repair].filter((line) => line !== null)];
  for (const line of words) engineLog().info(after.urn, line);
  await engineLog().flush();
  const isProviderNew = olds["__provider"] !== news["__provider"];
  return {
    // Without a change the engine keeps the old outputs, the old provider text and the old credentials.
    changes: result.hasChanges || drift.length > 0 || isProviderNew || renamed !== null,
    replaces: result.replaces,
    deleteBeforeReplace: false,
  };
}

/** What the last look at the host found not to be as declared. */
function driftIn(outputs: Wire): readonly string[] {
  const drift = outputs["drift"];
  return Array.isArray(drift) ? drift.map(String) : [];
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

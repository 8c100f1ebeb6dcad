import * as pulumi from "@pulumi/pulumi";
import { kindOf, pathAt, type ConfigProblem } from "./config-problem";
import { isObject, type Inputs } from "./layers";

/** What the stack's config says, read but not yet put together. */
export interface Sections {
  readonly servers: ReadonlyMap<string, Inputs>;
  readonly defaults: Inputs;
  readonly groups: ReadonlyMap<string, Inputs>;
  /** Whether Pulumi knows of a secret in it; where, it does not tell programs. */
  readonly holdsSecrets: boolean;
  readonly problems: readonly ConfigProblem[];
}

const WANTED = {
  servers: "an object: name -> inputs of VllmServer (host, model, ...)",
  defaults: "an object: inputs of VllmServer that every server gets",
  groups: "an object: name -> inputs of VllmServer that servers get which name the group",
} as const;
type Section = keyof typeof WANTED;

/** The path of a section: "vllm-servers:servers". */
export function sectionPath(section: Section): string {
  return `${pulumi.getProject()}:${section}`;
}

export function readSections(): Sections {
  const problems: ConfigProblem[] = unknownKeys();
  const servers = named(read("servers", problems), "servers", problems);
  const groups = named(read("groups", problems), "groups", problems);
  const defaults = read("defaults", problems);
  return { servers, groups, defaults, holdsSecrets: Object.keys(WANTED).some(isSecretKey), problems };
}

function read(section: Section, problems: ConfigProblem[]): Inputs {
  const path = sectionPath(section);
  const text = pulumi.runtime.getConfig(path);
  if (text === undefined && section !== "servers") return {};
  const value = text === undefined ? undefined : parsed(text);
  if (isObject(value)) return value;
  problems.push({ path, found: kindOf(value), wanted: WANTED[section] });
  return {};
}

/** Text that is no JSON is what Pulumi makes of a plain value. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function named(value: Inputs, section: Section, problems: ConfigProblem[]): ReadonlyMap<string, Inputs> {
  const path = sectionPath(section);
  const kept: [string, Inputs][] = [];
  for (const [name, inputs] of Object.entries(value)) {
    if (name === "") problems.push({ path: `a name in ${path}`, found: "empty", wanted: WANTED[section] });
    else if (isObject(inputs)) kept.push([name, inputs]);
    else
      problems.push({
        path: pathAt(path, name),
        found: kindOf(inputs),
        wanted: "an object: inputs of VllmServer",
      });
  }
  return new Map(kept);
}

function unknownKeys(): ConfigProblem[] {
  const own = `${pulumi.getProject()}:`;
  return Object.entries(pulumi.runtime.allConfig())
    .filter(([key]) => key.startsWith(own) && !Object.keys(WANTED).includes(key.slice(own.length)))
    .map(([path, value]) => ({
      path,
      found: kindOf(parsed(value)),
      wanted: `one of ${Object.keys(WANTED).join(", ")}`,
    }));
}

/** Source: @pulumi/pulumi 3.276.0 runtime/config.js, which keeps its own reader of it internal. */
function isSecretKey(section: string): boolean {
  const keys: unknown = JSON.parse(process.env["PULUMI_CONFIG_SECRET_KEYS"] ?? "[]");
  return Array.isArray(keys) && keys.includes(`${pulumi.getProject()}:${section}`);
}

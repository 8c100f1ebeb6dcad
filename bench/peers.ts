import type { PulumiProject, PulumiResult } from "../test/support/pulumi-cli.ts";
import { demandOk } from "./floor.ts";
import { childSeconds } from "./machine.ts";

/** One verb of the CLI; seconds. */
export interface Run {
  readonly wall: number;
  /** Of the CLI, the program and the provider, not of the hosts. */
  readonly processor: number;
}

export type Verb = (project: PulumiProject) => Promise<PulumiResult>;

/** The same verb on each, one right after the other. Fails when one of them does. */
export async function inTurn<Name extends string>(
  what: string,
  verb: Verb,
  projects: Readonly<Record<Name, PulumiProject>>,
): Promise<Readonly<Record<Name, Run>>>;
export async function inTurn(
  what: string,
  verb: Verb,
  projects: Readonly<Record<string, PulumiProject>>,
): Promise<Readonly<Record<string, Run>>> {
  const runs: Record<string, Run> = {};
  for (const [name, project] of Object.entries(projects)) {
    const run = await timed(`${what}, ${name}`, verb, project);
    console.error(`${what}, ${name}: ${run.wall.toFixed(1)} s`);
    runs[name] = run;
  }
  return runs;
}

async function timed(what: string, verb: Verb, project: PulumiProject): Promise<Run> {
  const before = childSeconds();
  const { seconds } = demandOk(await verb(project), what);
  return { wall: seconds, processor: childSeconds() - before };
}

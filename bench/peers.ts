import type { PulumiProject, PulumiResult } from "../test/support/pulumi-cli.ts";
import { demandOk } from "./floor.ts";
import { childSeconds } from "./machine.ts";

/** One verb of the CLI; seconds. */
export interface Run {
  readonly wall: number;
  /** Of the CLI, the program and the provider, not of the hosts. */
  readonly processor: number;
}

export interface Pair {
  readonly own: Run;
  readonly floor: Run;
}

export type Verb = (project: PulumiProject) => Promise<PulumiResult>;

/** The same verb on both, one right after the other. Fails when one of them does. */
export async function pair(
  what: string,
  verb: Verb,
  own: PulumiProject,
  floor: PulumiProject,
): Promise<Pair> {
  const peer = await timed(`${what} of the floor`, verb, floor);
  const measured = { own: await timed(what, verb, own), floor: peer };
  console.error(`${what}: ${measured.own.wall.toFixed(1)} s, floor ${peer.wall.toFixed(1)} s`);
  return measured;
}

async function timed(what: string, verb: Verb, project: PulumiProject): Promise<Run> {
  const before = childSeconds();
  const { seconds } = demandOk(await verb(project), what);
  return { wall: seconds, processor: childSeconds() - before };
}

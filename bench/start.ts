import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeBed, type Bed } from "../test/support/bed.ts";
import { bareStart, recipeOf, type Recipe } from "./bare-start.ts";
import type { Candidate } from "./candidates.ts";
import { demandOk, floorProject, floorUp, type FloorUp } from "./floor.ts";
import { load } from "./machine.ts";
import { median, spread } from "./statistics.ts";
import { seconds, table, times } from "./table.ts";

/** One `pulumi up` that creates the server; seconds. */
interface MeasuredUp {
  readonly whole: number;
  /** Start of the CLI until the host has the connection. */
  readonly toHost: number;
  /** From there until vLLM's process begins: login, look, plan, files. */
  readonly toProcess: number;
  /** From there until it is proven ready. */
  readonly toReady: number;
  /** From there until the CLI ends: confirm, last look, state. */
  readonly afterReady: number;
}

interface Measured {
  readonly bare: readonly number[];
  readonly ups: readonly MeasuredUp[];
  readonly floors: readonly FloorUp[];
}

/**
 * Time of `up` to ready over a bare start of the same declaration, and over Pulumi's own floor. The three take turns, so that
 * a change of the machine's load meets all of them.
 * @returns Markdown
 */
export async function measureStart(candidate: Candidate, repetitions: number): Promise<string> {
  const bed = await makeBed({ path: candidate.path });
  const floor = await floorProject(1);
  const loadBefore = load();
  try {
    await bed.declare({ measured: candidate.inputs });
    const recipe = await learn(bed);
    const bare: number[] = [];
    const ups: MeasuredUp[] = [];
    const floors: FloorUp[] = [];
    for (let turn = 0; turn < repetitions; turn += 1) {
      bare.push((await bareStart(recipe, candidate.port, candidate.model)).startSeconds);
      floors.push(await floorUp(floor));
      ups.push(await measuredUp(bed));
      demandOk(await bed.project.destroy(), "destroy");
    }
    const title = `${candidate.title}, ${String(repetitions)} of each in turn (load ${loadBefore} before, ${load()} after)`;
    return `### Up to ready: ${title}\n\n${report({ bare, ups, floors })}`;
  } finally {
    await bed.close();
    await floor.remove();
  }
}

/** A first up that is not counted: it fills caches and shows how the process is started. */
async function learn(bed: Bed): Promise<Recipe> {
  demandOk(await bed.project.up(), "first up");
  const [server] = await bed.project.servers();
  const recipe = recipeOf(Number(server?.outputs?.["pid"]));
  demandOk(await bed.project.destroy(), "destroy");
  return recipe;
}

async function measuredUp(bed: Bed): Promise<MeasuredUp> {
  const connections = bed.sshd.connectionCount();
  const begin = Date.now();
  const up = bed.project.start("up");
  let contact = 0;
  const timer = setInterval(() => {
    if (contact === 0 && bed.sshd.connectionCount() > connections) contact = Date.now();
  }, 5);
  const { seconds: whole } = demandOk(await up.result, "up");
  clearInterval(timer);
  const [server] = await bed.project.servers();
  const file = join(bed.home, ".local/state/pulumi-vllm", server?.id ?? "", "ready.json");
  const ready: { readonly readyAt: string; readonly startSeconds: number } = JSON.parse(
    readFileSync(file, "utf8"),
  );
  const readyAt = Date.parse(ready.readyAt);
  const toHost = (contact - begin) / 1000;
  const toProcess = (readyAt - contact) / 1000 - ready.startSeconds;
  return {
    whole,
    toHost,
    toProcess,
    toReady: ready.startSeconds,
    afterReady: whole - (readyAt - begin) / 1000,
  };
}

function report({ bare, ups, floors }: Measured): string {
  const of = <T>(list: readonly T[], pick: (one: T) => number): readonly number[] => list.map(pick);
  const whole = of(ups, (up) => up.whole);
  const floor = of(floors, (one) => one.seconds);
  const [bareMedian, wholeMedian, floorMedian] = [median(bare), median(whole), median(floor)];
  const toReady = of(ups, (up) => up.toReady);
  const rows = [
    ["bare start: spawn to first completion", spread(bare)],
    ["`pulumi up` of one trivial resource (the CLI's floor)", spread(floor)],
    ["`pulumi up` of the server, whole CLI", spread(whole)],
    [
      "… over the bare start",
      `${times(wholeMedian / bareMedian)}, ${seconds(wholeMedian - bareMedian)} more`,
    ],
    ["… of which the tool itself (over bare start + floor)", seconds(wholeMedian - bareMedian - floorMedian)],
    ["CLI start to SSH connection", spread(of(ups, (up) => up.toHost))],
    ["… floor: CLI start to create()", spread(of(floors, (one) => one.before))],
    ["SSH connection to vLLM's process", spread(of(ups, (up) => up.toProcess))],
    ["vLLM's process to proven ready", spread(toReady)],
    ["… over the bare start", seconds(median(toReady) - bareMedian)],
    ["proven ready to the CLI's end", spread(of(ups, (up) => up.afterReady))],
    ["… floor: create() to the CLI's end", spread(of(floors, (one) => one.after))],
  ];
  return table(["what", "seconds: median (least-most)"], rows);
}

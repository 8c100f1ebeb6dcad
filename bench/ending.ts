import { makeBed, type Bed } from "../test/support/bed.ts";
import { killQuietly } from "../test/support/process-tree.ts";
import { answered, bareStart, recipeOf } from "./bare-start.ts";
import type { Candidate } from "./candidates.ts";
import { demandOk, floorProject } from "./floor.ts";
import { load } from "./machine.ts";
import { median, spread } from "./statistics.ts";
import { seconds, table } from "./table.ts";

const DELAY_SECONDS = 1;

/**
 * What an end costs: from `kill -9` of the API server until a completion answers again, beside a bare start;
 * and `pulumi destroy` until the GPUs are proven free, beside SIGTERM by hand until the processes are gone, and the CLI's own floor.
 * They take turns.
 * @returns Markdown
 */
export async function measureEnding(candidate: Candidate, repetitions: number): Promise<string> {
  const bed = await makeBed({ path: candidate.path });
  const floor = await floorProject(1);
  const loadBefore = load();
  try {
    await bed.declare({
      measured: {
        ...candidate.inputs,
        service: { restart: { max: 1000, withinSeconds: 600, delaySeconds: DELAY_SECONDS } },
      },
    });
    const rows: Record<"again" | "bare" | "destroy" | "stop" | "byHand" | "floor", number[]> = {
      again: [],
      bare: [],
      destroy: [],
      stop: [],
      byHand: [],
      floor: [],
    };
    for (let turn = 0; turn < repetitions; turn += 1) {
      demandOk(await bed.project.up(), "up");
      const recipe = recipeOf(leaderOf(bed));
      rows.again.push(await secondsToAnswerAfterKill(candidate, leaderOf(bed)));
      const { stdout, seconds: whole } = demandOk(await bed.project.destroy(), "destroy");
      rows.destroy.push(whole);
      rows.stop.push(Number(/stopped in (\d+) s/.exec(stdout)?.[1]));
      const bare = await bareStart(recipe, candidate.port, candidate.model);
      rows.bare.push(bare.startSeconds);
      rows.byHand.push(bare.stopSeconds);
      demandOk(await floor.up(), "up of the floor");
      rows.floor.push(demandOk(await floor.destroy(), "destroy of the floor").seconds);
    }
    const title = `${candidate.title}, ${String(repetitions)} of each in turn (load ${loadBefore} before, ${load()} after)`;
    return [
      `### Ends: ${title}`,
      table(
        ["what", "seconds: median (least-most)"],
        [
          [`kill -9 to the next answer, restart after ${String(DELAY_SECONDS)} s`, spread(rows.again)],
          ["… a bare start alone", spread(rows.bare)],
          ["… over that and the delay", seconds(median(rows.again) - median(rows.bare) - DELAY_SECONDS)],
          ["`pulumi destroy`, whole CLI, GPUs proven free", spread(rows.destroy)],
          ["… of which the stop, whole seconds as told", spread(rows.stop, 0)],
          ["… SIGTERM by hand until the processes are gone", spread(rows.byHand)],
          ["… `pulumi destroy` of one trivial resource (the CLI's floor)", spread(rows.floor)],
          ["… over both", seconds(median(rows.destroy) - median(rows.byHand) - median(rows.floor))],
        ],
      ),
    ].join("\n\n");
  } finally {
    await bed.close();
    await floor.remove();
  }
}

function leaderOf(bed: Bed): number {
  const api = bed.processes().find(({ command }) => command.includes(" serve "));
  if (api === undefined) throw new Error("no API server runs");
  return api.pid;
}

async function secondsToAnswerAfterKill({ port, model }: Candidate, leader: number): Promise<number> {
  const begin = performance.now();
  killQuietly(leader);
  await answered(port, model);
  return (performance.now() - begin) / 1000;
}

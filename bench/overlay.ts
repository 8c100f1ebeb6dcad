import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentHost, type AgentHost } from "./agent-host.ts";
import { load } from "./machine.ts";
import { runProgram } from "./run-program.ts";
import { median, spread } from "./statistics.ts";
import { table } from "./table.ts";

const SHARDS = 200;
const SHARD_BYTES = 100_000_000;
const OTHERS = ["config.json", "generation_config.json", "model.safetensors.index.json", "tokenizer.json"];
const CONFIG = `${JSON.stringify({ model_type: "llama", quantization_config: null }, null, 2)}\n`;

/**
 * The step that builds an overlay of 200 shards with another config, in turn with a shell that makes the same folder: links by `cp` and by
 * `ln`, and the config. The step looks at what is there, notes who uses it, and has the config and its records on the disk when it ends.
 * @returns Markdown
 */
export async function measureOverlay(repetitions: number): Promise<string> {
  const host = agentHost([]);
  try {
    return await measured(host, repetitions);
  } finally {
    host.remove();
  }
}

async function measured(host: AgentHost, repetitions: number): Promise<string> {
  const loadBefore = load();
  const checkpoint = sparseCheckpoint(host.home);
  const text = join(host.home, "config.json");
  writeFileSync(text, CONFIG);
  const calls: number[] = [];
  const step = async (name: string): Promise<number> => {
    const { result, stepSeconds, callSeconds } = await host.apply({
      kind: "overlay",
      name,
      checkpointPath: checkpoint,
      files: { "config.json": CONFIG },
      record: { changes: [] },
    });
    if (result.kind !== "overlay") throw new Error("no overlay was built");
    demandWhole(result.path);
    calls.push(callSeconds);
    return stepSeconds;
  };
  const shell = (script: string) => async (name: string) => {
    const folder = join(host.home, name);
    const { wall } = await runProgram(["sh", "-c", script, "sh", checkpoint, folder, text]);
    demandWhole(folder);
    rmSync(folder, { recursive: true });
    return wall;
  };
  const ways = {
    "the step": step,
    "… where it is there already": step,
    "`cp -rs` and the config": shell('cp -rs "$1" "$2" && rm "$2/config.json" && cp "$3" "$2/config.json"'),
    "`ln -s` and the config": shell('mkdir "$2" && ln -s "$1"/* "$2" && rm "$2/config.json" && cp "$3" "$2"'),
    "`sh -c true`": async () => (await runProgram(["sh", "-c", "true"])).wall,
  };
  const found = Object.keys(ways).map((): number[] => []);
  for (let turn = 0; turn < repetitions; turn += 1) {
    const name = randomBytes(8).toString("hex");
    for (const [index, way] of Object.values(ways).entries()) found[index]?.push(await way(name));
  }
  const rows = Object.keys(ways).map((what, index) => [what, inMilliseconds(found[index] ?? [])]);
  rows.splice(2, 0, ["… with the agent around it, from its start to its end", inMilliseconds(calls)]);
  const [own = NaN, , copied = NaN] = found.map(median);
  return [
    `### Overlay of ${String(SHARDS)} shards, ${String(repetitions)} of each in turn (load ${loadBefore} before, ${load()} after)`,
    table(["what", "milliseconds: median (least-most)"], rows),
    `Over \`cp -rs\` the step takes ${((own - copied) * 1000).toFixed(0)} ms.`,
  ].join("\n\n");
}

/** Files of their full size that take no room. */
function sparseCheckpoint(home: string): string {
  const folder = join(home, "checkpoint");
  mkdirSync(folder);
  for (const name of OTHERS) writeFileSync(join(folder, name), "{}\n");
  for (let shard = 1; shard <= SHARDS; shard += 1) {
    const path = join(
      folder,
      `model-${String(shard).padStart(5, "0")}-of-${String(SHARDS).padStart(5, "0")}.safetensors`,
    );
    writeFileSync(path, "");
    truncateSync(path, SHARD_BYTES);
  }
  return folder;
}

function demandWhole(folder: string): void {
  const entries = readdirSync(folder, { withFileTypes: true });
  const links = entries.filter((entry) => entry.isSymbolicLink()).length;
  const wanted = SHARDS + OTHERS.length;
  if (entries.length !== wanted || links !== wanted - 1) {
    throw new Error(`${folder} holds ${String(links)} links of ${String(entries.length)} files`);
  }
}

function inMilliseconds(seconds: readonly number[]): string {
  return spread(
    seconds.map((value) => value * 1000),
    1,
  );
}

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { ensureHf } from "../scripts/setup-hf.mjs";
import { startModelHub, type ModelHub } from "../test/support/model-hub.ts";
import { agentHost, type AgentHost } from "./agent-host.ts";
import { load } from "./machine.ts";
import { runProgram, type Ran } from "./run-program.ts";
import { median, spread } from "./statistics.ts";
import { table, times } from "./table.ts";

export interface DownloadSize {
  readonly gigabytes: number;
  readonly repetitions: number;
  /** Gbit/s of all connections together, one after the other; 0: as fast as it goes between processes of one machine, which is no link. */
  readonly links: readonly number[];
}

const REPOSITORY = "org/large";
const REVISION = "a".repeat(40);
const SHARDS = 16;
/** As many files at once as the product has under way; more of them than that are there all the time, so that ranges of one file would bring nothing. */
const AT_A_TIME = 8;
const GOAL = 0.9;

/**
 * The step that fetches a checkpoint, in turn with the hub's client alone and with curl, which fetches the same files from the same hub.
 * Files lie where temporary ones do (TMPDIR).
 * @returns Markdown
 */
export async function measureDownload(size: DownloadSize): Promise<string> {
  const bytes = Math.round((size.gigabytes * 1e9) / SHARDS);
  const files = { "config.json": { json: { model_type: "llama" } } };
  const shards = { count: SHARDS, sizeBytes: bytes, namedHash: true };
  const revision = { sha: REVISION, refs: ["main"], files, shards };
  const hub = await startModelHub({ repositories: { [REPOSITORY]: { revisions: [revision] } } });
  const hf = await ensureHf();
  const host = agentHost([hf]);
  try {
    return await measured(size, hub, host, hf);
  } finally {
    host.remove();
    await hub.close();
  }
}

interface Way {
  readonly what: string;
  /** Into the folder, which is empty and goes afterwards. */
  readonly run: (folder: string) => Promise<Ran>;
}

async function measured(size: DownloadSize, hub: ModelHub, host: AgentHost, hf: string): Promise<string> {
  const loadBefore = load();
  const diskRate = writeRate(host.home);
  const ways = [product(host, hub), clientAlone(hf, hub), await curl(hub)];
  const rows: string[][] = [];
  const met: string[] = [];
  for (const link of size.links) {
    await hub.setFaults(link === 0 ? [] : [{ kind: "throttle", bytesPerSecond: (link * 1e9) / 8 }]);
    const title = link === 0 ? "none" : `${String(link)} Gbit/s`;
    const runs = ways.map((): Ran[] => []);
    for (let turn = 1; turn <= size.repetitions; turn += 1) {
      for (const [index, way] of ways.entries()) {
        const ran = await onFreshDisk(host.home, way, size.gigabytes);
        console.error(`${title}, ${way.what} (${String(turn)}): ${ran.wall.toFixed(2)} s`);
        runs[index]?.push(ran);
      }
    }
    const rates = runs.map((all) => (size.gigabytes * 1000) / median(all.map(({ wall }) => wall)));
    const share = (index: number): number => (rates[index] ?? NaN) / (rates.at(-1) ?? NaN);
    rows.push(...ways.map(({ what }, index) => row(title, what, runs[index] ?? [], share(index), size)));
    met.push(`${title === "none" ? "without one" : title}: ${times(share(0))}`);
  }
  const counted = `${size.gigabytes.toFixed(1)} GB in ${String(SHARDS)} shards, ${String(size.repetitions)} of each in turn`;
  return [
    `### Download: ${counted} (load ${loadBefore} before, ${load()} after)`,
    table(["link", "what", "seconds: median (least-most)", "MB/s", "of curl's", "processor s/GB"], rows),
    `Of curl's rate, goal ${times(GOAL)}: ${met.join("; ")}. The hub runs on the same cores. Where the files lie ${diskRate.toFixed(0)} MB/s can be written.`,
  ].join("\n\n");
}

function row(link: string, what: string, runs: readonly Ran[], share: number, size: DownloadSize): string[] {
  const walls = runs.map(({ wall }) => wall);
  const processor = median(runs.map((ran) => ran.processor)) / size.gigabytes;
  const rate = (size.gigabytes * 1000) / median(walls);
  return [
    link,
    what,
    spread(walls),
    rate.toFixed(0),
    times(share),
    processor > 0 ? processor.toFixed(2) : "",
  ];
}

/** Its job is nobody's child, so its processor time is not known here. */
function product(host: AgentHost, hub: ModelHub): Way {
  return {
    what: "the step",
    run: async (folder) => {
      const { stepSeconds } = await host.apply({
        kind: "fetch",
        executable: null,
        checkpoint: {
          // As of a declaration that is new each time.
          key: randomBytes(8).toString("hex"),
          repo: REPOSITORY,
          revision: "main",
          resolved: null,
          include: null,
          exclude: null,
          endpoint: hub.url,
          cacheDir: folder,
          token: null,
          verify: "headers",
          loadFormat: null,
          stallSeconds: 120,
        },
      });
      return { wall: stepSeconds, processor: 0 };
    },
  };
}

function clientAlone(hf: string, hub: ModelHub): Way {
  return {
    what: "`hf download`",
    run: (folder) =>
      runProgram([hf, "download", REPOSITORY, "--revision", REVISION, "--quiet"], {
        PATH: "/usr/bin:/bin",
        HOME: folder,
        HF_ENDPOINT: hub.url,
        HF_HUB_CACHE: folder,
        HF_HUB_DISABLE_TELEMETRY: "1",
        HF_HUB_DISABLE_UPDATE_CHECK: "1",
      }),
  };
}

async function curl(hub: ModelHub): Promise<Way> {
  const tree = await (await fetch(`${hub.url}/api/models/${REPOSITORY}/tree/${REVISION}`)).json();
  const names = (tree as readonly { readonly path: string }[]).map(({ path }) => path);
  const url = (name: string): string => `${hub.url}/${REPOSITORY}/resolve/${REVISION}/${name}`;
  const options = ["--fail", "--silent", "--show-error", "--no-progress-meter", "--parallel"];
  return {
    what: `\`curl --parallel-max ${String(AT_A_TIME)}\``,
    run: (folder) => {
      const files = names.flatMap((name) => ["--output", join(folder, name), url(name)]);
      return runProgram(["curl", ...options, "--parallel-max", String(AT_A_TIME), ...files]);
    },
  };
}

/** What one way has written is gone, and on no way to the disk, before the next begins. */
async function onFreshDisk(home: string, way: Way, gigabytes: number): Promise<Ran> {
  const folder = join(home, "fetched");
  mkdirSync(folder);
  execFileSync("sync", ["--file-system", home]);
  try {
    const ran = await way.run(folder);
    const there = bytesBelow(folder);
    if (there < gigabytes * 0.999e9) throw new Error(`${way.what} has fetched ${String(there)} bytes only`);
    return ran;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function bytesBelow(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** MB/s of one file until it is on the disk. */
function writeRate(folder: string): number {
  const [path, block, blocks] = [join(folder, "written"), Buffer.alloc(1 << 20), 1024];
  const file = openSync(path, "w");
  try {
    const begin = performance.now();
    for (let count = 0; count < blocks; count += 1) writeSync(file, block);
    fdatasyncSync(file);
    return (blocks * block.length) / 1000 / (performance.now() - begin);
  } finally {
    closeSync(file);
    rmSync(path);
  }
}

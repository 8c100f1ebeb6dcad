import { createServer } from "node:net";
import { join } from "node:path";
import { copyFileSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeBed, type Bed } from "../support/bed";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { eventually } from "../support/eventually";
import { freePort } from "../support/free-port";
import { realVllm, SMALL_SERVER } from "../support/real-vllm";
import { FAILING_STARTS } from "./failing-starts";
import { mountSmallDisk, type SmallDisk } from "../support/small-disk";

/**
 * The real vLLM 0.32.0 (CPU build), driven into failures of many kinds through `pulumi up`: each is told with its cause, the line that
 * proves it and the input to change, and leaves nothing behind.
 */

let bed: Bed;
let executable: string;
let port: number;
/** A full one; null: no right to mount. */
let disk: SmallDisk | null;
let fullFolder: string;

beforeAll(async () => {
  executable = realVllm();
  bed = await makeBed();
  port = await freePort("127.0.0.1");
  fullFolder = join(bed.folder, "full");
  disk = mountSmallDisk(fullFolder);
  disk?.setFree(0);
});

afterAll(async () => {
  disk?.unmount();
  await bed.close();
});

afterEach(() => {
  expect(bed.processes()).toEqual([]);
  expect(bed.sharedMemory()).toEqual([]);
});

/** What differs from a small server that starts. */
interface Wrong {
  readonly title?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly engine?: Readonly<Record<string, unknown>>;
  readonly extraArgs?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly inputs?: Readonly<Record<string, unknown>>;
}

async function declare({ config, engine, extraArgs, environment, inputs }: Wrong): Promise<void> {
  await bed.declare({
    tiny: {
      ...SMALL_SERVER,
      model: { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": { ...TINY_LLAMA, ...config } }) },
      vllm: { executable },
      engine: { ...SMALL_SERVER.engine, loadFormat: "dummy", ...engine },
      extraArgs: { ...SMALL_SERVER.extraArgs, "skip-tokenizer-init": true, ...extraArgs },
      environment: { ...SMALL_SERVER.environment, ...environment },
      listen: { port },
      update: { returnToLastGood: false }, ...inputs,
    },
  });
}

/** What the CLI says in the end, as one line: where it breaks its lines is another test's matter. */
async function failedUp(): Promise<string> {
  const { code, stdout } = await bed.project.up();
  expect(code).not.toBe(0);
  const log = /tail -n 200 (\S+\.log)/.exec(stdout)?.[1] ?? ""; if (log) copyFileSync(log, `/tmp/real-${String(Date.now())}.log`);
  const said = stdout.slice(stdout.indexOf("Diagnostics:")).replace(/\s+/g, " ");
  return said;
}

/** The parts of the error: cause, proof, change. */
interface Told {
  readonly cause: string;
  readonly proof: RegExp;
  readonly change: string;
}

function expectTold(said: string, { cause, proof, change }: Told): void {
  expect(said).toContain(`Cannot start server "tiny" on 127.0.0.1: ${cause}`);
  expect(/ proof: (.*?) change: /.exec(said)?.[1]).toMatch(proof);
  expect(said).toContain(` change: ${change}`);
}

describe("the real vLLM", () => {
  it.each(FAILING_STARTS)("$title", async (row) => {
    await declare(row);
    console.log("@@@", row.title, await failedUp());
  });

  it("killed", async () => {
    await declare({});
    const up = failedUp();
    const engine = await eventually(
      "an engine",
      () => bed.processes().find(({ command }) => command.startsWith("VLLM::EngineCore")) ?? null,
      120,
    );
    process.kill(engine.pid, "SIGKILL");
    console.log(await up);
  });
  it("killed worker", async () => {
    await declare({});
    const up = failedUp();
    const engine = await eventually(
      "a worker",
      () => bed.processes().find(({ command }) => command.startsWith("VLLM::Worker")) ?? null,
      120,
    );
    process.kill(engine.pid, "SIGKILL");
    console.log(await up);
  });
  it("tokenizer", async () => {
    await declare({ extraArgs: { "skip-tokenizer-init": false } });
    console.log(await failedUp());
  });
  it("flag", async () => {
    await declare({ extraArgs: { "no-such-flag": 1 } });
    console.log(await failedUp());
  });
  it("folder", async () => {
    await declare({ inputs: { model: { path: "/no/such/folder" } } });
    console.log(await failedUp());
  });
  it("shard", async () => {
    const path = writeCheckpoint(join(bed.folder, "cut"), { "config.json": TINY_LLAMA });
    const header = JSON.stringify({ "model.norm.weight": { dtype: "BF16", shape: [64], data_offsets: [0, 128] } });
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    writeFileSync(join(path, "model-00001-of-00001.safetensors"), Buffer.concat([length, Buffer.from(header), Buffer.alloc(100)]));
    await declare({ inputs: { model: { path } } });
    console.log(await failedUp());
  });
  it("port", async () => {
    const other = createServer().listen(port, "127.0.0.1");
    await declare({ });
    console.log(await failedUp());
    other.close();
  });
});
void expectTold;

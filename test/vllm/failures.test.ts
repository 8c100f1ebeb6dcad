import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeBed, type Bed } from "../support/bed";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { eventually } from "../support/eventually";
import { freePort } from "../support/free-port";
import { realVllm, SMALL_SERVER } from "../support/real-vllm";
import { mountSmallDisk } from "../support/small-disk";
import { FAILING_STARTS, type FailingStart, type Told } from "./failing-starts";

/**
 * The real vLLM 0.32.0 (CPU build), driven into failures of many kinds through `pulumi up`: each is told with its cause, the line that
 * proves it and the input to change, and leaves nothing behind.
 */

const hasAvx512 = /\bavx512f\b/.test(readFileSync("/proc/cpuinfo", "utf8"));

let bed: Bed;
let executable: string;
let port: number;

beforeAll(async () => {
  executable = realVllm();
  bed = await makeBed();
  port = await freePort("127.0.0.1");
});

afterAll(async () => {
  await bed.close();
});

afterEach(() => {
  expect(bed.processes()).toEqual([]);
  expect(bed.sharedMemory()).toEqual([]);
});

type Wrong = Omit<FailingStart, "title" | "told" | "needsAvx512">;

const tinyAt = (name: string, config: Wrong["config"] = {}): string =>
  writeCheckpoint(join(bed.folder, name), { "config.json": { ...TINY_LLAMA, ...config } });

async function declare({ config, engine, extraArgs, environment, inputs }: Wrong): Promise<void> {
  await bed.declare({
    tiny: {
      ...SMALL_SERVER,
      model: { path: tinyAt("tiny", config) },
      vllm: { executable },
      engine: { ...SMALL_SERVER.engine, loadFormat: "dummy", ...engine },
      extraArgs: { ...SMALL_SERVER.extraArgs, "skip-tokenizer-init": true, ...extraArgs },
      environment: { ...SMALL_SERVER.environment, ...environment },
      listen: { port },
      update: { returnToLastGood: false },
      ...inputs,
    },
  });
}

/** What the CLI says in the end, as one line: where it breaks its lines is another test's matter. */
async function failedUp(): Promise<string> {
  const { code, stdout } = await bed.project.up();
  const said = stdout.slice(stdout.indexOf("Diagnostics:")).replace(/\s+/g, " ");
  expect([code, said]).toEqual([1, said]);
  return said;
}

const ERROR =
  /Cannot (?:start server "tiny" on 127\.0\.0\.1: )?(?<cause>.*?)(?: proof: (?<proof>.*?))?(?: change: (?<change>.*?))?(?= log: | Resources: | a retry will | pulumi:pulumi:Stack)/;

function expectTold(said: string, { cause, proof, change }: Told): void {
  const told = ERROR.exec(said)?.groups ?? {};
  expect(told["cause"]).toMatch(cause);
  if (proof === null) expect(told["proof"]).toBeUndefined();
  else expect(told["proof"]).toMatch(proof);
  if (change === null) expect(told["change"]).toBeUndefined();
  else expect(told["change"]?.slice(0, change.length)).toBe(change);
}

/** vLLM knows the signal. */
const KILLED: Told = {
  cause: /^a process was killed \(SIGKILL\), and not by the kernel for want of memory$/,
  proof: /^RuntimeError: Engine core initialization failed\. .*\{'EngineCore': -9\} \(log line \d+\)$/,
  change: "host: find who kills it",
};
/** It does not. */
const ENDED: Told = {
  cause: /^a process of vLLM ended without saying why: it crashed, or was killed from outside$/,
  proof:
    /^(?:EngineCore failed to start\. \(engine core, |RuntimeError: Engine core initialization failed\. .* \()log line \d+\)$/,
  change: null,
};

describe("a start that cannot succeed: the error names what is wrong with", () => {
  it.for(FAILING_STARTS)("$title", async ({ needsAvx512 = false, told, ...wrong }, { skip }) => {
    if (needsAvx512 && !hasAvx512) skip("this processor has no AVX-512");
    await declare(wrong);
    expectTold(await failedUp(), told);
  });

  it("a flag that there is not", async () => {
    await declare({ extraArgs: { "frobnicate-level": 1 } });
    expectTold(await failedUp(), {
      cause: /^vLLM 0\.32\.0\+cpu does not know --frobnicate-level$/,
      proof: null,
      change: 'extraArgs["frobnicate-level"]',
    });
  });

  it("a folder that there is not", async () => {
    await declare({ inputs: { model: { path: "/no/such/folder" } } });
    expectTold(await failedUp(), {
      cause: /^no checkpoint at \/no\/such\/folder \(it does not exist\)$/,
      proof: null,
      change: "model.path (a folder on the host with config.json and the weights)",
    });
  });

  it("a shard that is cut off", async () => {
    const path = tinyAt("cut");
    const header = JSON.stringify({
      "model.norm.weight": { dtype: "BF16", shape: [64], data_offsets: [0, 128] },
    });
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    const shard = Buffer.concat([length, Buffer.from(header), Buffer.alloc(100)]);
    writeFileSync(join(path, "model-00001-of-00001.safetensors"), shard);
    await declare({ engine: { loadFormat: "auto" }, inputs: { model: { path } } });
    expectTold(await failedUp(), {
      cause: /^use checkpoint \S+\/cut: 1 of its files are not right, need all of them whole$/,
      proof: /^model-00001-of-00001\.safetensors: it has \d+ bytes, its header says \d+$/,
      change: "copy it there again, or download it again",
    });
  });

  it("a port that somebody else has", async () => {
    const other = createServer().listen(port, "127.0.0.1");
    await once(other, "listening");
    try {
      await declare({});
      expectTold(await failedUp(), {
        cause: new RegExp(`^port ${String(port)} is taken by process ${String(process.pid)} of \\S+: .*node`),
        proof: null,
        change: "listen.port (or stop what holds it)",
      });
    } finally {
      other.close();
      await once(other, "close");
    }
  });

  it("a disk that is full", async ({ skip }) => {
    const folder = join(bed.folder, "full");
    const disk = mountSmallDisk(folder);
    if (disk === null) {
      skip("nobody may mount here");
      return;
    }
    try {
      // One without a block in use would have no limit.
      writeFileSync(join(folder, "full"), "x");
      disk.setFree(0);
      const environment = { VLLM_CACHE_ROOT: folder, TORCHINDUCTOR_CACHE_DIR: join(folder, "inductor") };
      await declare({ engine: { enforceEager: false }, environment });
      expectTold(await failedUp(), {
        cause: /^a file system is full$/,
        proof: /No space left on device/,
        change: "host: ",
      });
    } finally {
      disk.unmount();
    }
  });

  it.each(["VLLM::EngineCore", "VLLM::Worker"])("who killed %s", async (name) => {
    await declare({});
    const up = failedUp();
    const victim = await eventually(
      name,
      () => bed.processes().find(({ command }) => command.startsWith(name)) ?? null,
      120,
    );
    process.kill(victim.pid, "SIGKILL");
    const said = await up;
    // What vLLM itself still learns of its process depends on the moment.
    expectTold(said, said.includes("-9}") ? KILLED : ENDED);
  });
});

import { chmodSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeBed, type Bed } from "../support/bed";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { realVllm, SMALL_SERVER } from "../support/real-vllm";

/** Between the declaration and the real vLLM stands a program that gives it another dtype. vLLM says "auto" of its KV cache all the same. */

let bed: Bed;
let executable: string;

beforeAll(async () => {
  bed = await makeBed();
  const vllm = realVllm();
  executable = join(bed.folder, "vllm");
  writeFileSync(
    executable,
    `#!${join(dirname(vllm), "python")}
import os, sys
more = ["--dtype", "float16"] if sys.argv[1:2] == ["serve"] else []
os.execv(${JSON.stringify(vllm)}, ["vllm", *sys.argv[1:], *more])
`,
  );
  chmodSync(executable, 0o755);
});

afterAll(async () => {
  await bed.close();
});

it("the real vLLM, with another KV cache than the wished one, is an error and is stopped", async () => {
  const { engine, extraArgs } = SMALL_SERVER;
  await bed.declare({
    tiny: {
      ...SMALL_SERVER,
      model: { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA }) },
      vllm: { executable },
      kvCacheDtype: "bfloat16",
      engine: { ...engine, loadFormat: "dummy" },
      extraArgs: { ...extraArgs, "skip-tokenizer-init": true },
      listen: { port: await freePort("127.0.0.1") },
    },
  });
  const { code, stdout } = await bed.project.up();
  expect(code).not.toBe(0);
  expect(stdout).toContain("it answers, but keeps its KV cache in float16, need bfloat16");
  expect(stdout).toMatch(
    /proof: +kv_cache_dtype=auto, dtype=torch\.float16 +\(config of the engine in its log\)/,
  );
  expect(bed.processes()).toEqual([]);
  expect(bed.sharedMemory()).toEqual([]);
});

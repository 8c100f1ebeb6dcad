import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRealVllmThere, REAL_VLLM } from "../support/vllm-parser";
import { makeModels, recorded, type Models } from "./contract-subjects";
import {
  observeCommandLine,
  observeEngineDeath,
  observeFp8Failure,
  observeLife,
  observeOrphans,
} from "./observations";
import type { Subject } from "./observations-server";

/** The real vLLM still does what the stand-in imitates. Four starts of about a minute each; the other half is test/stand-in. */

const real: Subject = { executable: join(REAL_VLLM, "bin", "vllm"), environment: {}, patienceSeconds: 300 };
/** With AVX-512 an FP8 KV cache works on a CPU, and the incident cannot be shown. */
const hasAvx512 = /\bavx512f\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
let models: Models;

beforeAll(() => {
  models = makeModels();
});

afterAll(() => {
  models.remove();
});

describe.skipIf(!isRealVllmThere)("the real vLLM 0.32.0", () => {
  it("refuses an unknown flag with 2 and its name", () => {
    expect(observeCommandLine(real)).toEqual(recorded("commandLine"));
  });

  it("lives as recorded: starting, ready, asked, stopped by one TERM", async () => {
    expect(await observeLife(real, models.plain)).toEqual(recorded("life"));
  });

  it("swallows a TERM while it loads, and leaves its engine and worker when the API server is killed", async () => {
    expect(await observeOrphans(real, models.plain)).toEqual(recorded("orphans"));
  });

  it("ends with 0 when its engine dies", async () => {
    expect(await observeEngineDeath(real, models.plain)).toEqual(recorded("engineDeath"));
  });

  it.skipIf(hasAvx512)(
    "cannot start from a checkpoint that asks for an FP8 KV cache, on a processor without AVX-512",
    async () => {
      expect(await observeFp8Failure(real, models.fp8)).toEqual(recorded("fp8Failure"));
    },
  );
});

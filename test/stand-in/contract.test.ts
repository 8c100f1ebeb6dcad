import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { layOutStandIn } from "../support/stand-in";
import { makeModels, recorded, type Models } from "../vllm/contract-subjects";
import {
  observeCommandLine,
  observeEngineDeath,
  observeFp8Failure,
  observeLife,
  observeOrphans,
} from "../vllm/observations";
import type { Subject } from "../vllm/observations-server";

/** The stand-in does what was recorded of the real vLLM 0.32.0; test/vllm/contract.test.ts asks the real one the same. */

let folder: string;
let standIn: Subject;
let models: Models;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "stand-in-")));
  const { executable } = layOutStandIn(folder);
  standIn = {
    executable,
    environment: { STAND_IN_START_SECONDS: "1.5", STAND_IN_STOP_SECONDS: "0.1" },
    patienceSeconds: 30,
  };
  models = makeModels();
});

afterAll(() => {
  models.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe.concurrent("the stand-in", () => {
  it("refuses an unknown flag with 2 and its name", () => {
    expect(observeCommandLine(standIn)).toEqual(recorded("commandLine"));
  });

  it("lives as recorded: starting, ready, asked, stopped by one TERM", async () => {
    expect(await observeLife(standIn, models.plain)).toEqual(recorded("life"));
  });

  it("swallows a TERM while it loads, and leaves its engine and worker when the API server is killed", async () => {
    expect(await observeOrphans(standIn, models.plain)).toEqual(recorded("orphans"));
  });

  it("ends with 0 when its engine dies", async () => {
    expect(await observeEngineDeath(standIn, models.plain)).toEqual(recorded("engineDeath"));
  });

  it("cannot start from a checkpoint that asks for an FP8 KV cache", async () => {
    expect(await observeFp8Failure(standIn, models.fp8)).toEqual(recorded("fp8Failure"));
  });
});

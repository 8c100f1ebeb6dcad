import { afterAll, beforeAll, expect, it } from "vitest";
import { gpuHost, type GpuHost } from "../support/gpu-host";

/** vLLM takes another KV cache than the wished one and says so on one line of its log only. */

let bed: GpuHost;
beforeAll(async () => {
  bed = await gpuHost();
});
afterAll(async () => {
  await bed.close();
});

it("a wish that is lost without a word is an error, frees the GPUs, and names both ways out", async () => {
  const environment = { STAND_IN_START_SECONDS: "0.5", STAND_IN_SPARSE_MLA: "yes" };
  const tiny = { ...(await bed.tinyServer()), environment };
  await bed.declare({ tiny: { ...tiny, kvCacheDtype: "bfloat16" } });
  const { code, stdout } = await bed.project.up();
  expect(code).not.toBe(0);
  expect(stdout).toContain("it answers, but keeps its KV cache in fp8_ds_mla, need bfloat16");
  expect(stdout).toMatch(/proof: +Using fp8_ds_mla KV cache format for FLASHINFER_MLA_SPARSE_SM120 backend/);
  expect(stdout).toContain('change: kvCacheDtype: "auto" or "fp8_ds_mla"');
  expect(bed.processes()).toEqual([]);
  expect(new Set(bed.gpuMemoryMib())).toEqual(new Set([bed.idleMib]));

  await bed.declare({ tiny: { ...tiny, kvCacheDtype: "auto" } });
  const taken = await bed.project.up();
  expect(taken.code, taken.stdout).toBe(0);
  expect(taken.stdout).toContain("KV cache fp8_ds_mla,");
  expect((await bed.project.servers())[0]?.outputs).toMatchObject({
    status: "ready",
    resolvedKvCacheDtype: "fp8_ds_mla",
  });
});

import { describe, expect, it } from "vitest";
import type { Observed } from "../../../provider/src/core/observed";
import { preflight, refusal } from "../../../provider/src/core/preflight";
import type { Spec } from "../../../provider/src/core/spec";
import { two } from "./examples";
import { gpu, launch, observed, runningServer, spec, SERVER_ID } from "../../support/host-facts";

const NAME = 'server "kimi" on gpu1';
const found = (
  parts: Partial<Observed>,
  wish: Partial<Spec> = {},
): { code: string; summary: string } | null => {
  const error = refusal(NAME, preflight(spec(wish), observed(parts)));
  return error === null ? null : { code: error.code, summary: error.details.summary };
};
const holder = { pid: 77, usedMib: 90000, user: "bob", command: "python train.py", serverId: null };
const ours = runningServer({ launch, overlay: null, warnings: [], kvCacheAuto: null });

describe("preflight", () => {
  it("finds nothing on a host that has what is needed", () => {
    expect(found({})).toBeNull();
  });

  it("names a missing vLLM with the reason the host gave", () => {
    expect(found({ executable: { found: false, reason: "not on the PATH of the login shell" } })).toEqual({
      code: "VLLM_NOT_FOUND",
      summary: `Cannot start ${NAME}: no vLLM on the host (not on the PATH of the login shell)`,
    });
  });

  it("names a missing checkpoint", () => {
    expect(found({ checkpoint: { found: false, path: "/models/kimi", reason: "no such folder" } })).toEqual({
      code: "CHECKPOINT_NOT_FOUND",
      summary: `Cannot start ${NAME}: no checkpoint at /models/kimi (no such folder)`,
    });
  });

  it("asks for weight files unless a load format needs none", () => {
    const bare = { found: true, path: "/m", files: {}, weightFiles: 0, weightBytes: 0 } as const;
    expect(found({ checkpoint: bare })?.summary).toBe(
      `Cannot start ${NAME}: /m holds no weight files, need *.safetensors, *.bin or *.pt`,
    );
    expect(found({ checkpoint: bare }, { engine: { loadFormat: "dummy" } })).toBeNull();
  });

  it("names who holds the port, and lets its own server hold it", () => {
    const taken = { free: false, pid: 77, user: "bob", command: "nginx", serverId: null } as const;
    expect(found({ port: taken })).toEqual({
      code: "PORT_IN_USE",
      summary: `Cannot start ${NAME}: port 8000 is taken by process 77 of bob: nginx`,
    });
    expect(found({ port: { ...taken, serverId: "other-00000000" } })?.summary).toBe(
      `Cannot start ${NAME}: port 8000 is taken by the server other-00000000 of this tool`,
    );
    expect(found({ port: { ...taken, serverId: SERVER_ID }, server: ours })).toBeNull();
    expect(found({ port: { ...taken, pid: 4242 }, server: ours })).toBeNull();
  });

  it("names who holds GPUs when too few are free", () => {
    const gpus = [gpu(0, { processes: [holder], memoryUsedMib: 90000 }), gpu(1)];
    expect(found({ gpus }, { gpus: { kind: "count", count: 2 } })).toEqual({
      code: "GPUS_NOT_FREE",
      summary: `Cannot start ${NAME}: 1 of 2 GPUs are free, need 2; GPU 0 (GPU-0) is held by process 77 of bob: python train.py`,
    });
  });

  it("names a holder of several GPUs once", () => {
    const other = { reservedBy: "other-00000000" };
    const gpus = [gpu(0, other), gpu(1, { processes: [holder] }), gpu(2, other)];
    expect(found({ gpus }, { gpus: { kind: "count", count: 3 } })?.summary).toBe(
      `Cannot start ${NAME}: 0 of 3 GPUs are free, need 3; GPUs 0, 2 are held by the server other-00000000 of this tool; GPU 1 (GPU-1) is held by process 77 of bob: python train.py`,
    );
  });

  it("counts GPUs that this server holds as free, for they are given back first", () => {
    const mine = { ...holder, serverId: SERVER_ID };
    const gpus = [gpu(0, { processes: [mine], memoryUsedMib: 90000, reservedBy: SERVER_ID }), gpu(1)];
    expect(found({ gpus, server: ours }, { gpus: { kind: "count", count: 2 } })).toBeNull();
  });

  it("keeps off a GPU that another server of this tool has reserved", () => {
    const gpus = [gpu(0, { reservedBy: "other-00000000" }), gpu(1)];
    expect(found({ gpus }, { gpus: { kind: "list", ids: ["GPU-0"] } })?.summary).toBe(
      `Cannot start ${NAME}: GPU 0 (GPU-0) is held by the server other-00000000 of this tool`,
    );
  });

  it("names a GPU that the host does not have, with those it has", () => {
    expect(found({}, { gpus: { kind: "list", ids: [7] } })).toEqual({
      code: "GPU_NOT_FOUND",
      summary: `Cannot start ${NAME}: no GPU 7 on the host, it has 0 GPU-0, 1 GPU-1`,
    });
  });

  it("names each GPU that is not there beside those that are taken", () => {
    const gpus = [gpu(0, { processes: [holder] }), gpu(1)];
    const wish = { gpus: { kind: "list", ids: [7, 0, "GPU-9"] } } as const;
    expect(preflight(spec(wish), observed({ gpus })).map(({ summary }) => summary)).toEqual([
      "no GPU 7 on the host, it has 0 GPU-0, 1 GPU-1",
      "no GPU GPU-9 on the host, it has 0 GPU-0, 1 GPU-1",
      "GPU 0 (GPU-0) is held by process 77 of bob: python train.py",
    ]);
  });

  it("knows a GPU by the beginning of its UUID as the agent does", () => {
    const gpus = [gpu(0, { uuid: "GPU-aa11" }), gpu(1, { uuid: "GPU-ab22" })];
    const codes = (...ids: readonly string[]): readonly string[] =>
      preflight(spec({ gpus: { kind: "list", ids } }), observed({ gpus })).map(({ code }) => code);
    expect([codes("GPU-aa"), codes("GPU-a")]).toEqual([[], ["GPU_NOT_FOUND"]]);
  });

  it("tells what is wrong with the driver where too few GPUs are left", () => {
    const error = refusal(NAME, preflight(spec(two), observed({ gpus: [gpu(0)], gpuError: "GPU is lost" })));
    expect(error?.details).toMatchObject({ code: "GPUS_NOT_FREE", evidence: "GPU is lost" });
  });

  it("treats memory without a visible process as taken", () => {
    expect(found({ gpus: [gpu(0, { memoryUsedMib: 5000 })] })?.summary).toBe(
      `Cannot start ${NAME}: 0 of 1 GPUs are free, need 1; GPU 0 (GPU-0) is taken by a process that cannot be seen: 5000 MiB in use`,
    );
  });

  it("asks for no GPU on a host without any unless one was declared", () => {
    expect(found({ gpus: null })).toBeNull();
    expect(found({ gpus: null }, { gpus: { kind: "count", count: 1 } })?.code).toBe("GPU_NOT_FOUND");
    const cpu = { found: true, path: "/v/bin/vllm", version: "0.32.0+cpu" } as const;
    expect(found({ executable: cpu, gpus: [gpu(0, { processes: [holder] })] })).toBeNull();
  });
});

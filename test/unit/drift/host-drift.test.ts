import { describe, expect, it } from "vitest";
import { driftOf, type Drift } from "../../../provider/src/core/drift";
import type { Observed, ServerSeen } from "../../../provider/src/core/observed";
import { NO_DIFFERENCES, type Differences } from "../../../provider/src/core/observed-differences";
import { gpu, launch, observed, owner, runningServer } from "../../support/host-facts";

const desired = { launch, overlay: null, warnings: [], kvCacheAuto: null };
const drift = (parts: Partial<Observed>, server: Partial<ServerSeen> = {}): readonly Drift[] =>
  driftOf(observed({ server: runningServer(desired, server), ...parts }));
const differing = (differences: Partial<Differences>): readonly Drift[] =>
  drift({}, { differences: { ...NO_DIFFERENCES, ...differences } });

describe("where it listens", () => {
  it("is told at port and address, each where it is another one", () => {
    expect(differing({ listening: { address: "127.0.0.1", port: 9000 } })).toEqual([
      {
        path: ["listen", "port"],
        found: 9000,
        words: "9000 is listened on, declared 8000",
        repair: "restart",
      },
    ]);
    expect(differing({ listening: { address: "0.0.0.0", port: 8000 } })).toEqual([
      {
        path: ["listen", "address"],
        found: "0.0.0.0",
        words: "0.0.0.0 is listened on, declared 127.0.0.1",
        repair: "restart",
      },
    ]);
  });
});

describe("the overlay", () => {
  it("that was changed after the start needs no restart, before it one", () => {
    const entry = { file: "config.json", kind: "changed", isRead: false } as const;
    const extra = { file: "x.py", kind: "added", isRead: true } as const;
    expect(differing({ overlay: [entry] })).toEqual([
      {
        path: ["modelPath"],
        found: "/models/kimi (config.json was changed)",
        words: "in /models/kimi config.json was changed, since the server was started",
        repair: "live",
      },
    ]);
    expect(differing({ overlay: [entry, extra] })).toMatchObject([
      {
        words:
          "in /models/kimi config.json was changed, x.py was added, before the running server was started",
        repair: "restart",
      },
    ]);
  });
});

describe("its GPUs", () => {
  it("that are gone, or that it computes on without having them, are told", () => {
    const mine = { pid: 4242, usedMib: 1, user: "ann", command: "vllm", serverId: owner.serverId };
    expect(drift({ gpus: [gpu(1, { processes: [mine] })], gpuError: "GPU 0 is lost" })).toEqual([
      {
        path: ["gpuUuids"],
        found: ["GPU-1"],
        words: "GPU-0 not on the host any more (GPU 0 is lost); computes on GPU-1; started on GPU-0",
        repair: "restart",
      },
    ]);
  });

  it("say nothing where they cannot be asked, are slices, or belong to a server that does not run", () => {
    const started = runningServer(desired).launch;
    const mig = { launch: started && { ...started, gpuUuids: ["MIG-0"] } };
    expect([drift({ gpus: null }), drift({ gpus: [] }, mig), drift({ gpus: [] }, { leader: null })]).toEqual([
      [],
      [],
      [],
    ]);
  });
});

describe("its vLLM", () => {
  it("of another version than the one that was started is told", () => {
    const executable = { found: true, path: "/opt/vllm/bin/vllm", version: "0.33.0" } as const;
    expect(drift({ executable })).toEqual([
      {
        path: ["vllmVersion"],
        found: "0.32.0",
        words: "0.32.0 runs, 0.33.0 is installed now",
        repair: "restart",
      },
    ]);
    expect(drift({ executable: { ...executable, path: "/usr/bin/vllm" } })).toEqual([]);
    expect(drift({ executable: { ...executable, version: null } })).toEqual([]);
  });
});

describe("its unit", () => {
  const name = "pulumi-vllm-kimi-0a1b2c3d.service";

  it("that is edited or disabled is told, and needs no restart", () => {
    expect(drift({}, { unit: { name, isEnabled: false, isEdited: true } })).toEqual([
      {
        path: ["serviceName"],
        found: `${name} (edited)`,
        words: `${name} was edited since it was installed`,
        repair: "live",
      },
      {
        path: ["service", "startOnBoot"],
        found: false,
        words: `${name} is disabled, declared true`,
        repair: "live",
      },
    ]);
    expect(drift({}, { unit: { name, isEnabled: true, isEdited: false } })).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import type { Desired } from "../../provider/src/core/desired";
import type { Observed } from "../../provider/src/core/observed";
import { serverOutputs, toWire } from "../../provider/src/core/outputs";
import { hubModel, launch, observed, runningServer, spec } from "../support/host-facts";

const absence = [{ path: ["status"], found: "absent", words: "gone", repair: "start" }] as const;
const desired: Desired = { launch, overlay: null, warnings: [], kvCacheAuto: null };

describe("outputs", () => {
  it("of a server that answers are what was seen of it", () => {
    expect(toWire(serverOutputs(spec(), observed({ server: runningServer(desired) }), []))).toEqual({
      url: "http://127.0.0.1:8000",
      baseUrl: "http://127.0.0.1:8000/v1",
      servedModelName: "kimi",
      tunnelCommand: "ssh -N -L 8000:127.0.0.1:8000 gpu1",
      modelRevision: null,
      modelBytes: 1e9,
      modelPath: "/models/kimi",
      configHash: "f00d",
      vllmVersion: "0.32.0",
      resolvedKvCacheDtype: "bfloat16",
      maxModelLen: 131072,
      gpuUuids: ["GPU-0"],
      logPath: "/home/ann/.local/state/pulumi-vllm/kimi-0a1b2c3d/logs/3.log",
      generation: 3,
      restarts: 0,
      status: "ready",
      drift: [],
      startedAt: "2026-12-01T10:01:00Z",
      startDurationSeconds: 312,
      pid: 4242,
      bootId: "boot-1",
      manager: "process",
      serviceName: null,
      startsOnBoot: false,
    });
  });

  it("tell the commit that is declared before it is there, and that of a branch once it is", () => {
    const commit = "0123456789abcdef0123456789abcdef01234567";
    const seen = {
      found: true,
      path: "/m",
      files: {},
      weightFiles: 1,
      weightBytes: 1,
      revision: commit,
    } as const;
    const found = observed({ checkpoint: seen });
    const missing = observed({ checkpoint: { found: false, path: "org/m", reason: "not yet" } });
    const told = (revision: string, host: Observed): unknown =>
      serverOutputs(spec({ model: hubModel({ revision }) }), host, []).modelRevision;
    expect([told(commit, missing), told("main", found), told("main", missing)]).toEqual([
      commit,
      commit,
      null,
    ]);
  });

  it("of a host where nothing is are null, never undefined", () => {
    expect(toWire(serverOutputs(spec(), observed({ executable: null }), absence))).toEqual({
      url: "http://127.0.0.1:8000",
      baseUrl: "http://127.0.0.1:8000/v1",
      servedModelName: "kimi",
      tunnelCommand: "ssh -N -L 8000:127.0.0.1:8000 gpu1",
      modelRevision: null,
      modelBytes: 1e9,
      modelPath: null,
      configHash: null,
      vllmVersion: null,
      resolvedKvCacheDtype: null,
      maxModelLen: null,
      gpuUuids: [],
      logPath: null,
      generation: 0,
      restarts: 0,
      status: "absent",
      drift: ["status: gone"],
      startedAt: null,
      startDurationSeconds: null,
      pid: null,
      bootId: null,
      manager: null,
      serviceName: null,
      startsOnBoot: false,
    });
  });

  it.each([true, false])("name the unit that looks after it, and whether it is enabled: %s", (isEnabled) => {
    const unit = { name: "pulumi-vllm-kimi-0a1b2c3d.service", isEnabled, isEdited: false };
    const server = runningServer(desired, { manager: "systemd", unit });
    expect(serverOutputs(spec(), observed({ server }), [])).toMatchObject({
      manager: "systemd",
      serviceName: unit.name,
      startsOnBoot: isEnabled,
    });
  });

  it("tell the version that runs, not the one that was installed since", () => {
    const server = runningServer(desired);
    const executable = { found: true, path: "/opt/vllm/bin/vllm", version: "0.33.0" } as const;
    expect(serverOutputs(spec(), observed({ server, executable }), [])).toMatchObject({
      vllmVersion: "0.32.0",
    });
  });

  it("keep what was proven over an automatic restart, which is no drift", () => {
    const server = runningServer(desired, { generation: 5, restarts: 2 });
    expect(serverOutputs(spec(), observed({ server }), [])).toMatchObject({
      generation: 5,
      restarts: 2,
      maxModelLen: 131072,
      resolvedKvCacheDtype: "bfloat16",
      drift: [],
    });
  });
});

import { describe, expect, it } from "vitest";
import type { Desired } from "../../provider/src/core/desired";
import { serverSeenSchema, type ServerSeen, type ServerStatus } from "../../provider/src/core/observed";
import { NO_DIFFERENCES, type Differences } from "../../provider/src/core/observed-differences";
import { idlePatterns } from "../../provider/src/core/idle-lines";
import { plan } from "../../provider/src/core/plan";
import { allParts, provision } from "../../provider/src/core/provision";
import type { ManagerKind, ManagerWish } from "../../provider/src/core/spec";
import type { OverlayStep, PolicyStep, StartStep, StopStep, WaitStep } from "../../provider/src/core/step";
import {
  absentServer,
  environment,
  hubModel,
  launch,
  observed,
  owner,
  runningServer,
  spec,
} from "../support/host-facts";

const overlay: OverlayStep = {
  kind: "overlay",
  name: "abc",
  checkpointPath: "/models/kimi",
  files: { "config.json": "{}" },
  record: {},
};
const plain: Desired = { launch, overlay: null, warnings: [], kvCacheAuto: null };
const patched: Desired = { launch, overlay, warnings: [], kvCacheAuto: null };
const unconfirmed = { ...owner, confirmed: false };
const policy: PolicyStep = {
  kind: "policy",
  restart: launch.restart,
  startOnBoot: launch.startOnBoot,
  logs: launch.logs,
  configYaml: launch.configYaml,
};
const start: StartStep = { kind: "start", launch };
const stop: StopStep = { kind: "stop", drainSeconds: 20, killAfterSeconds: 120, gpuFreeSeconds: 60 };
const wait: WaitStep = {
  kind: "wait",
  probe: "auto",
  apiKey: null,
  fingerprint: "f00d",
  timeoutSeconds: 3600,
  fatalPatterns: ["boom"],
  stallSeconds: 900,
  idlePatterns: idlePatterns(),
  kvCacheDtypes: null,
  kvCacheAuto: null,
};
const restart = [overlay, stop, start, wait];
const planFor = (desired: Desired, server: Parameters<typeof observed>[0]): readonly unknown[] =>
  plan(spec(), desired, observed(server), unconfirmed, ["boom"]);

describe("plan", () => {
  it("claims, patches, starts and waits where nothing is there", () => {
    expect(planFor(patched, {})).toEqual([{ kind: "claim", owner: unconfirmed }, overlay, start, wait]);
  });

  it("does nothing where the declared server answers", () => {
    expect(planFor(plain, { server: runningServer(plain) })).toEqual([]);
  });

  it.each([
    { engine: { distributedExecutorBackend: "ray" } },
    { extraArgs: { "data-parallel-backend": "ray" } },
  ])("sets no bound for a hang where Ray's processes do the work: %j", (parts) => {
    const steps = plan(spec(parts), plain, observed({}), unconfirmed, ["boom"]);
    expect(steps.at(-1)).toEqual({ ...wait, stallSeconds: 0 });
  });

  it("only waits for a declared server that is still starting, so that a cut start is taken up again", () => {
    expect(planFor(plain, { server: runningServer(plain, { status: "starting", ready: null }) })).toEqual([
      wait,
    ]);
  });

  it.each([
    { restart: { max: 0, withinSeconds: 600, delaySeconds: 5 } },
    { startOnBoot: false },
    { logs: { keep: 1, maxBytes: 104_857_600 } },
  ])("changes %j of a running server without a restart", (wish) => {
    const desired: Desired = { ...plain, launch: { ...launch, ...wish } };
    expect(planFor(desired, { server: runningServer(plain) })).toEqual([{ ...policy, ...wish }]);
  });

  it("says all of it once to a server of a version that did not know boot and logs", () => {
    const running = runningServer(plain);
    const { startOnBoot: _, logs: __, manager: ___, managerWish: ____, ...earlier } = running.launch ?? {};
    const server = serverSeenSchema.parse({ ...running, launch: earlier });
    expect(planFor(plain, { server })).toEqual([policy]);
  });

  it.each([
    ["edited", { isEnabled: true, isEdited: true }, [policy]],
    ["disabled", { isEnabled: false, isEdited: false }, [policy]],
    ["as installed", { isEnabled: true, isEdited: false }, []],
  ])("repairs without a restart a unit that is %s", (_what, unit, steps) => {
    const server = runningServer(plain, { manager: "systemd", unit: { name: "kimi.service", ...unit } });
    expect(planFor(plain, { server })).toEqual(steps);
  });

  const config = { wanted: launch.configYaml, found: "max-model-len: 1\n" };
  const entry = { file: "config.json", kind: "changed" } as const;
  it.each<[string, Partial<Differences>, readonly unknown[]]>([
    ["a config file edited since the start", { config: { ...config, isRead: false } }, [policy]],
    ["an overlay changed since the start", { overlay: [{ ...entry, isRead: false }] }, [overlay]],
    ["a config file the process was started with", { config: { ...config, isRead: true } }, restart],
    ["an overlay the process was started with", { overlay: [{ ...entry, isRead: true }] }, restart],
    ["another port", { listening: { address: "127.0.0.1", port: 9000 } }, restart],
    ["another command line", { arguments: { added: ["--enforce-eager"], missing: [] } }, restart],
    ["another environment", { environment: [{ name: "A", kind: "added", hash: "0" }] }, restart],
  ])("repairs %s by what it takes, and no more", (_what, differences, steps) => {
    const server = runningServer(patched, { differences: { ...NO_DIFFERENCES, ...differences } });
    expect(planFor(patched, { server })).toEqual(steps);
  });

  it("restarts a server whose vLLM was replaced, or whose GPU is gone", () => {
    const server = runningServer(plain);
    const executable = { found: true, path: launch.executable, version: "0.33.0" } as const;
    expect(planFor(plain, { server, executable })).toEqual([stop, start, wait]);
    expect(planFor(plain, { server, gpus: [] })).toEqual([stop, start, wait]);
  });

  it.each<[ManagerWish, ManagerKind, boolean]>([
    ["auto", "process", true],
    ["auto", "systemd-user", true],
    ["process", "process", true],
    ["process", "systemd", false],
    ["systemd", "process", false],
  ])("with the manager %s wished, a server of %s fits: %s", (wish, manager, fits) => {
    const desired: Desired = { ...plain, launch: { ...launch, manager: wish } };
    const running = runningServer(plain);
    const server = { ...running, launch: running.launch && { ...running.launch, manager } };
    expect(planFor(desired, { server })).toEqual(
      fits ? [] : [stop, { kind: "start", launch: desired.launch }, wait],
    );
  });

  it("makes complete and right what a start is made of before it stops what runs, and nothing where nothing starts", () => {
    const declared = spec({ model: hubModel(), vllm: environment() });
    const parts = allParts(provision(declared, owner.urn, null));
    const other = runningServer({ ...plain, launch: { ...launch, fingerprint: "other" } });
    const planWith = (server: ServerSeen): readonly unknown[] =>
      plan(declared, patched, observed({ server }), unconfirmed, ["boom"], parts);
    expect(parts.map(({ kind }) => kind)).toEqual(["install", "fetch"]);
    expect(planWith(other)).toEqual([...parts, overlay, stop, start, wait]);
    expect(planWith(runningServer(patched))).toEqual([]);
  });

  it("builds the overlay before it stops what runs, and starts after", () => {
    const other = runningServer({ ...plain, launch: { ...launch, fingerprint: "other" } });
    expect(planFor(patched, { server: other })).toEqual([overlay, stop, start, wait]);
  });

  it.each<ServerStatus>(["unresponsive", "restarting", "crashed", "orphaned", "rebooted"])(
    "ends what is left before it starts a server that is %s",
    (status) => {
      expect(planFor(plain, { server: runningServer(plain, { status }) })).toEqual([stop, start, wait]);
    },
  );

  it("finishes a stop that was cut off before it starts the server", () => {
    const draining = runningServer(plain, { status: "stopped" });
    expect(planFor(plain, { server: draining })).toEqual([stop, start, wait]);
  });

  it("starts a cleanly stopped server without another stop", () => {
    const stopped = runningServer(plain, { status: "stopped", processes: [], leader: null });
    expect(planFor(plain, { server: stopped })).toEqual([start, wait]);
  });

  it.each([{ secretsMatch: false }, { modelPathIntact: false }])(
    "restarts a ready server with %o",
    (parts) => {
      expect(planFor(plain, { server: runningServer(plain, parts) })).toEqual([stop, start, wait]);
    },
  );

  it("waits for no GPU memory on a host without GPUs", () => {
    const crashed = runningServer(plain, { status: "crashed" });
    expect(planFor(plain, { server: crashed, gpus: null })[0]).toEqual({ ...stop, gpuFreeSeconds: 0 });
  });

  it("waits for a fingerprint only where the file sets one, not where some text names it", () => {
    const fingerprintOf = (configYaml: string): string | null | undefined => {
      const desired: Desired = { ...plain, launch: { ...launch, configYaml } };
      const steps = plan(spec({}), desired, observed({}), owner, []);
      return steps.find((step) => step.kind === "wait")?.fingerprint;
    };
    expect(fingerprintOf('fingerprint-value: "f00d"\n')).toBe("f00d");
    expect(fingerprintOf('chat-template: "fingerprint-value: 1"\n')).toBeNull();
  });

  it("gives a long drain the time it was promised", () => {
    const slow = spec({ extraArgs: { "shutdown-timeout": 300 } });
    const steps = plan(
      slow,
      plain,
      observed({ server: runningServer(plain, { status: "crashed" }) }),
      owner,
      [],
    );
    expect(steps[0]).toEqual({ ...stop, drainSeconds: 300, killAfterSeconds: 315 });
  });

  it("claims a running server that another resource of the name began, and leaves it running", () => {
    const server = runningServer(plain, { owner: { ...owner, claimId: "01de" } });
    expect(planFor(plain, { server })).toEqual([{ kind: "claim", owner: unconfirmed }]);
  });

  it("claims a running server anew under a new name of its resource, and leaves it running", () => {
    const urn = owner.urn.replace("::kimi", "::moonshot");
    const steps = plan(spec(), plain, observed({ server: runningServer(plain) }), { ...owner, urn }, []);
    expect(steps).toEqual([{ kind: "claim", owner: { ...owner, urn } }]);
  });

  it("keeps the record of an absent server out of the plan of one that is there", () => {
    expect(planFor(plain, { server: { ...absentServer, status: "stopped", owner } })).toEqual([start, wait]);
  });
});

import { describe, expect, it } from "vitest";
import type { Desired } from "../../../provider/src/core/desired";
import {
  accident,
  driftLine,
  driftOf,
  recovery,
  type Believed,
  type Drift,
} from "../../../provider/src/core/drift";
import type { ExecutableSeen, PortSeen, ServerSeen } from "../../../provider/src/core/observed";
import { NO_DIFFERENCES } from "../../../provider/src/core/observed-differences";
import { absentServer, launch, observed, owner, runningServer, spec } from "../../support/host-facts";

const desired: Desired = { launch, overlay: null, warnings: [], kvCacheAuto: null };
const believed: Believed = { configHash: "f00d", claimId: null, service: spec().service, marks: [] };
const drift = (parts: Partial<ServerSeen>, state: Believed | null = believed): readonly Drift[] =>
  driftOf(observed({ server: runningServer(desired, parts) }), state);
const seen = (parts: Partial<ServerSeen>, state: Believed | null = believed): readonly string[] =>
  drift(parts, state).map(driftLine);
const killed = { generation: 3, code: null, signal: 9, at: "2026-12-01T11:00:00Z" };

describe("driftOf", () => {
  it("is empty for a server that answers as declared", () => {
    expect(seen({})).toEqual([]);
  });

  it.each<[Partial<ServerSeen>, string]>([
    [{ status: "crashed", lastExit: killed }, "it died (signal 9)"],
    [{ status: "crashed", lastExit: { ...killed, code: 0, signal: null } }, "it died (exit code 0)"],
    [
      { status: "crashed", lastExit: killed, generation: killed.generation + 1 },
      "it ended together with its supervisor, which left no word of it",
    ],
    [{ status: "restarting", lastExit: killed }, "it died (signal 9) and is about to be restarted"],
    [
      { status: "crashed", lastExit: killed, crashes: [{ exit: killed, log: null }] },
      "it died (signal 9): its log is not there any more",
    ],
    [
      {
        status: "crash-looping",
        crashes: [
          { exit: { ...killed, generation: 1 }, log: null },
          { exit: killed, log: null },
        ],
      },
      "crash-looping: given up after 2 automatic restarts; " +
        "first failure (start 1, signal 9, 11:00:00Z): its log is not there any more; " +
        "last failure (start 3, signal 9, 11:00:00Z): its log is not there any more",
    ],
    [
      { status: "starting", lastExit: killed, restarts: 1 },
      "it died (signal 9), was started again by itself and has not answered yet",
    ],
    [{ status: "stopped" }, "it is stopped"],
    [{ status: "starting" }, "it is starting and has not answered yet"],
    [{ status: "unresponsive" }, "its process lives but does not answer /health"],
    [{ status: "orphaned" }, "its supervisor is gone and processes are left (pid 4242)"],
    [{ status: "rebooted" }, "the host was rebooted"],
    [
      {
        status: "unresponsive",
        differences: { ...NO_DIFFERENCES, token: { outcome: "refused", detail: "HTTP 401" } },
      },
      "it answers no token: HTTP 401",
    ],
  ])("says %o in words, at status", (parts, words) => {
    expect(seen(parts)).toEqual([`status: ${words}`]);
  });

  it.each<[ServerSeen["status"], string]>([
    ["stopped", "start"],
    ["crashed", "start"],
    ["crash-looping", "start"],
    ["rebooted", "start"],
    ["starting", "wait"],
    ["hung", "restart"],
    ["unresponsive", "restart"],
    ["restarting", "restart"],
    ["orphaned", "restart"],
  ])("repairs a server that is %s by: %s", (status, repair) => {
    expect(drift({ status })).toMatchObject([{ path: ["status"], found: status, repair }]);
  });

  it("names the foreign process that listens in the place of a server which does not", () => {
    const server = runningServer(desired, { status: "crashed", lastExit: killed, processes: [] });
    const port = { free: false, pid: 12, user: "bob", command: "nginx", serverId: null } as const;
    const words = (holder: Partial<Extract<PortSeen, { free: false }>>): readonly string[] =>
      driftOf(observed({ server, port: { ...port, ...holder } })).map(driftLine);
    expect(words({})).toEqual([
      "status: it died (signal 9); port 8000 is taken by a foreign process, which has to end before it can start again (process 12 of bob: nginx)",
    ]);
    expect(words({ pid: null })).toEqual([
      "status: it died (signal 9); port 8000 is taken by a process of bob that cannot be seen",
    ]);
    expect(words({ serverId: "k2-00000000" })).toEqual([
      "status: it died (signal 9); port 8000 is taken by the server k2-00000000",
    ]);
    expect(words({ serverId: owner.serverId })).toEqual(["status: it died (signal 9)"]);
  });

  it("tells files that a served folder lost", () => {
    expect(seen({ modelPathIntact: false })).toEqual(["modelPath: files of /models/kimi are missing"]);
  });

  it("tells a download that is not whole any more, which is repaired beside the running server", () => {
    const of = (path: string, reason: string): readonly Drift[] =>
      driftOf(
        observed({ server: runningServer(desired), checkpoint: { found: false, path, reason } }),
        believed,
      );
    expect(of("nvidia/kimi@0123", "1 of its 5 files are missing or not whole")).toEqual([
      {
        path: ["modelPath"],
        found: "/models/kimi (not whole)",
        words:
          "the checkpoint nvidia/kimi@0123 is not whole any more (1 of its 5 files are missing or not whole)",
        repair: "live",
      },
    ]);
    expect(of("checkpoints/0123", "it is not downloaded yet").map(driftLine)).toEqual([
      "modelPath: the checkpoint that it was started from is not on the host any more",
    ]);
    expect(of("/models/kimi", "it does not exist")).toEqual([]);
  });

  it("tells an environment of ours that was removed, which is installed again beside the running server", () => {
    const executable = "/home/ann/.local/state/pulumi-vllm/environments/0123456789abcdef/bin/vllm";
    const server = runningServer({ ...desired, launch: { ...launch, executable } });
    const removed = { found: false, reason: "it is not installed yet" } as const;
    expect(driftOf(observed({ server, executable: removed }), believed)).toEqual([
      {
        path: ["vllmVersion"],
        found: "0.32.0 (removed)",
        words: `its environment ${executable} is not on the host any more (it is not installed yet)`,
        repair: "live",
      },
    ]);
  });

  it("tells secrets by name where the names are known, never by value, and only against a state", () => {
    const secrets = ["HF_TOKEN", "VLLM_API_KEY"];
    const other = "the server was started with another value than the declared one";
    expect(drift({ secretsMatch: false, differences: { ...NO_DIFFERENCES, secrets } })).toEqual([
      { path: ["environment", "HF_TOKEN"], found: "(on the host)", words: other, repair: "restart" },
      { path: ["apiKey"], found: "(on the host)", words: other, repair: "restart" },
    ]);
    expect(seen({ secretsMatch: false })).toEqual(["environment: its secrets are not the declared ones"]);
    expect(seen({ secretsMatch: false }, null)).toEqual([]);
  });

  it("tells policies that count and were not declared, which need no restart", () => {
    const service = { ...spec().service, restart: { ...spec().service.restart, max: 9 } };
    expect(drift({}, { ...believed, service })).toEqual([
      { path: ["service", "restart", "max"], found: 5, words: "5 counts, declared 9", repair: "live" },
    ]);
    expect(seen({ status: "stopped", leader: null }, { ...believed, service })).toEqual([
      "status: it is stopped",
    ]);
  });

  it("tells a vllm that is another one now, or gone", () => {
    const server = runningServer(desired);
    const told = (executable: ExecutableSeen): readonly Drift[] =>
      driftOf(observed({ server, executable }), believed);
    expect(told({ found: true, path: "/usr/bin/vllm", version: "0.33.0" })).toEqual([
      {
        path: ["vllm", "executable"],
        found: "/opt/vllm/bin/vllm",
        words: "/opt/vllm/bin/vllm runs, declared /usr/bin/vllm",
        repair: "restart",
      },
    ]);
    expect(told({ found: false, reason: "no vllm" })).toEqual([
      {
        path: ["vllm", "executable"],
        found: "/opt/vllm/bin/vllm (gone)",
        words: "not on the host any more (no vllm): the next start fails",
        repair: "none",
      },
    ]);
  });

  it("tells another declaration from the one in state", () => {
    expect(seen({}, { ...believed, configHash: "beef" })).toEqual([
      "configHash: another declaration was started (configHash beef -> f00d)",
    ]);
  });

  it("tells that there is no server", () => {
    expect(driftOf(observed({ server: absentServer }), believed).map(driftLine)).toEqual([
      "status: no server of this resource is on the host",
    ]);
  });

  it("tells that another resource has the server, where both claims are known", () => {
    const server = runningServer(desired, {
      owner: { ...owner, claimId: "fee1", project: "lab", name: "k2" },
    });
    const reasons = (claimId: string | null): readonly string[] =>
      driftOf(observed({ server }), { ...believed, claimId }).map(driftLine);
    expect(reasons("c1a1")).toEqual(["status: a newer resource has taken it over (lab/prod, k2)"]);
    expect([reasons("fee1"), reasons(null)]).toEqual([[], []]);
  });
});

describe("accident", () => {
  const found = (parts: Partial<ServerSeen>): string | null =>
    accident(observed({ server: runningServer(desired, parts) }));

  it.each<Partial<ServerSeen>>([{}, { status: "starting" }, { status: "stopped" }, { status: "absent" }])(
    "is none for a server that is %o: nothing befell it",
    (parts) => {
      expect(found(parts)).toBeNull();
    },
  );

  it("tells what befell a server, and the log of it", () => {
    expect(found({ status: "crashed", lastExit: killed, logPath: "/3.log" })).toBe(
      "found: it died (signal 9) (log /3.log)",
    );
    expect(found({ status: "crash-looping", logPath: null })).toBe("found: crash-looping: given up");
    expect(found({ status: "rebooted", logPath: null })).toBe("found: the host was rebooted");
  });

  it("tells what another hand changed on a server that answers", () => {
    const listening = { address: "127.0.0.1", port: 9000 };
    expect(found({ differences: { ...NO_DIFFERENCES, listening } })).toBe(
      "found: listen.port: 9000 is listened on, declared 8000",
    );
  });
});

const FATAL = "ERROR 12-02 10:00:00 [core.py:1521] EngineCore encountered a fatal error.";

describe("recovery", () => {
  const told = (
    restarts: number,
    known: { readonly restarts: number; readonly bootId: string | null },
    status: ServerSeen["status"] = "ready",
  ): string | null =>
    recovery(observed({ server: runningServer(desired, { status, restarts, lastExit: killed }) }), known);
  const boot = "boot-1";

  it("is told once, of a server that answers", () => {
    expect(told(2, { restarts: 1, bootId: boot })).toBe(
      "it died (signal 9) and came back by itself (2 automatic restarts since it was last started)",
    );
    expect([
      told(2, { restarts: 2, bootId: boot }),
      told(0, { restarts: 3, bootId: null }),
      told(2, { restarts: 1, bootId: boot }, "starting"),
    ]).toEqual([null, null, null]);
  });

  it("says why it had died", () => {
    const exit = { ...killed, generation: 1, code: 0, signal: null };
    const log = [
      {
        first: 1,
        lines: ["torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB.", FATAL],
      },
    ];
    const parts = { restarts: 1, lastExit: exit, crashes: [{ exit, log }] };
    const server = runningServer(desired, { status: "ready", ...parts });
    expect(recovery(observed({ server }), { restarts: 0, bootId: boot })).toMatch(
      /^it died \(exit code 0\) and came back by itself \(1 automatic restart since it was last started\): the GPU has too little memory.*\(log line 1\)/,
    );
  });

  it("tells a reboot that the server came back from", () => {
    const words = "the host was rebooted; the server came back by itself";
    expect(told(1, { restarts: 0, bootId: "boot-0" })).toBe(words);
    expect(told(1, { restarts: 0, bootId: "boot-0" }, "starting")).toBeNull();
  });
});

import { describe, expect, it } from "vitest";
import type { Desired } from "../../provider/src/core/desired";
import { accident, driftOf, recovery } from "../../provider/src/core/drift";
import type { ServerSeen } from "../../provider/src/core/observed";
import { absentServer, launch, observed, owner, runningServer } from "../support/host-facts";

const desired: Desired = { launch, overlay: null, warnings: [] };
const seen = (parts: Partial<ServerSeen>, expectedHash: string | null = "f00d"): readonly string[] =>
  driftOf(observed({ server: runningServer(desired, parts) }), expectedHash);
const killed = { generation: 3, code: null, signal: 9, at: "2026-12-01T11:00:00Z" };

describe("driftOf", () => {
  it("is empty for a server that answers as declared", () => {
    expect(seen({})).toEqual([]);
  });

  it.each<[Partial<ServerSeen>, string]>([
    [{ status: "crashed", lastExit: killed }, "it died (signal 9)"],
    [{ status: "crashed", lastExit: { ...killed, code: 0, signal: null } }, "it died (exit code 0)"],
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
    [{ modelPathIntact: false }, "files of /models/kimi are missing"],
    [{ secretsMatch: false }, "its secrets are not the declared ones"],
  ])("says %o in words", (parts, words) => {
    expect(seen(parts)).toEqual([words]);
  });

  it("tells another declaration from the one in state", () => {
    expect(seen({}, "beef")).toEqual(["another declaration was started (configHash beef -> f00d)"]);
  });

  it("tells that there is no server", () => {
    expect(driftOf(observed({ server: absentServer }), "f00d")).toEqual([
      "no server of this resource is on the host",
    ]);
  });

  it("tells that another resource has the server, where both claims are known", () => {
    const server = runningServer(desired, {
      owner: { ...owner, claimId: "fee1", project: "lab", name: "k2" },
    });
    const reasons = (claimId: string | null): readonly string[] =>
      driftOf(observed({ server }), null, claimId);
    expect(reasons("c1a1")).toEqual(["a newer resource has taken it over (lab/prod, k2)"]);
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
});

describe("recovery", () => {
  const seen = (restarts: number, known: number, status: ServerSeen["status"] = "ready"): string | null =>
    recovery(runningServer(desired, { status, restarts, lastExit: killed }), known);

  it("is told once, of a server that answers", () => {
    expect(seen(2, 1)).toBe(
      "it died (signal 9) and came back by itself (2 automatic restarts since it was last started)",
    );
    expect([seen(2, 2), seen(0, 3), seen(2, 1, "starting")]).toEqual([null, null, null]);
  });
});

import { describe, expect, it } from "vitest";
import type { Desired } from "../../provider/src/core/desired";
import { driftOf } from "../../provider/src/core/drift";
import type { ServerSeen } from "../../provider/src/core/observed";
import { absentServer, launch, observed, runningServer } from "../support/host-facts";

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
});

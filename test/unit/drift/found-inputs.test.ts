import { describe, expect, it } from "vitest";
import {
  declaredHash,
  foundInputs,
  isDriftInInputs,
  readDrift,
  recordedDrift,
  untoldIn,
  type Drift,
} from "../../../provider/src/core/drift";

const outputs = {
  __urn: "urn:kimi",
  __claim: "c1a1",
  host: { host: "gpu1" },
  engine: { maxModelLen: 8192, dtype: "auto" },
  url: "http://127.0.0.1:8000",
  status: "stopped",
  pid: 1,
};
const at = (path: Drift["path"], found: Drift["found"], repair: Drift["repair"] = "live"): Drift => ({
  path,
  found,
  words: "x",
  repair,
});

describe("foundInputs", () => {
  it("are the declared ones, what follows from them, and a server that answers, where nothing was found", () => {
    expect(foundInputs(outputs, [])).toEqual({
      __urn: "urn:kimi",
      host: { host: "gpu1" },
      engine: { maxModelLen: 8192, dtype: "auto" },
      url: "http://127.0.0.1:8000",
      status: "ready",
    });
  });

  it("have what was found in the place of what was declared, and the words for it", () => {
    const drift = [
      at(["engine", "maxModelLen"], 4096),
      at(["engine", "dtype"], undefined),
      at(["listen", "port"], 9000),
      at(["extraArgs", "gone"], undefined),
      at(["status"], "stopped"),
      at(["gpuUuids"], ["GPU-1"]),
    ];
    expect(foundInputs(outputs, drift)).toEqual({
      __urn: "urn:kimi",
      host: { host: "gpu1" },
      engine: { maxModelLen: 4096 },
      listen: { port: 9000 },
      url: "http://127.0.0.1:8000",
      status: "stopped",
      gpuUuids: ["GPU-1"],
      drift: [
        "engine.maxModelLen: x",
        "engine.dtype: x",
        "listen.port: x",
        "extraArgs.gone: x",
        "status: x",
        "gpuUuids: x",
      ],
    });
    expect(outputs.engine).toEqual({ maxModelLen: 8192, dtype: "auto" });
  });

  it("have the commit that is declared, and not the one that a branch was resolved to", () => {
    const commit = "0123456789abcdef0123456789abcdef01234567";
    const of = (model: string): unknown =>
      foundInputs({ host: "gpu1", model, modelRevision: commit }, [])["modelRevision"];
    expect([of(`org/m@${commit}`), of("org/m@main"), of("org/m")]).toEqual([commit, undefined, undefined]);
  });
});

describe("recorded drift", () => {
  it("is read back with what is to be done about it", () => {
    const drift = [at(["status"], "x", "start"), at(["pid"], "y", "wait")];
    const recorded = recordedDrift(drift, { isInInputs: true, configHash: "f00d" });
    expect(readDrift(recorded)).toEqual([
      { line: "status: x", repair: "start" },
      { line: "pid: x", repair: "wait" },
    ]);
    expect([isDriftInInputs(recorded), isDriftInInputs({ drift: ["x"] })]).toEqual([true, false]);
  });

  it("keeps what configHash should be beside what it is", () => {
    const recorded = recordedDrift([], { isInInputs: false, configHash: "f00d" });
    expect(declaredHash({ ...recorded, configHash: "beef" })).toBe("f00d");
    expect([declaredHash({ configHash: "beef" }), declaredHash({})]).toEqual(["beef", null]);
  });

  it("of an earlier version is a restart, and none where there is none", () => {
    expect(readDrift({ drift: ["it is stopped"] })).toEqual([{ line: "it is stopped", repair: "restart" }]);
    expect(readDrift({})).toEqual([]);
  });
});

describe("untoldIn", () => {
  it("finds what only stands for a value of the host, wherever a program would take it for one", () => {
    expect(
      untoldIn({
        environment: { A: "(on the host, sha256 0a1b2c3d)", B: "b" },
        apiKey: "(on the host)",
        extraArgs: { x: ["(on the host)"] },
      }),
    ).toEqual(["environment.A", "apiKey", 'extraArgs.x["0"]']);
  });
});

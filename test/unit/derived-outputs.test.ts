import { describe, expect, it } from "vitest";
import { derivedOutputs, derivedOutputsKnown } from "../../provider/src/core/derived-outputs";
import { UNKNOWN_VALUE } from "../../provider/src/core/input-unknowns";
import { hubModel, spec } from "../support/host-facts";

const host = spec().host;

describe("outputs that follow from the inputs", () => {
  it("lead to a server on loopback through a tunnel", () => {
    expect(derivedOutputs(spec())).toEqual({
      url: "http://127.0.0.1:8000",
      baseUrl: "http://127.0.0.1:8000/v1",
      servedModelName: "kimi",
      tunnelCommand: "ssh -N -L 8000:127.0.0.1:8000 gpu1",
      modelRevision: null,
    });
  });

  it.each([
    ["0.0.0.0", "http://gpu1:8000"],
    ["::", "http://gpu1:8000"],
    ["10.0.0.5", "http://10.0.0.5:8000"],
    ["fd00::5", "http://[fd00::5]:8000"],
    ["gpu1.lan", "http://gpu1.lan:8000"],
  ])("lead straight to a server that listens on %s", (address, url) => {
    const outputs = derivedOutputs(spec({ listen: { address, port: 8000 } }));
    expect([outputs.url, outputs.baseUrl, outputs.tunnelCommand]).toEqual([url, `${url}/v1`, null]);
  });

  it("put an IPv6 host into brackets", () => {
    const outputs = derivedOutputs(
      spec({ host: { ...host, host: "fd00::1" }, listen: { address: "::", port: 1 } }),
    );
    expect(outputs.url).toBe("http://[fd00::1]:1");
  });

  it("open the tunnel the way the host is reached, to the address it listens on", () => {
    const outputs = derivedOutputs(
      spec({ host: { ...host, user: "ubuntu", port: 2222 }, listen: { address: "::1", port: 8000 } }),
    );
    expect([outputs.url, outputs.tunnelCommand]).toEqual([
      "http://127.0.0.1:8000",
      "ssh -N -L 8000:[::1]:8000 -p 2222 ubuntu@gpu1",
    ]);
  });

  it("name the first served name", () => {
    expect(derivedOutputs(spec({ engine: { servedModelName: ["one", "two"] } })).servedModelName).toBe("one");
  });
});

describe("the same in a preview", () => {
  const all = derivedOutputs(spec());
  const open = { address: "0.0.0.0", port: 8000 };
  const unknown = UNKNOWN_VALUE;

  it.each<[string, object]>([
    ["engine.maxModelLen", {}],
    ["apiKey", {}],
    ["host.host", { tunnelCommand: unknown }],
    ["host", { tunnelCommand: unknown }],
    ["listen.port", { url: unknown, baseUrl: unknown, tunnelCommand: unknown }],
    ["model", { servedModelName: unknown, modelRevision: unknown }],
    ["engine.servedModelName[0]", { servedModelName: unknown }],
    [
      "",
      {
        url: unknown,
        baseUrl: unknown,
        servedModelName: unknown,
        tunnelCommand: unknown,
        modelRevision: unknown,
      },
    ],
  ])("leaves unknown only what follows from the unknown input %j", (path, outputs) => {
    expect(derivedOutputsKnown(spec(), [path])).toEqual({ ...all, ...outputs });
  });

  it("needs the host for the address of a server that others can reach", () => {
    expect(derivedOutputsKnown(spec({ listen: open }), ["host.host"])).toMatchObject({
      url: unknown,
      baseUrl: unknown,
    });
  });

  it("names a model of a hub by its repository, and needs nothing else of it", () => {
    const declared = spec({ model: hubModel({ revision: "main" }) });
    expect(derivedOutputs(declared).servedModelName).toBe("nvidia/kimi");
    const name = (unknown: string): unknown => derivedOutputsKnown(declared, [unknown]).servedModelName;
    expect([name("model.revision"), name("model.token")]).toEqual(["nvidia/kimi", "nvidia/kimi"]);
    expect([name("model.repo"), name("model")]).toEqual([UNKNOWN_VALUE, UNKNOWN_VALUE]);
  });

  it("knows the commit that is declared, and nothing of a branch", () => {
    const commit = "0123456789abcdef0123456789abcdef01234567";
    const pinned = spec({ model: hubModel({ revision: commit }) });
    expect(derivedOutputs(pinned).modelRevision).toBe(commit);
    const revision = (unknown: string): unknown => derivedOutputsKnown(pinned, [unknown]).modelRevision;
    expect([revision("model.token"), revision("model.cacheDir")]).toEqual([commit, commit]);
    expect([revision("model.revision"), revision("model.repo")]).toEqual([unknown, unknown]);
    for (const moving of ["main", null])
      expect(derivedOutputs(spec({ model: hubModel({ revision: moving }) }))).not.toHaveProperty(
        "modelRevision",
      );
  });

  it("needs no path for a name that is given", () => {
    const named = spec({ engine: { servedModelName: ["one"] } });
    expect(derivedOutputsKnown(named, ["model.path"]).servedModelName).toBe("one");
  });
});

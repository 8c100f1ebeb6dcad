import { describe, expect, it } from "vitest";
import { derivedOutputs } from "../../provider/src/core/derived-outputs";
import { spec } from "../support/host-facts";

const host = spec().host;

describe("outputs that follow from the inputs", () => {
  it("lead to a server on loopback through a tunnel", () => {
    expect(derivedOutputs(spec())).toEqual({
      url: "http://127.0.0.1:8000",
      baseUrl: "http://127.0.0.1:8000/v1",
      servedModelName: "kimi",
      tunnelCommand: "ssh -N -L 8000:127.0.0.1:8000 gpu1",
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

  it.each([
    [{ user: "ubuntu", port: 2222 }, "ssh -N -L 8000:[::1]:8000 -p 2222 ubuntu@gpu1"],
    [{ port: 22 }, "ssh -N -L 8000:[::1]:8000 gpu1"],
    [
      { proxy: { ...host, host: "jump", user: "j", port: 2200 } },
      "ssh -N -L 8000:[::1]:8000 -J j@jump:2200 gpu1",
    ],
    [{ sshConfigFile: "/my files/config" }, "ssh -N -L 8000:[::1]:8000 -F '/my files/config' gpu1"],
  ])("open the tunnel the way the host is reached: %j", (parts, command) => {
    const outputs = derivedOutputs(
      spec({ host: { ...host, ...parts }, listen: { address: "::1", port: 8000 } }),
    );
    expect([outputs.url, outputs.tunnelCommand]).toEqual(["http://127.0.0.1:8000", command]);
  });

  it("name the first served name", () => {
    expect(derivedOutputs(spec({ engine: { servedModelName: ["one", "two"] } })).servedModelName).toBe("one");
  });
});

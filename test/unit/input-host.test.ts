import { describe, expect, it } from "vitest";
import { parseHostText } from "../../provider/src/core/input-host";
import { parseInputs } from "../../provider/src/core/parse-inputs";
import { spec } from "../support/host-facts";

describe("host text", () => {
  it.each([
    ["gpu1", { user: null, host: "gpu1", port: null }],
    ["ubuntu@gpu1", { user: "ubuntu", host: "gpu1", port: null }],
    ["ubuntu@10.0.0.1:2222", { user: "ubuntu", host: "10.0.0.1", port: 2222 }],
    ["fe80::1", { user: null, host: "fe80::1", port: null }],
    ["root@[fe80::1%eth0]:22", { user: "root", host: "fe80::1%eth0", port: 22 }],
    ["[::1]", { user: null, host: "::1", port: null }],
  ])("%s is user, host and port", (text, parts) => {
    expect(parseHostText(text)).toEqual(parts);
  });

  it.each([
    "",
    "a b",
    "-oProxyCommand=x",
    "-l@gpu1",
    "ssh://gpu1",
    "gpu1:99999",
    "root:pw@gpu1",
    "gpu1:",
    "@gpu1",
    "a\nb",
  ])("%j is refused", (text) => {
    expect(parseHostText(text)).toBeNull();
  });
});

describe("host object", () => {
  it("is what @pulumi/command takes, and more", () => {
    const host = {
      host: "gpu1",
      port: 2200,
      user: "ubuntu",
      password: "p",
      privateKey: "k",
      privateKeyPassword: "kp",
      agentSocketPath: "/run/agent",
      hostKey: "SHA256:x",
      dialErrorLimit: 0,
      perDialTimeout: 3,
      knownHostsFile: "/k",
      sshConfigFile: "/c",
      python: "/usr/bin/python3.12",
      sudo: "never" as const,
      proxy: "jump@bastion:22",
    };
    const { perDialTimeout, proxy: _proxy, ...same } = host;
    const base = spec().host;
    expect(parseInputs({ host, model: { path: "/models/kimi" } })).toEqual({
      ok: true,
      spec: spec({
        host: {
          ...same,
          perDialTimeoutSeconds: perDialTimeout,
          proxy: { ...base, host: "bastion", user: "jump", port: 22 },
        },
      }),
      unknowns: [],
    });
  });

  it("has a host name without user and port in it", () => {
    const result = parseInputs({ host: { host: "ubuntu@gpu1" }, model: { path: "/m" } });
    expect(result.ok ? [] : result.problems.map((problem) => problem.path)).toEqual(["host.host"]);
  });
});

import { describe, expect, it } from "vitest";
import { provision } from "../../provider/src/core/provision";
import type { Step } from "../../provider/src/core/step";
import { requestSecrets, withoutSecrets } from "../../provider/src/remote/request-secrets";
import { environment, hubModel, launch, owner, spec } from "../support/host-facts";

const declared = spec({
  model: hubModel({ token: "hf_token", endpoint: "https://ann:hub-pass@mirror" }),
  vllm: environment({ indexUrl: "https://idx-token@index", packages: ["x @ https://pkg-token@y/z.whl"] }),
});
const { install, fetch } = provision(declared, owner.urn, null);
const wait: Step = {
  kind: "wait",
  probe: "auto",
  apiKey: "sk-key",
  fingerprint: null,
  timeoutSeconds: 1,
  fatalPatterns: [],
  stallSeconds: 0,
  idlePatterns: [],
  kvCacheDtypes: null,
  kvCacheAuto: null,
};

function secretsOf(...steps: readonly Step[]): readonly string[] {
  return requestSecrets({
    op: "apply",
    serverId: "kimi-0",
    urn: owner.urn,
    client: "ann",
    lockWaitSeconds: 1,
    expect: { generation: 0, leaderPid: null },
    steps,
    protocol: 1,
    deadlineSeconds: 1,
  });
}

describe("secrets of a request", () => {
  it("are those of each of its steps, the longest first", () => {
    const start: Step = { kind: "start", launch: { ...launch, secretEnvironment: { A: "env-secret" } } };
    expect(secretsOf({ kind: "claim", owner }, start, wait)).toEqual(["env-secret", "sk-key"]);
    expect(install === null ? [] : secretsOf(install)).toEqual(["idx-token", "pkg-token"]);
    expect(secretsOf(fetch)).toEqual(["ann:hub-pass", "hf_token", "hub-pass"]);
  });

  it("are none of a look at a folder", () => {
    expect(secretsOf(provision(spec(), owner.urn, null).fetch)).toEqual([]);
  });

  it("are not in what comes back from a host", () => {
    expect(withoutSecrets("401: hf_token at https://ann:hub-pass@mirror", secretsOf(fetch))).toBe(
      "401: [secret] at https://[secret]@mirror",
    );
  });
});

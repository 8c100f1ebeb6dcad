import { describe, expect, it } from "vitest";
import { LogsFailure, type LogsFailureCode } from "../../../provider/src/cli/logs/failure";
import { namedServer } from "../../../provider/src/cli/logs/find-server";
import type { StateResource } from "../../../provider/src/cli/logs/stack-state";
import { holdsClosedSecret, withOpenedSecrets } from "../../../provider/src/cli/logs/state-secrets";

const TYPE = "pulumi-nodejs:dynamic/vllm:VllmServer";
const server = (types: string, name: string): { urn: string; type: string; id: string } => ({
  urn: `urn:pulumi:prod::shop::${types}${TYPE}::${name}`,
  type: TYPE,
  id: `${name}-0a1b2c3d`,
});
const OTHERS = [
  {
    urn: "urn:pulumi:prod::shop::aws:ec2/instance:Instance::chat",
    type: "aws:ec2/instance:Instance",
    id: "i-1",
  },
  // Declared, and never made.
  { urn: `urn:pulumi:prod::shop::${TYPE}::new`, type: TYPE },
];
const signed = (members: object): object => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ...members,
});

describe("the server of a name", () => {
  it("is the one VllmServer of that name or URN", () => {
    const [chat, embed] = [server("", "chat"), server("box$", "embed::one")];
    const resources = [...OTHERS, chat, embed];
    expect(namedServer("chat", resources)).toBe(chat);
    expect(namedServer("embed::one", resources)).toBe(embed);
    expect(namedServer(embed.urn, resources)).toBe(embed);
  });

  it.each<[string, readonly StateResource[], LogsFailureCode, string]>([
    [
      "tall",
      [...OTHERS, server("", "chat")],
      "server-not-found",
      'Cannot find the server "tall" in the stack: it has chat',
    ],
    [
      "new",
      OTHERS,
      "server-not-found",
      'Cannot find the server "new" in the stack: the stack has no VllmServer',
    ],
    [
      "chat",
      [server("", "chat"), server("my:Box$", "chat")],
      "server-ambiguous",
      `Cannot tell which server "chat" is: several have that name, need one of their URNs
  urn:pulumi:prod::shop::${TYPE}::chat
  urn:pulumi:prod::shop::my:Box$${TYPE}::chat`,
    ],
  ])("%s is none, or not told apart", (name, resources, code, message) => {
    expect(() => namedServer(name, resources)).toThrow(new LogsFailure(code, message));
  });
});

describe("secrets in state", () => {
  it("are closed until the CLI was asked to show them", () => {
    expect(holdsClosedSecret({ host: "gpu1", hops: [{ key: signed({ ciphertext: "v1:x" }) }] })).toBe(true);
    expect(holdsClosedSecret({ host: "gpu1", key: signed({ plaintext: '"k"' }) })).toBe(false);
    expect(holdsClosedSecret("gpu1")).toBe(false);
  });

  it("stand as what they are in the places where they were, at any depth", () => {
    const inner = JSON.stringify({ user: "ann", key: signed({ plaintext: '"k"' }) });
    expect(withOpenedSecrets({ host: signed({ plaintext: inner }), n: [1, null] })).toEqual({
      host: { user: "ann", key: "k" },
      n: [1, null],
    });
  });
});

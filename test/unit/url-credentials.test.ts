import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  credentialsIn,
  holdsCredentials,
  secretsInUrls,
  withoutCredentials,
} from "../../provider/src/core/url-credentials";

describe("credentials in URLs", () => {
  it.each([
    ["https://ann:pass@host/simple", ["ann:pass"], "https://host/simple"],
    ["https://token@host", ["token"], "https://host"],
    ["vllm @ https://t@host/a.whl", ["t"], "vllm @ https://host/a.whl"],
    ["https://ann:p@ss@host", ["ann:p@ss"], "https://host"],
    ["git+https://t@host/x, http://u:v@w", ["t", "u:v"], "git+https://host/x, http://w"],
    ["https://host/@scope/a@1", [], "https://host/@scope/a@1"],
    ["a@b", [], "a@b"],
  ])("of %s are %j", (text, credentials, plain) => {
    expect([credentialsIn(text), withoutCredentials(text), holdsCredentials(text)]).toEqual([
      credentials,
      plain,
      credentials.length > 0,
    ]);
  });

  it("are secret whole, and by their password in each form; a user's name alone is none", () => {
    expect(secretsInUrls("https://ann:p%40ss@host")).toEqual(["ann:p%40ss", "p%40ss", "p@ss"]);
    expect(secretsInUrls("https://tok%zz@host")).toEqual(["tok%zz", "tok%zz", "tok%zz"]);
  });

  it("leave nothing behind", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9:%@._-]{1,20}$/), (credentials) => {
        const plain = withoutCredentials(`x https://${credentials}@host/y`);
        expect([plain, holdsCredentials(plain)]).toEqual(["x https://host/y", false]);
      }),
    );
  });
});

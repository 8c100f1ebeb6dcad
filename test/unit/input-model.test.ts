import { describe, expect, it } from "vitest";
import { parseInputs } from "../../provider/src/core/parse-inputs";
import { hubModel } from "../support/host-facts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

function model(given: unknown): unknown {
  const result = parseInputs({ host: "gpu1", model: given });
  return result.ok ? result.spec.model : result.problems.map(({ message }) => message);
}

describe("model", () => {
  it.each([
    ["nvidia/kimi", {}],
    [`nvidia/kimi@${COMMIT}`, { revision: COMMIT }],
    [`nvidia/kimi@${COMMIT.toUpperCase()}`, { revision: COMMIT }],
    ["nvidia/kimi@refs/pr/3", { revision: "refs/pr/3" }],
    ["my_org/Model-1.5_x@v1.0", { repo: "my_org/Model-1.5_x", revision: "v1.0" }],
  ])("as text is a repository of a hub and its revision: %s", (text, parts) => {
    expect(model(text)).toEqual(hubModel(parts));
  });

  it("as an object says all of it, and the same address is written once", () => {
    const given = {
      repo: "nvidia/kimi",
      revision: "main",
      include: ["*.json", "a/**"],
      exclude: ["*.bin"],
      token: "hf_x",
      endpoint: "https://mirror.example/hub//",
      cacheDir: "~/hub/",
      verify: "full",
    };
    expect(model(given)).toEqual(
      hubModel({ ...given, verify: "full", endpoint: "https://mirror.example/hub", cacheDir: "~/hub" }),
    );
  });

  it("is a folder on the host where it has a path", () => {
    const local = { kind: "local", path: "/models/kimi" };
    expect(model({ path: "/models/kimi" })).toEqual({ ...local, verify: "headers" });
    expect(model({ path: "/models/kimi", repo: null, verify: "full" })).toEqual({ ...local, verify: "full" });
  });

  it.each([
    [{ path: "/m", repo: "a/b" }, "model: found an object, need either path or repo, here path, repo"],
    [{ path: "/m", token: "hf_x" }, "model: found an object, need path alone: token is of repo"],
    [
      { path: "/m", include: ["*"], endpoint: "http://x" },
      "model: found an object, need path alone: include, endpoint are of repo",
    ],
    [{}, "model: found an object, need path or repo"],
    [{ revision: "main" }, "model: found an object, need path or repo"],
  ])("is one of two kinds: %j", (given, message) => {
    expect(model(given)).toEqual([message]);
  });

  it("tells all that is wrong with it at once", () => {
    const given = {
      path: "m",
      repo: "kimi",
      include: [],
      exclude: ["/x", "../y"],
      verify: "hash",
      tokn: "t",
    };
    expect(model(given)).toEqual([
      "model: found an object, need either path or repo, here path, repo, include, exclude",
      'model.path: found "m", need folder of the checkpoint: an absolute path on the host, or one that begins with ~/',
      'model.repo: found "kimi", need a repository as "org/name"',
      "model.include: found an empty list, need at least one pattern, or nothing",
      'model.exclude[0]: found "/x", need a pattern of names in the repository such as "*.json"',
      'model.exclude[1]: found "../y", need a pattern of names in the repository such as "*.json"',
      'model.verify: found "hash", need one of "headers", "full"',
      "model.tokn: found text, need model.token (the nearest known name)",
    ]);
  });

  it.each([
    ["/models/kimi", '{ path: "/models/kimi" } for a folder on the host'],
    ["~/kimi", '{ path: "~/kimi" } for a folder on the host'],
    ["kimi", 'text such as "org/name@revision", or an object with path or repo'],
    ["org/name@", 'text such as "org/name@revision", or an object with path or repo'],
    ["org/name@a b", 'text such as "org/name@revision", or an object with path or repo'],
    ["https://hub.example/org/name", 'text such as "org/name@revision", or an object with path or repo'],
  ])("refuses %s, and says what to write", (text, wanted) => {
    expect(model(text)).toEqual([`model: found ${JSON.stringify(text)}, need ${wanted}`]);
  });

  it.each(["org/na--me", "org/name.git", "-org/name", "org/..", "a/b/c", `o/${"n".repeat(95)}`, "org/n m"])(
    "refuses %s as a repository",
    (repo) => {
      expect(model({ repo })).toEqual([
        `model.repo: found ${JSON.stringify(repo.slice(0, 80))}`.replace(
          /"$/,
          repo.length > 80 ? '..."' : '"',
        ) + ', need a repository as "org/name"',
      ]);
    },
  );

  it("says where the revision goes", () => {
    expect(model({ repo: "org/name@main" })).toEqual([
      'model.repo: found "org/name@main", need "org/name": revision is an input of its own',
    ]);
  });

  it.each(["", "a..b", "-x", "a b", "a~1", "HEAD^", "a:b", "a/", ".a", "a.lock", "a@{1}", "x\n"])(
    "refuses %j as a revision",
    (revision) => {
      expect(model({ repo: "org/name", revision })).toEqual([
        `model.revision: found ${revision === "" ? '""' : JSON.stringify(revision)}, need a revision: 40 hex digits, a branch or a tag`,
      ]);
    },
  );

  it.each(["hub.example", "ftp://hub.example", "https://", "https://a b"])(
    "refuses %s as a hub",
    (endpoint) => {
      expect(model({ repo: "org/name", endpoint })).toEqual([
        `model.endpoint: found ${JSON.stringify(endpoint)}, need address of a hub: http:// or https:// and a host`,
      ]);
    },
  );

  it("is purged only where it was downloaded", () => {
    const inputs = { host: "gpu1", model: { path: "/m" }, onDelete: { model: "purge" } };
    expect(parseInputs(inputs)).toMatchObject({
      ok: false,
      problems: [
        {
          message:
            'onDelete.model: found "purge" for a folder of your own, which is never removed, need "keep", or a model with repo',
        },
      ],
    });
    expect(parseInputs({ ...inputs, model: "org/name" })).toMatchObject({ ok: true });
  });
});

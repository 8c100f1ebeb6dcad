import { describe, expect, it } from "vitest";
import { describeDiff, diffInputs } from "../../provider/src/core/diff";
import { UNKNOWN_VALUE } from "../../provider/src/core/input-unknowns";
import { unreachedUpdate } from "../../provider/src/core/unreached-update";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const OTHER = "fedcba9876543210fedcba9876543210fedcba98";
const sameHost = { oldHost: "gpu1:22", newHost: "gpu1:22" };
const context = { lastStartSeconds: null, status: "ready" };

function words(olds: object, news: object): readonly string[] {
  const base = { host: "gpu1" };
  return describeDiff(diffInputs({ ...base, ...olds }, { ...base, ...news }, sameHost), context).map((line) =>
    line.replace("; down until it is ready again", ""),
  );
}

/** What is brought before a restart. */
const brought = (what: string): string => `before that, beside what runs: ${what}`;
const lacking = (label: string): string => brought(`${label}, as far as the host lacks it`);

const hub = (parts: object = {}): object => ({ model: { repo: "org/name", ...parts } });
const ours = (parts: object = {}): object => ({ ...hub(), vllm: { version: "0.33.0", ...parts } });

describe("another model", () => {
  it.each([
    [
      hub(),
      { model: "org/other" },
      'model.repo org/name -> org/other, engine.servedModelName ["org/name"] -> ["org/other"]',
      lacking("org/other"),
    ],
    [hub(), hub({ revision: "main" }), "model.revision (not set) -> main", lacking("org/name@main")],
    [
      hub({ revision: COMMIT }),
      hub({ revision: OTHER }),
      `model.revision ${COMMIT} -> ${OTHER}`,
      lacking(`org/name@${OTHER}`),
    ],
    [hub(), hub({ include: ["*.json"] }), 'model.include (not set) -> ["*.json"]', lacking("org/name")],
    [hub(), hub({ cacheDir: "/data" }), "model.cacheDir (not set) -> /data", lacking("org/name")],
    [
      hub(),
      hub({ endpoint: "https://mirror" }),
      "model.endpoint (not set) -> https://mirror",
      lacking("org/name"),
    ],
    [
      { model: { path: "/m/name" } },
      hub(),
      'model.path /m/name -> (not set), model.repo (not set) -> org/name, engine.servedModelName ["name"] -> ["org/name"]',
      lacking("org/name"),
    ],
  ])("%j -> %j is a restart", (olds, news, change, bringing) => {
    expect(words(olds, news)).toEqual([`restart: ${change}`, bringing]);
  });

  it("is brought to another machine, with its size where it was seen", () => {
    const served = { ...ours(), modelBytes: 540_100_000_000 };
    const diff = diffInputs(
      { host: "gpu1", ...served },
      { host: "gpu2", ...ours() },
      { oldHost: "gpu1:22", newHost: "gpu2:22" },
    );
    expect(describeDiff(diff, context)).toEqual([
      "replacement: host gpu1:22 -> gpu2:22; the new server is started first, then the old one is stopped",
      brought("vLLM 0.33.0 into an environment of its own; org/name, 540.1 GB, as far as the host lacks it"),
    ]);
  });

  it("is none where the same is said in another way", () => {
    expect(
      words({ model: `org/name@${COMMIT}` }, hub({ revision: COMMIT, verify: "headers", token: null })),
    ).toEqual([]);
    expect(words(hub({ endpoint: "https://mirror/" }), hub({ endpoint: "https://mirror" }))).toEqual([]);
    for (const name of ["include", "exclude"])
      expect(words(hub({ [name]: ["b*", "a*"] }), hub({ [name]: ["a*", "b*", "a*"] }))).toEqual([]);
  });

  it("is none for who may get it, or how it is verified", () => {
    expect(words(hub({ token: "old-secret" }), hub({ token: "new-secret" }))).toEqual([
      "no restart: model.token changed",
    ]);
    expect(words(hub(), hub({ verify: "full" }))).toEqual(["no restart: model.verify headers -> full"]);
    const endpoint = (who: string): object => hub({ endpoint: `https://${who}@mirror` });
    expect(words(endpoint("ann:old-secret"), endpoint("ann:new-secret"))).toEqual([
      "no restart: model.endpointCredentials changed",
    ]);
  });

  it("is none where the commit is pinned that is served, from whichever hub", () => {
    const served = { ...hub({ revision: "main" }), modelRevision: COMMIT };
    expect(words(served, hub({ revision: COMMIT }))).toEqual([
      `no restart: model.revision main -> ${COMMIT}`,
    ]);
    expect(words(served, hub({ revision: OTHER }))).toEqual([
      `restart: model.revision main -> ${OTHER}`,
      lacking(`org/name@${OTHER}`),
    ]);
    const pinned = { ...hub({ revision: COMMIT }), modelRevision: COMMIT };
    expect(words(pinned, hub({ revision: COMMIT, endpoint: "https://mirror" }))).toEqual([
      "no restart: model.endpoint (not set) -> https://mirror",
    ]);
  });

  it("is not known while its kind is not", () => {
    expect(words(hub(), { model: { repo: UNKNOWN_VALUE } })).toEqual([
      "restart possible: model.repo not known yet",
    ]);
    expect(words(hub(), { model: UNKNOWN_VALUE })).toEqual(["restart possible: model not known yet"]);
    expect(words(hub(), hub({ token: UNKNOWN_VALUE }))).toEqual(["no restart: model.token not known yet"]);
  });
});

describe("another vLLM", () => {
  it.each([
    [ours(), ours({ version: "0.34.0" }), "vllm.version 0.33.0 -> 0.34.0", "0.34.0"],
    [hub(), ours(), "vllm.version (not set) -> 0.33.0", "0.33.0"],
    [
      { ...hub(), vllm: { executable: "/v" } },
      ours(),
      "vllm.executable /v -> (not set), vllm.version (not set) -> 0.33.0",
      "0.33.0",
    ],
    [ours(), ours({ packages: ["a"] }), 'vllm.packages (not set) -> ["a"]', "0.33.0"],
    [
      ours({ indexUrl: "https://old-secret@one" }),
      ours({ indexUrl: "https://old-secret@two" }),
      "vllm.indexUrl https://one -> https://two",
      "0.33.0",
    ],
  ])("%j -> %j is a restart", (olds, news, change, version) => {
    expect(words(olds, news)).toEqual([
      `restart: ${change}`,
      brought(`vLLM ${version} into an environment of its own`),
    ]);
  });

  it("is none for other credentials or another order of packages", () => {
    const who = (name: string): object =>
      ours({ extraIndexUrls: [`https://${name}@index`], packages: [`x @ https://${name}@y`] });
    expect(words(who("old-secret"), who("new-secret"))).toEqual([
      "no restart: vllm.extraIndexUrlsCredentials changed, vllm.packagesCredentials changed",
    ]);
    expect(words(ours({ packages: ["a", "b"] }), ours({ packages: ["b", "a"] }))).toEqual([]);
  });

  it("is not known while any of it is not", () => {
    expect(words(ours(), ours({ version: UNKNOWN_VALUE }))).toEqual([
      "restart possible: vllm.version not known yet",
    ]);
  });
});

it("a token that changes is recorded without the host, which has no part in it", () => {
  const olds = { host: "gpu1", model: { repo: "org/name", token: "a" }, status: "ready", drift: [] };
  const news = { host: "gpu1", model: { repo: "org/name", token: "b" } };
  expect(unreachedUpdate(olds, news).kind).toBe("all");
  expect(unreachedUpdate(olds, { ...news, model: { repo: "org/name", revision: "v2" } }).kind).toBe(
    "nothing",
  );
});

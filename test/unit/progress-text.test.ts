import { describe, expect, it } from "vitest";
import { durationText, sizesText, sizeText } from "../../provider/src/core/amount-text";
import { progressText, type HowFar } from "../../provider/src/core/progress-text";
import { fetchWords, installWords, purgeWords } from "../../provider/src/core/provision-words";
import { hubModel, spec } from "../support/host-facts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const silent: HowFar = {
  phase: "download",
  text: "",
  done: null,
  total: null,
  bytesDone: null,
  bytesTotal: null,
  bytesPerSecond: null,
  secondsLeft: null,
};
const half: HowFar = {
  ...silent,
  done: 37,
  total: 119,
  bytesDone: 210.4e9,
  bytesTotal: 540.1e9,
  bytesPerSecond: 1.1e9,
  secondsLeft: 300,
};

describe("progress", () => {
  it.each<[HowFar, string]>([
    [half, "downloading 37/119 files, 210.4/540.1 GB, 1.1 GB/s, 5 min left"],
    [
      { ...half, phase: "verify", bytesPerSecond: null },
      "verifying 37/119 files, 210.4/540.1 GB, 5 min left",
    ],
    [{ ...silent, text: "asking the hub what is in nvidia/kimi" }, "asking the hub what is in nvidia/kimi"],
    [silent, "downloading"],
    [
      { ...silent, phase: "install", text: "resolving packages" },
      "installing vLLM 0.33.0: resolving packages",
    ],
    [
      { ...silent, phase: "install", text: "downloading torch", done: 3, total: 140 },
      "installing vLLM 0.33.0: downloading torch, 3/140 packages",
    ],
  ])("%j is told as one line", (event, line) => {
    expect(progressText(event, "vLLM 0.33.0")).toBe(line);
  });

  it("of a tool that is needed on the way is not that of vLLM", () => {
    const event: HowFar = { ...silent, phase: "install", text: "fetching the hub's client" };
    expect(progressText(event, null)).toBe("fetching the hub's client");
  });

  it("is told in units that are read at a glance", () => {
    expect([0, 999, 12_345, 3.14e9, 2.5e15].map(sizeText)).toEqual([
      "0 B",
      "999 B",
      "12 kB",
      "3.1 GB",
      "2500.0 TB",
    ]);
    expect(sizesText(1e6, 2e9)).toBe("0.0/2.0 GB");
    expect([1, 88, 100, 7200].map(durationText)).toEqual(["5 s", "90 s", "2 min", "2.0 h"]);
  });
});

describe("what came of it", () => {
  const result = {
    revision: COMMIT,
    files: 119,
    bytes: 540.1e9,
    fetchedBytes: 540.1e9,
    seconds: 512,
    refetched: [],
    hashed: 0,
    unhashed: [],
  };
  const declared = spec({ model: hubModel({ revision: "main" }) });

  it("is how much was downloaded, and once what a branch is", () => {
    const got = "downloaded 540.1 GB in 512 s (119 files, 540.1 GB)";
    expect(fetchWords(declared, result, null)).toEqual([
      `nvidia/kimi@main is ${COMMIT}, and stays that until the input changes`,
      got,
    ]);
    expect(fetchWords(declared, result, COMMIT)).toEqual([got]);
    expect(fetchWords(spec({ model: hubModel({ revision: COMMIT }) }), result, null)).toEqual([got]);
  });

  it("is what was broken, and what was there already", () => {
    const refetched = { ...result, fetchedBytes: 5e9, refetched: ["model-00003.safetensors"] };
    expect(fetchWords(declared, refetched, COMMIT)).toEqual([
      "fetched again, because it was broken: model-00003.safetensors",
      "downloaded 5.0 GB in 512 s (119 files, 540.1 GB, 535.1 GB were there)",
    ]);
  });

  it("is what could not be hashed, lest it passes for verified", () => {
    const looked = { ...result, revision: null, fetchedBytes: 0, hashed: 117 };
    const full = spec({ model: { kind: "local", path: "/srv/kimi", verify: "full" } });
    expect(fetchWords(full, looked, null)).toEqual([]);
    expect(fetchWords(full, { ...looked, unhashed: ["config.json", "x.py"] }, null)).toEqual([
      "/srv/kimi: 117 files have the hub's hash, 2 have no known hash and are not verified (config.json, x.py)",
    ]);
    const many = { ...looked, hashed: 0, unhashed: ["a", "b", "c", "d", "e", "f", "g"] };
    expect(fetchWords(full, many, null)).toEqual([
      "/srv/kimi: 0 files have the hub's hash, 7 have no known hash and are not verified (a, b, c, d, e and 2 more)",
    ]);
  });

  it("is nothing where nothing was done", () => {
    expect(fetchWords(spec(), { ...result, revision: null, fetchedBytes: 0 }, null)).toEqual([]);
    expect(installWords({ version: "0.33.0", built: false, seconds: 0.2 })).toEqual([]);
  });

  it("is what was installed, and how much came back", () => {
    expect(installWords({ version: "0.33.0", built: true, seconds: 94.6 })).toEqual([
      "installed vLLM 0.33.0 in 95 s",
    ]);
    expect(purgeWords({ freedBytes: 3.1e9, kept: ["2 files of nvidia/kimi: lab-0a1b2c3d uses them"] })).toBe(
      "purged 3.1 GB; kept 2 files of nvidia/kimi: lab-0a1b2c3d uses them",
    );
    expect(purgeWords({ freedBytes: 0, kept: [] })).toBe("purged nothing");
  });
});

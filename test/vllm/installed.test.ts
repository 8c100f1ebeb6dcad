import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { cacheFolder } from "../../scripts/places.mjs";
import { ensureUv } from "../../scripts/setup-uv.mjs";
import { makeBed, type Bed } from "../support/bed";
import { writeCountingModel } from "../support/counting-model";
import { eventually } from "../support/eventually";
import { freePort } from "../support/free-port";
import { startPackageIndex, type PackageIndex } from "../support/package-index";
import { killQuietly } from "../support/process-tree";
import { realVllm, SMALL_SERVER } from "../support/real-vllm";
import { ensureVllmWheel } from "../support/vllm-wheel";

/**
 * The real vLLM 0.32.0 (CPU build) is installed by the product itself: the real uv, the index that this machine has for everything, and
 * vLLM's own wheel from one of the test, because it has another name there. About 6 GB; uv's cache stays, so only the first run downloads.
 */

const NAMES = ["one", "two"] as const;
type Name = (typeof NAMES)[number];

let bed: Bed;
let index: PackageIndex;
let uv: string;
let tools: string;
let servers: Readonly<Record<Name, Readonly<Record<string, unknown>>>>;
const ports = new Map<Name, number>();
const uvCache = join(cacheFolder(), "uv-cache");

beforeAll(async () => {
  const vllm = realVllm();
  const wheel = await ensureVllmWheel(vllm);
  uv = await ensureUv();
  tools = mkdtempSync(join(tmpdir(), "installed-"));
  symlinkSync(uv, join(tools, "uv"));
  const python = "import sys; print(sys._base_executable)";
  symlinkSync(
    execFileSync(join(vllm, "../python"), ["-c", python], { encoding: "utf8" }).trim(),
    join(tools, "python3"),
  );
  bed = await makeBed();
  // The way to the index is what it is on this machine.
  const way = Object.entries({ ...process.env, UV_CACHE_DIR: uvCache }).filter(([name]) =>
    /^(?:UV_|PIP_|SSL_CERT_|(?:https?|no)_proxy$)/i.test(name),
  );
  const lines = way.map(([name, value]) => `export ${name}='${value}'`);
  writeFileSync(join(bed.home, ".profile"), [`PATH="${tools}:/usr/bin:/bin"`, ...lines, ""].join("\n"));
  index = await startPackageIndex({ wheels: [wheel] });
  const path = join(bed.folder, "counting");
  writeCountingModel(path, {});
  for (const name of NAMES) ports.set(name, await freePort("127.0.0.1"));
  const server = (name: Name): Readonly<Record<string, unknown>> => ({
    ...SMALL_SERVER,
    model: { path },
    vllm: { version: "0.32.0", extraIndexUrls: [index.url] },
    listen: { port: ports.get(name) },
  });
  servers = { one: server("one"), two: server("two") };
});

afterAll(async () => {
  await bed.close();
  await index.close();
  // What came from the test's index is asked for by an address that never comes again.
  execFileSync(uv, ["cache", "clean", "--quiet", "vllm"], { env: { ...process.env, UV_CACHE_DIR: uvCache } });
  rmSync(tools, { recursive: true });
});

const state = (...names: readonly string[]): string => join(bed.home, ".local/state/pulumi-vllm", ...names);
const environments = (): readonly string[] =>
  existsSync(state("environments"))
    ? readdirSync(state("environments")).filter((name) => !name.startsWith("."))
    : [];
const outputs = async (name: Name): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers()).find(({ urn }) => urn.endsWith(`::${name}`))?.outputs ?? {};

const recordSchema = z.object({
  declaration: z.object({ version: z.string(), torchBackend: z.null() }),
  version: z.string(),
  facts: z.object({ version: z.string(), vllm: z.string(), torch: z.string(), python: z.string() }),
  builtWith: z.string(),
});

/** What is kept of an environment once it is whole. */
const recordOf = (name: string): z.infer<typeof recordSchema> =>
  recordSchema.parse(JSON.parse(readFileSync(state("environments", name, "complete.json"), "utf8")));

async function answer(name: Name): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${String(ports.get(name))}/v1/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "tiny", prompt: "10 11", max_tokens: 3, temperature: 0 }),
  });
  return response.json();
}

const COUNTED = { choices: [{ text: expect.stringMatching(/^ ?12 13 14$/) }] };

describe("the real vLLM, installed by the product", () => {
  it("an installation that is cut is done again from nothing, by the same up", async () => {
    await bed.declare({ one: servers.one });
    const up = bed.project.start("up");
    const name = await eventually("an environment is begun", () => environments()[0] ?? null, 300);
    const folder = state("environments", name);
    await eventually("it has a Python", () => existsSync(join(folder, "bin/python")) || null, 300);
    const left = join(folder, "of-a-cut-attempt");
    writeFileSync(left, "");
    expect(existsSync(join(folder, "complete.json"))).toBe(false);
    const job = z
      .object({ pid: z.number() })
      .parse(JSON.parse(readFileSync(state("jobs", `install-${name}`, "job.json"), "utf8")));
    killQuietly(job.pid);

    const { code, stdout, stderr } = await up.result;
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/installed vLLM 0\.32\.0\+cpu in \d+ s/);
    expect(existsSync(left)).toBe(false);
    expect(environments()).toEqual([name]);
  });

  it("is recorded with what it is, which it was asked for, and serves from there", async () => {
    const [name = ""] = environments();
    expect(recordOf(name)).toMatchObject({
      declaration: { version: "0.32.0" },
      version: "0.32.0+cpu",
      facts: { vllm: "0.32.0+cpu", torch: expect.stringMatching(/^2\.13\.0/) },
      builtWith: expect.stringMatching(/^uv \d/),
    });
    const seen = await outputs("one");
    expect(seen).toMatchObject({ status: "ready", vllmVersion: "0.32.0+cpu", drift: [] });
    const words = readFileSync(`/proc/${String(seen["pid"])}/cmdline`, "utf8").split("\0");
    expect(words).toContain(realpathSync(state("environments", name, "bin/vllm")));
    expect(await answer("one")).toMatchObject(COUNTED);
  });

  it("is shared by a second server that declares the same", async () => {
    const [name = ""] = environments();
    const before = statSync(state("environments", name, "complete.json")).mtimeMs;
    await bed.declare(servers);
    const { code, stdout } = await bed.project.up();
    expect(code, stdout).toBe(0);
    expect(stdout).not.toContain("installed vLLM");
    expect(environments()).toEqual([name]);
    expect(statSync(state("environments", name, "complete.json")).mtimeMs).toBe(before);
    for (const one of NAMES) expect(await answer(one)).toMatchObject(COUNTED);
  });

  it("stays while one of them needs it, and goes with the last", async () => {
    const kept = environments();
    await bed.declare({ two: servers.two });
    expect((await bed.project.up()).code).toBe(0);
    expect(environments()).toEqual(kept);
    expect(await answer("two")).toMatchObject(COUNTED);
    expect((await bed.project.destroy()).code).toBe(0);
    expect(environments()).toEqual([]);
    expect(bed.processes()).toEqual([]);
  });
});

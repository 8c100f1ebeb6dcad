import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repositoryFolder } from "../../scripts/places.mjs";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { blocksIn } from "../support/documents";
import { eventually } from "../support/eventually";
import { makeNetwork, type HostNetwork } from "../support/host-network";
import { insidePath } from "../support/inside-host";
import { newcomer, type Newcomer } from "../support/newcomer";
import { makeSystemdHost, type SystemdHost } from "../support/systemd-host";
import { siteOnMachine, type Site, type Traces } from "./site";

/** The README's first ten minutes, typed as they stand there, block by block. */

const readme = readFileSync(join(repositoryFolder, "README.md"), "utf8");
const [, section = ""] = /^## Your first server, in ten minutes\n(.*?)^## /ms.exec(readme) ?? [];
const blocksOf = (language: string): readonly string[] => blocksIn(section, language);
const [project = "", config = "", up = "", tunnel = "", question = "", change = "", end = ""] =
  blocksOf("sh");
const [startPrinted = "", changePrinted = "", endPrinted = ""] = blocksOf("text");

let network: HostNetwork;
let host: SystemdHost;
let site: Site;
let empty: Traces;
let person: Newcomer;

beforeAll(async () => {
  network = await makeNetwork();
  host = await makeSystemdHost({ name: "gpu7", users: [{ name: "ann", sudo: true }] }, network);
  site = siteOnMachine(host, "ann");
  const model = { ...TINY_LLAMA, max_position_embeddings: 16384 };
  writeCheckpoint(insidePath(host, "/models/Qwen3-8B"), { "config.json": model });
  writeFileSync(join(site.home(), ".profile"), "PATH=/opt/vllm/bin:$PATH\n");
  empty = site.traces();
  person = await newcomer(host, "ann", network.join());
});

afterAll(async () => {
  await person.leave();
  await host.close();
  await network.close();
});

/** Whether each line of a printed block came, whatever its numbers and their units are; what Pulumi puts before them is its own. */
function expectPrinted(out: string, block: string): void {
  const numberless = (text: string): string => text.replace(/\d[\d.,]*( (s|min)\b)?/g, "N");
  for (const line of block.trim().split("\n")) {
    const [, own = ""] = /^(?:.*\(\d+s\) )?(.*)$/.exec(line) ?? [];
    expect(numberless(out)).toContain(numberless(own));
  }
}

it("has all its blocks", () => {
  expect([blocksOf("sh").length, blocksOf("text").length]).toEqual([7, 3]);
});

it("1. a project: the package is packed and installed", async () => {
  await person.type(project);
  expect(JSON.parse(readFileSync(join(person.folder, "package.json"), "utf8")).dependencies).toMatchObject({
    "pulumi-vllm": "file:pulumi-vllm-0.1.0.tgz",
  });
});

it("2. and 3. configured, looked at, started: it prints what it says", async () => {
  // What the section shows of the program is the program.
  const [shown = ""] = blocksOf("typescript");
  expect(readFileSync(join(person.folder, "index.ts"), "utf8")).toContain(shown);
  await person.type(config);
  const out = await person.type(up);
  expect(out).toContain("nothing speaks against a start");
  // Which phases are seen before that depends on how long they take.
  expectPrinted(out, startPrinted.trim().split("\n").at(-1) ?? "");
});

it("4. answers through the tunnel", async () => {
  person.typeElsewhere(tunnel.trim());
  const answer = await eventually("the tunnel is open", () => person.type(question).catch(() => null));
  const { model, choices }: { model: string; choices: readonly unknown[] } = JSON.parse(answer);
  expect([model, choices.length]).toEqual(["llm", 1]);
});

it("5. a change is told before it is made", async () => {
  const [, edited = ""] = /\*\*5\. Change it\.\*\* Write `([^`]+)`/.exec(section) ?? [];
  const program = join(person.folder, "index.ts");
  writeFileSync(program, readFileSync(program, "utf8").replace(/maxModelLen: \d+/, edited));
  const out = await person.type(change);
  expectPrinted(out, changePrinted);
  expect(out.indexOf("restart: ")).toBeLessThan(out.indexOf("ready in "));
  const models = await person.type('curl -s "$(pulumi stack output baseUrl)/models"');
  expect(JSON.parse(models).data).toMatchObject([{ id: "llm", max_model_len: 16384 }]);
});

it("6. the GPUs are given back, and nothing is left on the host", async () => {
  expectPrinted(await person.type(end), endPrinted);
  expect(site.traces()).toEqual(empty);
});

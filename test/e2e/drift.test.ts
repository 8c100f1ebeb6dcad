import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Hand, runningServers, urlOf, type Running } from "../support/changes-by-hand";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import type { PulumiResult } from "../support/pulumi-cli";
import { freePort } from "../support/free-port";
import { layOutStandIn } from "../support/stand-in";

/** One server for each thing that can be changed on a host past the tool; all are looked at and repaired together. */

// prettier-ignore
const NAMES = [
  "edited", "reread", "variable", "key", "overlay", "version", "port", "gone", "elsewhere", "ended", "foreign", "hung", "busy", "passing",
] as const;
type Name = (typeof NAMES)[number];

/** GPUs that nobody has at first. */
const SPARE = [
  "GPU-0000000b-0000-4000-8000-000000000000",
  "GPU-0000000b-0000-4000-8000-000000000001",
] as const;

let bed: GpuHost;
let hand: Hand;
let before: ReadonlyMap<string, Running>;
let first: PulumiResult;
let preview: PulumiResult;
let up: PulumiResult;
let after: ReadonlyMap<string, Running>;
let again: PulumiResult;
let recorded: readonly ReadonlyMap<string, Running>[];
let otherPort: number;
let squatter: Server;
const client = new AbortController();

beforeAll(async () => {
  bed = await gpuHost();
  hand = new Hand(bed);
  const gpuFolder = dirname(bed.nvidiaSmi);
  const state = join(gpuFolder, "state");
  const uuids = NAMES.map((_, index) => `GPU-0000000a-0000-4000-8000-${String(index).padStart(12, "0")}`);
  const setGpus = (rows: readonly string[]): void => {
    writeFileSync(
      join(gpuFolder, "gpus.json"),
      JSON.stringify({ state, gpus: rows.map((uuid) => ({ uuid })) }),
    );
  };
  setGpus([...uuids, ...SPARE]);
  const upgraded = layOutStandIn(join(bed.folder, "upgraded"), { gpuFolder });
  const hold = (name: string): string => join(bed.folder, `hold-${name}`);
  const declared: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const name of NAMES) {
    declared[name] = {
      ...(await bed.tinyServer()),
      engine: { maxModelLen: name === "busy" ? 256 : 128 },
      service: { restart: { delaySeconds: 0.2 } },
      environment: {
        STAND_IN_START_SECONDS: "0.3",
        STAND_IN_STOP_SECONDS: "0",
        ...(name === "hung" || name === "busy" ? { STAND_IN_HOLD_TOKENS: hold(name) } : {}),
        ...(name === "busy" ? { STAND_IN_TOKEN_SECONDS: "2" } : {}),
        ...(name === "variable" ? { OMP_NUM_THREADS: "2" } : {}),
      },
      ...(name === "key" ? { apiKey: "sk-declared" } : {}),
      ...(name === "overlay" ? { configOverrides: { rope_theta: 20000 } } : {}),
      ...(name === "version" ? { vllm: { executable: upgraded.executable } } : {}),
    };
  }
  await bed.declare(declared);
  const created = await bed.project.up();
  expect(created.code, created.stdout).toBe(0);
  before = await runningServers(bed);
  const server = (name: Name): Running => of(before, name);
  const gpuOf = (name: Name): string => String([server(name).outputs["gpuUuids"]].flat()[0]);

  hand.edit(server("edited"), "max-model-len", 64);
  const undo = hand.edit(server("passing"), "max-model-len", 64);
  hand.edit(server("reread"), "max-model-len", 64);
  await hand.restart(server("reread"));
  hand.slipIn(bed.executable, "OMP_NUM_THREADS", "4");
  await hand.restart(server("variable"));
  hand.slipIn(bed.executable, "VLLM_API_KEY", "sk-by-hand");
  await hand.restart(server("key"));
  writeFileSync(join(String(server("overlay").outputs["modelPath"]), "config.json"), "{}");
  layOutStandIn(join(bed.folder, "upgraded"), { gpuFolder, version: "0.32.1" });
  otherPort = await freePort("127.0.0.1");
  hand.edit(server("port"), "port", otherPort);
  await hand.restart(server("port"), otherPort);
  setGpus([...uuids, ...SPARE].filter((uuid) => uuid !== gpuOf("gone")));
  hand.compute(server("elsewhere"), SPARE[1]);
  await hand.stop(server("ended"));
  await hand.stop(server("foreign"));
  squatter = createServer().listen(Number(urlOf(server("foreign").outputs).port), "127.0.0.1");
  writeFileSync(hold("hung"), String(server("hung").outputs["pid"]));
  const { outputs } = server("busy");
  const answer = await fetch(`${String(outputs["baseUrl"])}/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: outputs["servedModelName"], prompt: "a", max_tokens: 250, stream: true }),
    signal: client.signal,
  });
  expect(answer.status).toBe(200);
  writeFileSync(hold("busy"), String(outputs["pid"]));

  first = await bed.project.refresh();
  undo();
  const seen = await runningServers(bed);
  await bed.project.refresh();
  recorded = [seen, await runningServers(bed)];
  preview = await bed.project.preview();
  await new Promise((resolve) => squatter.close(resolve));
  client.abort();
  writeFileSync(hold("busy"), "");
  up = await bed.project.up();
  after = await runningServers(bed);
  again = await bed.project.preview(["--expect-no-changes"]);
}, 900_000);

afterAll(async () => {
  client.abort();
  await bed.close();
}, 600_000);

function of(servers: ReadonlyMap<string, Running>, name: Name): Running {
  const found = servers.get(name);
  if (found === undefined) throw new Error(`no server ${name}`);
  return found;
}

/** What a preview says of a server on its line, and at which properties it shows a difference. */
function shown(name: Name): { readonly places: readonly string[]; readonly words: string } {
  const isOf = (urn: string | undefined): boolean => urn?.endsWith(`::${name}`) === true;
  const step = preview.events.find(({ resourcePreEvent: event }) => isOf(event?.metadata.urn));
  const places = Object.keys(step?.resourcePreEvent?.metadata.detailedDiff ?? {}).sort();
  const said = preview.events.flatMap(({ diagnosticEvent: event }) =>
    event !== undefined && isOf(event.urn) ? [event.message.trim()] : [],
  );
  return { places, words: said.join("\n") };
}

const STAYS = "it stays the same process";
const ANEW = "it is started anew";

const ROWS: readonly (readonly [string, Name, readonly string[], RegExp, typeof STAYS | typeof ANEW])[] = [
  [
    "a flag edited in serve.yaml since the start",
    "edited",
    ["engine.maxModelLen"],
    /^no restart: engine\.maxModelLen: 64 in serve\.yaml since it was started, declared 128$/,
    STAYS,
  ],
  [
    "a flag edited in serve.yaml, with which the server was then restarted by itself",
    "reread",
    ["engine.maxModelLen"],
    /^restart: engine\.maxModelLen: 64 in serve\.yaml, with which the running server was started, declared 128; down/,
    ANEW,
  ],
  [
    "another value of an environment variable in the running process",
    "variable",
    ["environment.OMP_NUM_THREADS"],
    /^restart: environment\.OMP_NUM_THREADS: another value in the running process; down/,
    ANEW,
  ],
  [
    "another secret in the running process, which refuses the declared one",
    "key",
    ["apiKey", "status"],
    /^restart: status: it answers no token: .*HTTP 401.*; apiKey: another value in the running process; down/,
    ANEW,
  ],
  [
    "an overlay's file changed",
    "overlay",
    ["modelPath"],
    /^no restart: modelPath: in \S+ config\.json was changed, since the server was started$/,
    STAYS,
  ],
  [
    "another version of vLLM installed",
    "version",
    ["vllmVersion"],
    /^restart: vllmVersion: 0\.32\.0 runs, 0\.32\.1 is installed now; down/,
    ANEW,
  ],
  [
    "another port listened on",
    "port",
    ["listen.port", "status"],
    /^restart: status: .*; listen\.port: \d+ is listened on, declared \d+; down/,
    ANEW,
  ],
  [
    "a GPU that is gone",
    "gone",
    ["gpuUuids"],
    /^restart: gpuUuids: GPU-0000000a\S+ not on the host any more; started on GPU-0000000a\S+; down/,
    ANEW,
  ],
  [
    "another GPU in use",
    "elsewhere",
    ["gpuUuids"],
    /^restart: gpuUuids: computes on GPU-0000000b\S+000001; started on GPU-0000000a\S+; down/,
    ANEW,
  ],
  [
    "an end by hand",
    "ended",
    ["status"],
    /^start: status: it ended together with its supervisor, which left no word of it$/,
    ANEW,
  ],
  [
    "a foreign process in the server's place",
    "foreign",
    ["status"],
    /^start: status: it ended .*; port \d+ is taken by a foreign process, .* \(process \d+ of \S+: .*vitest.*\)$/,
    ANEW,
  ],
  [
    "a server that is healthy and answers no token",
    "hung",
    ["status"],
    /^restart: status: it hangs: it answers no token while \/health is 200 \(.*timed out; meanwhile it worked for nobody\); down/,
    ANEW,
  ],
];

it.each(ROWS)(
  "%s is shown at its property, and just that is repaired (%s)",
  (_, name, places, words, process) => {
    expect(shown(name)).toEqual({ places: [...places, "drift"].sort(), words: expect.stringMatching(words) });
    const now = of(after, name).outputs;
    const { pid, generation } = of(recorded[1] ?? before, name).outputs;
    expect(now).toMatchObject({
      status: "ready",
      drift: [],
      restarts: 0,
      generation: Number(generation) + (process === ANEW ? 1 : 0),
    });
    expect(now["pid"] === pid).toBe(process === STAYS);
  },
);

it("the update of all of them ends well, and the next preview shows nothing", () => {
  expect([up.code, up.stdout]).toEqual([0, expect.stringContaining("~ 12 updated")]);
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("15 unchanged")]);
});

it("what was found stands in the inputs of the state, what was declared in the outputs", () => {
  const [seen = before] = recorded;
  const { inputs, outputs } = of(seen, "edited");
  expect([inputs, outputs]).toMatchObject([
    { engine: { maxModelLen: 64 } },
    { engine: { maxModelLen: 128 } },
  ]);
  expect(of(seen, "port").inputs).toMatchObject({ listen: { port: otherPort } });
  expect(of(after, "edited").inputs).not.toHaveProperty("drift");
});

it("a server that is too busy to answer in time is none of it", () => {
  expect(first.stdout).toContain("busy: POST /v1/completions: timed out; meanwhile it worked for others");
  expect(shown("busy")).toEqual({ places: [], words: "" });
  const { pid } = of(before, "busy").outputs;
  expect(of(after, "busy").outputs).toMatchObject({ pid, generation: 1, status: "ready", drift: [] });
});

it("what went away by itself is gone with the next refresh, the rest shows the same again", () => {
  const drift = recorded.map((servers) => NAMES.map((name) => [name, of(servers, name).outputs["drift"]]));
  const line = "engine.maxModelLen: 64 in serve.yaml since it was started, declared 128";
  expect(drift[0]).toContainEqual(["passing", [line]]);
  expect(drift[1]).toEqual(drift[0]?.map(([name, lines]) => [name, name === "passing" ? [] : lines]));
  expect(shown("passing")).toEqual({ places: [], words: "" });
});

it("no secret is shown, neither the declared one nor the one found", () => {
  const all = JSON.stringify([first, preview, up, [...before], ...recorded.map((servers) => [...servers])]);
  expect(all).not.toMatch(/sk-(declared|by-hand)/);
});

it("a destroy right after a refresh that found something leaves nothing", async () => {
  hand.edit(of(after, "edited"), "max-model-len", 64);
  const refresh = await bed.project.refresh();
  expect(refresh.stdout).toContain("warning: engine.maxModelLen: 64 in serve.yaml");
  expect((await bed.project.destroy()).code).toBe(0);
  expect([bed.processes(), bed.serverFolders(), bed.sharedMemory()]).toEqual([[], [], []]);
});

import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_LLAMA } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { askedFor, hubHost, type HubHost } from "../support/hub-host";
import type { PulumiResult, RunningPulumi } from "../support/pulumi-cli";

/** Who may have a model: what is said to whom, and where a token is seen. */

const COMMIT = "a".repeat(40);
const SHARD = "model.safetensors";
const RIGHT = "hf_right-4711-nowhere-to-be-seen";
const WRONG = "hf_wrong-0815-nowhere-to-be-seen";
const EXPIRED = "hf_expired-99-nowhere-to-be-seen";
const FILES = { "config.json": { json: TINY_LLAMA }, [SHARD]: { safetensors: 1_000_000 } };
const REVISIONS = [{ sha: COMMIT, refs: ["main"], files: FILES }];

type Inputs = Readonly<Record<string, unknown>>;

let bed: HubHost;
let refused: PulumiResult;
const messages = new Map<string, string>();

/** Declarations that the hub refuses, and what has to be said of each. */
const REFUSALS: readonly (readonly [name: string, model: Inputs, found: string, change: string])[] = [
  [
    "gated-without",
    { repo: "org/gated" },
    "its files are gated and no token was sent, need the token of an account that was given access",
    "ask for access on the page of org/gated at HUB, then set model.token (or HF_TOKEN on the host) to a token of that account",
  ],
  [
    "gated-wrong",
    { repo: "org/gated", token: WRONG },
    "its files are gated and the token's account has no access, need one that was given access",
    "ask for access on the page of org/gated at HUB with the token's account, or set model.token to a token of one that has it",
  ],
  [
    "gated-expired",
    { repo: "org/gated", token: EXPIRED },
    "the token is not accepted, need a valid one or none",
    "set model.token to a valid token; where none is declared, the one of HF_TOKEN or `hf auth login` on the host is sent",
  ],
  [
    "private-without",
    { repo: "org/private" },
    "it does not exist, or is private and not shown without a token (the hub does not say which)",
    "check the name org/private in model; if it is private, set model.token to a token of an account that may read it",
  ],
  [
    "private-wrong",
    { repo: "org/private", token: WRONG },
    "it does not exist, or is private and not shown to the token's account (the hub does not say which)",
    "check the name org/private in model; if it is private, set model.token to a token of an account that may read it",
  ],
  [
    "missing",
    { repo: "org/mistyped", token: RIGHT },
    "it does not exist, or is private and not shown to the token's account (the hub does not say which)",
    "check the name org/mistyped in model; if it is private, set model.token to a token of an account that may read it",
  ],
  [
    "revision",
    { repo: "org/private", token: RIGHT, revision: "v9" },
    "the repository has no such branch, tag or commit, need one of its own",
    "set model.revision to a branch, a tag or a whole commit hash (40 hexadecimal digits) of org/private",
  ],
];

beforeAll(async () => {
  bed = await hubHost({
    repositories: {
      "org/gated": { gated: true, tokens: [RIGHT], revisions: REVISIONS },
      "org/private": { private: true, tokens: [RIGHT], revisions: REVISIONS },
    },
    invalidTokens: [EXPIRED],
  });
  const servers = await Promise.all(
    REFUSALS.map(async ([name, model]): Promise<[string, Inputs]> => [name, await server(model)]),
  );
  await bed.declare(Object.fromEntries(servers));
  refused = await bed.project.up();
  for (const part of refused.stdout.split("VllmServer (").slice(1))
    messages.set(part.slice(0, part.indexOf(")")), part);
});

afterAll(async () => {
  await bed.close();
});

async function server(model: Inputs): Promise<Inputs> {
  return {
    model: { endpoint: bed.hub.url, ...model },
    vllm: { executable: bed.executable },
    listen: { port: await freePort("127.0.0.1") },
    environment: { STAND_IN_START_SECONDS: "0.5" },
  };
}

const host = (): string => new URL(bed.hub.url).host;

/** Files below the folder that hold any of the tokens. */
function holding(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) return [];
    const text = readFileSync(path, "latin1");
    return [RIGHT, WRONG, EXPIRED].some((token) => text.includes(token)) ? [path] : [];
  });
}

/** Files of the tool's state on the host that others than its user may read; what vLLM itself leaves in its TMPDIR is its own. */
function open(): readonly string[] {
  return readdirSync(bed.state(""), { withFileTypes: true, recursive: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    if (basename(entry.parentPath) === "tmp") return [];
    return entry.isFile() && (statSync(path).mode & 0o077) !== 0 ? [path] : [];
  });
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** Of every process of this machine. */
function processesWith(token: string, file: "cmdline" | "environ"): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, "latin1").includes(token);
      } catch {
        return false;
      }
    })
    .map(Number);
}

describe("a model that may not be had", () => {
  it.each(REFUSALS)("%s: is refused, and it is said what to do", (name, _, found, change) => {
    const message = messages.get(name) ?? "";
    expect(message).toContain(`: ${found}`);
    expect(message).toContain(`change: ${change.replace("HUB", host())}`);
  });

  it("is told apart: gated, private or missing, and a missing revision are different errors", () => {
    const found = new Set(REFUSALS.map(([, , words]) => words));
    expect([REFUSALS.length, found.size]).toEqual([7, 6]);
    expect(refused.stdout).toContain(`Cannot find revision v9 of org/private at ${host()}`);
  });

  it("starts and downloads nothing, and no token of it is shown or kept", async () => {
    expect(bed.processes()).toEqual([]);
    expect(bed.clientCalls()).toEqual([]);
    expect(JSON.stringify([refused, await bed.project.stackExport()])).not.toMatch(/nowhere-to-be-seen/);
    expect(holding(bed.home)).toEqual([]);
  });
});

describe("the right token", () => {
  let running: RunningPulumi;

  it("goes to the client by its environment, and is in no command line and no file while it downloads", async () => {
    await bed.hub.setFaults([{ kind: "stall", file: SHARD, afterBytes: 1000 }]);
    await bed.declare({ gated: await server({ repo: "org/gated", token: RIGHT }) });
    running = bed.project.start("up");
    await askedFor(bed.hub, "org/gated", SHARD);
    const having = processesWith(RIGHT, "environ");
    expect(having.length).toBeGreaterThan(0);
    // One that has ended since has no command any more.
    const commands = having.map(commandOf).filter((command) => command !== "");
    expect(commands.filter((command) => !command.includes(" download --revision "))).toEqual([]);
    expect(processesWith(RIGHT, "cmdline")).toEqual([]);
    expect(holding(bed.home)).toEqual([]);
    expect(open()).toEqual([]);
  });

  it("brings the model, and is then seen nowhere: not in the state, the output, the log, the server", async () => {
    await bed.hub.setFaults([]);
    const up = await running.result;
    expect({ code: up.code, stderr: up.stderr }, up.stdout).toEqual({ code: 0, stderr: "" });
    expect(processesWith(RIGHT, "environ")).toEqual([]);
    expect(processesWith(RIGHT, "cmdline")).toEqual([]);
    expect(holding(bed.home)).toEqual([]);
    expect(open()).toEqual([]);
    expect(JSON.stringify(up)).not.toContain(RIGHT);
    for (const kept of [".state", ".home"]) expect(holding(join(bed.project.folder, kept))).toEqual([]);
    expect(bed.sshd.logs()).not.toContain(RIGHT);
    expect((await bed.hub.state()).leakedTokens).toEqual([]);
    expect((await bed.project.servers()).at(0)?.outputs).toMatchObject({ status: "ready" });
  });

  it("is not needed any more for what is there, and neither is another one a reason to fetch", async () => {
    await bed.hub.clearCounts();
    const inputs = (await bed.project.servers())[0]?.inputs ?? {};
    await bed.declare({
      gated: { ...(await server({ repo: "org/gated", token: WRONG })), listen: inputs["listen"] },
    });
    const up = await bed.project.up();
    expect(up.stdout).toContain("no restart: model.token changed");
    expect((await bed.hub.state()).requests).toEqual([]);
  });
});

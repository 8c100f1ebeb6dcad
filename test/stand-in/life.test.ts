import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { listens, sessionOf } from "../vllm/observations-proc";
import { startServer, type Server } from "../vllm/observations-server";
import { install, SMALL, type Installed } from "./subject";

/** What vllm-032 was seen to do and a contract test cannot wait for; sources are named with the rules. */

let installed: Installed;
let model: string;
beforeAll(() => {
  installed = install();
  model = writeCheckpoint(join(installed.folder, "tiny"), { "config.json": TINY_LLAMA });
});
afterAll(() => {
  installed.remove();
});

const start = (config: string, environment: Readonly<Record<string, string>> = {}): Promise<Server> =>
  startServer(installed.subject(environment), { model, config: SMALL + config, environment: {} });

async function stream(server: Server, tokens: number): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}/v1/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ prompt: [1], max_tokens: tokens, stream: true }),
  });
}

describe.concurrent("stopping", () => {
  it("lets a running request end when there is a shutdown timeout", async () => {
    const server = await start("shutdown-timeout: 20\n", { STAND_IN_TOKEN_SECONDS: "0.1" });
    try {
      await server.ready();
      const response = await stream(server, 8);
      process.kill(server.pid, "SIGTERM");
      const text = await response.text();
      expect(text.match(/"finish_reason":"(\w+)"/g)).toEqual(['"finish_reason":"length"']);
      expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
      expect(await server.exited).toEqual({ code: 0, signal: null });
    } finally {
      await server.discard();
    }
  });

  it("aborts it at once without one, and leaves the rendezvous file", async () => {
    const server = await start("", { STAND_IN_TOKEN_SECONDS: "0.1" });
    try {
      await server.ready();
      const response = await stream(server, 100);
      process.kill(server.pid, "SIGTERM");
      expect(await response.text()).toContain('"finish_reason":"abort"');
      expect(await server.exited).toEqual({ code: 0, signal: null });
      expect(server.log()).toContain("force killing sub process VLLM::Worker");
      expect(readdirSync(server.temporary).filter((name) => name.startsWith("vllm_dist_"))).toHaveLength(1);
    } finally {
      await server.discard();
    }
  });

  it("waits for the client for ever once the timeout has passed", async () => {
    const server = await start("shutdown-timeout: 1\n", { STAND_IN_TOKEN_SECONDS: "0.1" });
    try {
      await server.ready();
      const response = await stream(server, 100);
      process.kill(server.pid, "SIGTERM");
      await server.logged(/Waiting for connections to close\. \(CTRL\+C to force quit\)/);
      process.kill(server.pid, "SIGTERM");
      expect(sessionOf(server.pid).map(({ role }) => role)).toEqual(["api server", "resource tracker"]);
      await response.body?.cancel();
      expect(await server.exited).toEqual({ code: 0, signal: null });
    } finally {
      await server.discard();
    }
  });
});

describe.concurrent("a TERM before it is ready", () => {
  it("ends it while it imports", async () => {
    const server = await start("", { STAND_IN_START_SECONDS: "10" });
    try {
      process.kill(server.pid, "SIGTERM");
      expect(await server.exited).toEqual({ code: null, signal: "SIGTERM" });
    } finally {
      await server.discard();
    }
  });

  it("hangs it while the engine imports, and a second one ends it with SIGINT", async () => {
    const server = await start("", { STAND_IN_START_SECONDS: "8" });
    try {
      await server.logged(/Using max model len/);
      process.kill(server.pid, "SIGTERM");
      await server.logged(/init engine/);
      expect(server.log()).not.toContain("Supported tasks");
      process.kill(server.pid, "SIGTERM");
      expect(await server.exited).toEqual({ code: null, signal: "SIGINT" });
      await server.until("end of the session", () => sessionOf(server.pid).length === 0);
    } finally {
      await server.discard();
    }
  });
});

describe("two that start together on one port", () => {
  it("both bind it; the later one says it is up and never listens", async () => {
    const first = await start("", { STAND_IN_START_SECONDS: "3" });
    const second = await startServer(installed.subject({ STAND_IN_START_SECONDS: "3" }), {
      model,
      config: SMALL,
      environment: {},
      port: first.port,
    });
    try {
      await Promise.all([
        first.logged(/Application startup complete/),
        second.logged(/Application startup complete/),
      ]);
      await first.ready();
      const winners = [first, second].filter(({ pid, port }) => listens(pid, port));
      expect(winners).toHaveLength(1);
      expect([first, second].map(({ pid }) => sessionOf(pid).length)).toEqual([4, 4]);
    } finally {
      await Promise.all([first.discard(), second.discard()]);
    }
  });
});

describe("GPU memory", () => {
  it("is held by the workers on the GPUs they were given, as nvidia-smi tells, and comes back", async () => {
    const query = (what: string): readonly string[] =>
      execFileSync(join(installed.nvidiaSmiFolder, "nvidia-smi"), [what, "--format=csv,noheader,nounits"], {
        encoding: "utf8",
        env: {},
      })
        .trim()
        .split("\n")
        .filter((line) => line !== "");
    const gpus = query("--query-gpu=index,uuid,name,memory.total,memory.used,compute_cap,driver_version").map(
      (line) => line.split(", "),
    );
    expect(
      gpus.map(([index, , name, total, used, capability]) => [index, name, total, used, capability]),
    ).toEqual(
      Array.from({ length: 8 }, (_, index) => [
        `${index}`,
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        "97887",
        "0",
        "12.0",
      ]),
    );
    const uuids = [gpus[5]?.[1] ?? "", gpus[2]?.[1] ?? ""];
    const server = await startServer(installed.subject(), {
      model,
      config: `${SMALL}tensor-parallel-size: 2\nshutdown-timeout: 20\n`,
      environment: { CUDA_VISIBLE_DEVICES: uuids.join(",") },
    });
    try {
      await server.ready();
      const workers = sessionOf(server.pid).filter(({ role }) => role.startsWith("VLLM::Worker_TP"));
      const held = [...query("--query-compute-apps=gpu_uuid,pid,used_memory")].sort();
      expect(held).toEqual(
        workers.map(({ pid, role }) => `${uuids[Number(role.at(-1))]}, ${pid}, 90056`).sort(),
      );
      process.kill(server.pid, "SIGTERM");
      await server.exited;
      expect(query("--query-compute-apps=gpu_uuid,pid,used_memory")).toEqual([]);
      expect(query("--query-gpu=memory.used")).toEqual(Array(8).fill("0"));
    } finally {
      await server.discard();
    }
  });
});

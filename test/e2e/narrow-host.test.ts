import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeBed, type Bed } from "../support/bed";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import type { PulumiResult } from "../support/pulumi-cli";
import { freePort } from "../support/free-port";
import { startSshd, type Sshd } from "../support/sshd";
import { layOutStandIn } from "../support/stand-in";

/** Several servers on one host that lets few sessions in: one connection, few commands, and no secret on any command line. */

const SERVERS = 5;
const API_KEY = "sk-77aa-on-no-command-line";
const HF_TOKEN = "hf_on-no-command-line-either";

let bed: Bed;
let narrow: Sshd;
let commandLines: ReturnType<typeof watchCommandLines>;

beforeAll(async () => {
  bed = await makeBed();
  const home = join(bed.folder, "narrow-home");
  mkdirSync(home);
  narrow = await startSshd({ home, config: ["MaxSessions 2"] });
  const { executable } = layOutStandIn(join(bed.folder, "stand-in"), {});
  const { address, port, user, privateKey, hostKeyLine } = narrow;
  const server = {
    host: { host: address, port, user, privateKey, hostKey: hostKeyLine },
    model: { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA }) },
    vllm: { executable },
    apiKey: API_KEY,
    environment: { STAND_IN_START_SECONDS: "0.2", HF_TOKEN },
  };
  const names = Array.from({ length: SERVERS }, (_none, index) => `server${String(index)}`);
  const ports = await Promise.all(names.map(() => freePort("127.0.0.1")));
  await bed.declare(
    Object.fromEntries(names.map((name, index) => [name, { ...server, listen: { port: ports[index] } }])),
  );
  commandLines = watchCommandLines([API_KEY, HF_TOKEN, privateKey.split("\n")[2] ?? ""]);
});

afterAll(async () => {
  commandLines.end();
  await bed.close();
  await narrow.stop();
});

/** Looks at every process's command line all the time; tells those that held one of the texts. */
function watchCommandLines(texts: readonly string[]): { readonly end: () => readonly string[] } {
  const found = new Set<string>();
  const timer = setInterval(() => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      const line = read(`/proc/${pid}/cmdline`);
      if (texts.some((text) => line.includes(text))) found.add(line);
    }
  }, 5);
  return {
    end: () => {
      clearInterval(timer);
      return [...found];
    },
  };
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** What one verb cost on the host. */
async function cost(
  verb: "up" | "refresh" | "destroy",
): Promise<PulumiResult & { readonly connections: number; readonly commands: number }> {
  const before = [narrow.connectionCount(), narrow.execCount()] as const;
  // By default Pulumi works on four resources a core at once, which on a small machine cuts a refresh in two.
  const result = await bed.project[verb](["--parallel", "32"]);
  expect(result).toMatchObject({ code: 0 });
  return {
    ...result,
    connections: narrow.connectionCount() - before[0],
    commands: narrow.execCount() - before[1],
  };
}

describe("many servers on a host that lets few sessions in", () => {
  it("come up over one connection, are looked at by one command, and go over one connection", async () => {
    expect((await cost("up")).connections).toBe(1);
    expect((await bed.project.servers()).map((server) => server.outputs?.["status"])).toEqual(
      Array.from({ length: SERVERS }, () => "ready"),
    );
    expect(await cost("refresh")).toMatchObject({ connections: 1, commands: 1 });
    const destroyed = await cost("destroy");
    expect(destroyed.connections).toBe(1);
    // One look for all, then one command a server.
    expect(destroyed.commands).toBeLessThanOrEqual(1 + SERVERS);
    expect(commandLines.end()).toEqual([]);
  });
});

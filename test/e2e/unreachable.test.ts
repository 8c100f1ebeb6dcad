import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCutProxy, type CutProxy } from "../support/cut-proxy";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import type { StateResource } from "../support/pulumi-cli";

/** Unreachable is not gone: whatever keeps a host from answering, its server is neither forgotten nor made anew. */

type Inputs = Readonly<Record<string, unknown>>;

let bed: GpuHost;
let proxy: CutProxy;
let knownHostsFile: string;
let tiny: Inputs;

beforeAll(async () => {
  bed = await gpuHost();
  proxy = await startCutProxy({ target: bed.sshd });
  knownHostsFile = join(bed.folder, "known_hosts");
  writeFileSync(knownHostsFile, `[127.0.0.1]:${String(proxy.port)} ${bed.sshd.hostKeyLine}\n`);
  const { hostKey: _, ...host } = bed.host;
  const patience = { dialErrorLimit: 1, perDialTimeout: 5 };
  tiny = {
    ...(await bed.tinyServer()),
    host: { ...host, host: "127.0.0.1", port: proxy.port, knownHostsFile, ...patience },
    // As a policy that stands in a program for good.
    onDelete: { unreachableHost: "forget" },
  };
  await bed.declare({ tiny });
  expect((await bed.project.up()).code).toBe(0);
});

afterAll(async () => {
  await bed.close();
  await proxy.close();
});

/** What stands in state in the clear: ciphertext changes with every write. */
function plain(servers: readonly StateResource[]): unknown {
  return servers.map(({ urn, id, inputs, outputs, initErrors }) => ({
    urn,
    id,
    inputs: { ...inputs, host: null },
    outputs: { ...outputs, host: null },
    initErrors,
  }));
}

const pids = (): readonly number[] => bed.processes().map(({ pid }) => pid);

interface Fault {
  readonly what: string;
  readonly words: RegExp;
  /** Breaks the way to the host, and returns what mends it. */
  readonly begin: () => Promise<() => Promise<void>>;
}

const FAULTS: readonly Fault[] = [
  {
    what: "takes the connection and says nothing",
    words: /no answer within the time for one try/,
    begin: async () => {
      proxy.stall();
      return () => {
        proxy.stall(false);
        return Promise.resolve();
      };
    },
  },
  {
    what: "refuses the connection",
    words: /connection refused: nothing listens on the port/,
    begin: async () => {
      await proxy.shut(true);
      return () => proxy.shut(false);
    },
  },
  {
    what: "does not answer at all",
    words: /no answer within the time for one try/,
    begin: async () => {
      await proxy.shut(true);
      const script = join(import.meta.dirname, "../support/full_port.py");
      const full = spawn("python3", [script, String(proxy.port)], { stdio: ["pipe", "pipe", "inherit"] });
      await once(full.stdout, "data");
      return async () => {
        full.stdin.end();
        await once(full, "exit");
        await proxy.shut(false);
      };
    },
  },
  {
    what: "resets the connection",
    words: /connection reset|the connection ended before SSH began/,
    begin: () => {
      proxy.refuse(true);
      return Promise.resolve(() => {
        proxy.refuse(false);
        return Promise.resolve();
      });
    },
  },
  {
    what: "shows another key",
    words: /Cannot trust host/,
    begin: () => {
      const known = readFileSync(knownHostsFile, "utf8");
      const stranger = "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
      writeFileSync(knownHostsFile, `[127.0.0.1]:${String(proxy.port)} ssh-ed25519 ${stranger}\n`);
      return Promise.resolve(() => {
        writeFileSync(knownHostsFile, known);
        return Promise.resolve();
      });
    },
  },
];

describe.each(FAULTS)("a host that $what", ({ words, begin }) => {
  it("makes refresh and an up that has to reach it errors, and costs neither state nor server", async () => {
    const before = { state: plain(await bed.project.servers()), pids: pids() };
    const unchanged = async (): Promise<void> => {
      expect({ state: plain(await bed.project.servers()), pids: pids() }).toEqual(before);
    };
    const mend = await begin();
    try {
      for (const run of [() => bed.project.refresh(), () => bed.project.up(["--refresh"])]) {
        const { code, stdout } = await run();
        expect([code === 0, stdout]).toEqual([false, expect.stringMatching(words)]);
        expect(stdout).not.toMatch(/creat|replac|delet/);
        await unchanged();
      }
      // Without a change there is nothing to ask the host.
      const connections = proxy.connectionCount();
      expect((await bed.project.up(["--expect-no-changes"])).code).toBe(0);
      expect(proxy.connectionCount()).toBe(connections);
      await bed.declare({ tiny: { ...tiny, engine: { maxModelLen: 64 } } });
      const changed = await bed.project.up();
      expect([changed.code === 0, changed.stdout]).toEqual([false, expect.stringMatching(words)]);
      expect(changed.stdout).not.toMatch(/creat|replac|delet/);
      await unchanged();
    } finally {
      await mend();
      await bed.declare({ tiny });
    }
    expect((await bed.project.refresh(["--expect-no-changes"])).code).toBe(0);
    await unchanged();
  });
});

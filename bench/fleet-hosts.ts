import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TINY_LLAMA, writeCheckpoint } from "../test/support/checkpoints.ts";
import { startCutProxy, type CutProxy } from "../test/support/cut-proxy.ts";
import { endByForce, processesOfHosts, type HostProcess } from "../test/support/host-processes.ts";
import { freePort } from "../test/support/free-port.ts";
import { startSshd, type Sshd } from "../test/support/sshd.ts";
import { layOutStandIn } from "../test/support/stand-in.ts";

/** Hosts on 127.0.0.2 and up: one sshd and one HOME each, the stand-in vLLM without GPUs. */
export interface Fleet {
  /** Text of a program with `count` servers, spread evenly. */
  program(count: number): Promise<string>;
  /** Where clients reach the hosts. */
  readonly doors: readonly Door[];
  connectionCount(): number;
  execCount(): number;
  /** Live processes of the hosts: vLLM's and their supervisors. */
  processCount(): number;
  /** Ends the hosts and deletes their files. Returns how many processes it still found there and ended. */
  close(): Promise<number>;
}

/** Of one host: its sshd, or what stands before it. */
export interface Door {
  readonly address: string;
  readonly port: number;
  readonly user: string;
  readonly privateKeyPath: string;
  /** "ssh-ed25519 AAAA...". */
  readonly hostKeyLine: string;
}

/** @param delayMilliseconds in each direction, between the clients and every host */
export async function makeFleet(hosts: number, delayMilliseconds = 0): Promise<Fleet> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "fleet-")));
  const { executable } = layOutStandIn(join(folder, "vllm"));
  const checkpoint = writeCheckpoint(join(folder, "tiny"), { "config.json": TINY_LLAMA });
  const homes = Array.from({ length: hosts }, (_, index) => join(folder, `home-${String(index)}`));
  const sshds: Sshd[] = [];
  const proxies: CutProxy[] = [];
  for (const [index, home] of homes.entries()) {
    mkdirSync(home);
    sshds.push(await startSshd({ home, path: "/usr/bin:/bin", address: `127.0.0.${String(index + 2)}` }));
  }
  if (delayMilliseconds > 0) {
    for (const target of sshds) proxies.push(await startCutProxy({ target, delayMilliseconds }));
  }
  const doors = sshds.map((sshd, index) => {
    const proxy = proxies[index];
    return proxy === undefined ? sshd : { ...sshd, address: "127.0.0.1", port: proxy.port };
  });
  const processes = (): readonly HostProcess[] => processesOfHosts(homes);
  const sum = (count: (sshd: Sshd) => number): number =>
    sshds.reduce((total, sshd) => total + count(sshd), 0);
  return {
    program: async (count) => {
      const servers = await Promise.all(
        Array.from({ length: count }, async (_, index) => {
          const [sshd, door] = [sshds[index % hosts], doors[index % hosts]];
          if (sshd === undefined || door === undefined) throw new Error("a fleet needs a host");
          return { name: `server-${String(index)}`, args: await inputs(sshd, door, executable, checkpoint) };
        }),
      );
      const lines = servers.map(({ name, args }) => `new VllmServer("${name}", ${JSON.stringify(args)});`);
      return ['import { VllmServer } from "pulumi-vllm";', ...lines, ""].join("\n");
    },
    doors,
    connectionCount: () => sum((sshd) => sshd.connectionCount()),
    execCount: () => sum((sshd) => sshd.execCount()),
    processCount: () => processes().length,
    close: async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await Promise.all(sshds.map((sshd) => sshd.stop()));
      const ended = new Set<number>();
      // What was just being started when it was cut may begin after a first look.
      for (let left = processes(); left.length > 0; left = processes()) {
        endByForce(left);
        for (const { pid } of left) ended.add(pid);
      }
      rmSync(folder, { recursive: true, force: true });
      return ended.size;
    },
  };
}

async function inputs(sshd: Sshd, door: Door, executable: string, checkpoint: string): Promise<object> {
  return {
    host: {
      host: door.address,
      port: door.port,
      user: sshd.user,
      privateKey: sshd.privateKey,
      hostKey: sshd.hostKeyLine,
    },
    model: { path: checkpoint },
    vllm: { executable },
    engine: { maxModelLen: 128, servedModelName: ["tiny"] },
    environment: { STAND_IN_START_SECONDS: "0.2", STAND_IN_STOP_SECONDS: "0" },
    listen: { address: sshd.address, port: await freePort(sshd.address) },
    allowUnauthenticated: true,
    service: { restart: { max: 0 } },
  };
}

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TINY_LLAMA, writeCheckpoint } from "../test/support/checkpoints.ts";
import { endByForce, processesOfHosts, type HostProcess } from "../test/support/host-processes.ts";
import { freePort, startSshd, type Sshd } from "../test/support/sshd.ts";
import { layOutStandIn } from "../test/support/stand-in.ts";

/** Hosts on 127.0.0.2 and up: one sshd and one HOME each, the stand-in vLLM without GPUs. */
export interface Fleet {
  /** Text of a program with `count` servers, spread evenly. */
  program(count: number): Promise<string>;
  connectionCount(): number;
  execCount(): number;
  /** Live processes of the hosts: vLLM's and their supervisors. */
  processCount(): number;
  /** Ends the hosts and deletes their files. Returns how many processes it still found there and ended. */
  close(): Promise<number>;
}

export async function makeFleet(hosts: number): Promise<Fleet> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "fleet-")));
  const { executable } = layOutStandIn(join(folder, "vllm"));
  const checkpoint = writeCheckpoint(join(folder, "tiny"), { "config.json": TINY_LLAMA });
  const homes = Array.from({ length: hosts }, (_, index) => join(folder, `home-${String(index)}`));
  const sshds: Sshd[] = [];
  for (const [index, home] of homes.entries()) {
    mkdirSync(home);
    sshds.push(await startSshd({ home, path: "/usr/bin:/bin", address: `127.0.0.${String(index + 2)}` }));
  }
  const processes = (): readonly HostProcess[] => processesOfHosts(homes);
  const sum = (count: (sshd: Sshd) => number): number =>
    sshds.reduce((total, sshd) => total + count(sshd), 0);
  return {
    program: async (count) => {
      const servers = await Promise.all(
        Array.from({ length: count }, async (_, index) => {
          const sshd = sshds[index % hosts];
          if (sshd === undefined) throw new Error("a fleet needs a host");
          return { name: `server-${String(index)}`, args: await inputs(sshd, executable, checkpoint) };
        }),
      );
      const lines = servers.map(({ name, args }) => `new VllmServer("${name}", ${JSON.stringify(args)});`);
      return ['import { VllmServer } from "pulumi-vllm";', ...lines, ""].join("\n");
    },
    connectionCount: () => sum((sshd) => sshd.connectionCount()),
    execCount: () => sum((sshd) => sshd.execCount()),
    processCount: () => processes().length,
    close: async () => {
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

async function inputs(sshd: Sshd, executable: string, checkpoint: string): Promise<object> {
  return {
    host: {
      host: sshd.address,
      port: sshd.port,
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

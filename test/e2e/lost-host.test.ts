import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startCutProxy, type CutProxy } from "../support/cut-proxy";
import { eventually } from "../support/eventually";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import type { StateResource } from "../support/pulumi-cli";

/** A host that is lost keeps nobody from being rid of its servers, and a host that answers in any way is not lost. */

type Inputs = Readonly<Record<string, unknown>>;

const FORGET = { onDelete: { unreachableHost: "forget" } };
let bed: GpuHost;
let other: GpuHost;
let proxy: CutProxy;
let tiny: Inputs;
let onOther: Inputs;
/** A new one for each test: the record of a server that was forgotten stays on its host. */
let name = "";
let tests = 0;

beforeAll(async () => {
  bed = await gpuHost();
  other = await gpuHost();
  onOther = { ...(await other.tinyServer()), host: other.host };
});

beforeEach(async () => {
  tests += 1;
  name = `lost-${String(tests)}`;
  proxy = await startCutProxy({ target: bed.sshd });
  tiny = { ...(await bed.tinyServer()), host: hostBehindProxy() };
});

afterEach(() => proxy.close());

afterAll(async () => {
  await other.close();
  await bed.close();
});

function hostBehindProxy(): Inputs {
  const { hostKey: _, ...host } = bed.host;
  const knownHostsFile = join(bed.folder, "known_hosts");
  writeFileSync(knownHostsFile, `[127.0.0.1]:${String(proxy.port)} ${bed.sshd.hostKeyLine}\n`);
  return { ...host, host: "127.0.0.1", port: proxy.port, dialErrorLimit: 1, knownHostsFile };
}

async function server(): Promise<StateResource> {
  const [first] = await bed.project.servers();
  if (first === undefined) throw new Error("no server in the state");
  return first;
}

const outputs = async (): Promise<Inputs> => (await server()).outputs ?? {};

async function runningOn(inputs: Inputs): Promise<void> {
  await bed.declare({ [name]: inputs });
  const { code, stdout } = await bed.project.up();
  expect([code, stdout]).toEqual([0, expect.stringContaining("ready in")]);
}

/** What a person does when the machine is there again: the printed command, as ssh would run it. */
async function stopByHand(stdout: string): Promise<void> {
  const [, line] = /^ *stop: ssh \S.* '(.*)'$/m.exec(stdout) ?? [];
  if (line === undefined) throw new Error(`no command to stop it:\n${stdout}`);
  expect(bed.processes().length).toBeGreaterThan(0);
  execFileSync("sh", ["-c", line]);
  await eventually("nothing of it runs", () => (bed.processes().length === 0 ? true : null));
  expect(bed.gpuMemoryMib()).toEqual(Array(8).fill(bed.idleMib));
}

describe("destroy of a server whose host is lost", () => {
  it("fails with the ways out; what is asked for then is recorded without the host; then it forgets and tells what may run on", async () => {
    await runningOn(tiny);
    const before = await outputs();
    await proxy.shut(true);
    const refused = await bed.project.destroy();
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toMatch(/Cannot connect to 127.0.0.1:\d+: connection refused/);
    expect(refused.stdout).toContain(
      'Gone for good? Give the resource onDelete: { unreachableHost: "forget" }, run `pulumi up`',
    );
    expect((await server()).id).toContain(name);

    await bed.declare({ [name]: { ...tiny, ...FORGET } });
    expect((await bed.project.preview()).stdout).toContain(
      "no restart: onDelete.unreachableHost fail -> forget",
    );
    const recorded = await bed.project.up();
    expect([recorded.code, recorded.stdout]).toEqual([
      0,
      expect.stringContaining("warning: recorded, without a look at the host: Cannot connect to"),
    ]);
    const { onDelete, pid, status, generation } = await outputs();
    expect({ onDelete, pid, status, generation }).toEqual({
      ...FORGET,
      pid: before["pid"],
      status: "ready",
      generation: 1,
    });
    expect((await bed.project.preview(["--expect-no-changes"])).code).toBe(0);

    const { id } = await server();
    const forgotten = await bed.project.destroy();
    expect(forgotten.code).toBe(0);
    expect(await bed.project.servers()).toEqual([]);
    expect(forgotten.stdout).toContain("deleted from the state, and from there only");
    expect(forgotten.stdout).toContain(
      `may still run on 127.0.0.1: server ${String(id)}, last seen ready: pid ${String(pid)}, port ${String(before["url"]).replace(/.*:/, "")}, GPU-`,
    );
    await stopByHand(forgotten.stdout);
  });

  it.each<[string, () => () => void, RegExp]>([
    [
      "shows another host key",
      () => {
        const path = join(bed.folder, "known_hosts");
        const known = readFileSync(path, "utf8");
        const stranger = "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
        writeFileSync(path, `[127.0.0.1]:${String(proxy.port)} ssh-ed25519 ${stranger}\n`);
        return () => {
          writeFileSync(path, known);
        };
      },
      /Cannot trust host/,
    ],
    [
      "refuses the login",
      () => {
        const path = join(dirname(bed.sshd.privateKeyPath), "authorized_keys");
        const keys = readFileSync(path, "utf8");
        writeFileSync(path, "");
        return () => {
          writeFileSync(path, keys);
        };
      },
      /Cannot log in/,
    ],
    [
      "answers, and ends the connection before SSH begins",
      () => {
        proxy.refuse(true);
        return () => {
          proxy.refuse(false);
        };
      },
      /Something answers, or the network here is down: onDelete.unreachableHost does not count then/,
    ],
  ])("never forgets one that %s", async (_what, breakIt, words) => {
    await runningOn({ ...tiny, ...FORGET });
    const repair = breakIt();
    const { code, stdout } = await bed.project.destroy();
    expect([code === 0, stdout]).toEqual([false, expect.stringMatching(words)]);
    expect(await bed.project.servers()).toHaveLength(1);
    repair();
    expect((await bed.project.destroy()).code).toBe(0);
    const folders = bed.serverFolders().filter((folder) => folder.startsWith(name));
    expect([bed.processes(), folders]).toEqual([[], []]);
  });
});

describe("up while the host is lost", () => {
  it("fails with a change that concerns the host, records what deletion does, and makes the rest good when it is back", async () => {
    await runningOn(tiny);
    const { pid } = await outputs();
    await proxy.shut(true);
    await bed.declare({ [name]: { ...tiny, ...FORGET, engine: { maxModelLen: 64 } } });
    const failed = await bed.project.up();
    expect([failed.code === 0, failed.stdout]).toEqual([
      false,
      expect.stringContaining("also:   what onDelete says is recorded, and counts for a deletion"),
    ]);
    const kept = await outputs();
    expect([kept["onDelete"], kept["engine"], kept["pid"], kept["status"]]).toEqual([
      FORGET.onDelete,
      undefined,
      pid,
      "ready",
    ]);
    await proxy.shut(false);
    expect((await bed.project.up()).code).toBe(0);
    expect(await outputs()).toMatchObject({ engine: { maxModelLen: 64 }, generation: 2, maxModelLen: 64 });
    expect((await bed.project.destroy()).code).toBe(0);
  });

  it("moves the server to another machine and forgets the old one, though the old state does not say so", async () => {
    await runningOn(tiny);
    const { id } = await server();
    await proxy.shut(true);
    await bed.declare({ [name]: onOther });
    const kept = await bed.project.up();
    expect(kept.code).not.toBe(0);
    // The new one serves; the old one stays to be deleted.
    expect(await bed.project.servers()).toHaveLength(2);
    await bed.declare({ [name]: { ...onOther, ...FORGET } });
    const moved = await bed.project.up();
    expect([moved.code, moved.stdout]).toEqual([
      0,
      expect.stringContaining(`server ${String(id)}, last seen ready`),
    ]);
    expect(await outputs()).toMatchObject({ status: "ready", generation: 1 });
    expect(await bed.project.servers()).toHaveLength(1);
    await stopByHand(moved.stdout);
    expect((await bed.project.destroy()).code).toBe(0);
    expect(other.processes()).toEqual([]);
  });
});

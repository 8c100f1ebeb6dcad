import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { runProgram, type Ran } from "../support/patch-command";
import { sshConfigOf } from "../support/ssh-config";

/** `pulumi-vllm doctor` against a real sshd, on a host with eight stand-in GPUs of which one is broken. */

const FALLEN = "NVRM: Xid (PCI:0000:42:00): 79, pid=4711, name=python3, GPU has fallen off the bus.";

let bed: GpuHost;
let config: string;

beforeAll(async () => {
  bed = await gpuHost();
  config = sshConfigOf(bed);
  await bed.declare({ tiny: await bed.tinyServer(1) });
  expect((await bed.project.up()).code).toBe(0);
});

afterAll(async () => {
  await bed.close();
});

const doctor = (...words: readonly string[]): Promise<Ran> =>
  runProgram(["doctor", "gpu1", "--ssh-config", config, ...words]);

/** What differs from machine to machine, taken out: sizes, times, what this one has installed. */
function steady(text: string): string {
  return text
    .replaceAll(bed.home, "HOME")
    .replace(/^system: .*$/m, "system:     SYSTEM")
    .replace(/\d+(\.\d+)? [kMGT]?B\b/g, "SIZE")
    .replace(/open files \S+, at most \S+, locked memory (?:SIZE|without limit)/, "LIMITS")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, "TIME")
    .replace(/(?:^compilers: .*\n(?: {12}.*\n)*)+/m, "compilers:  COMPILERS\n")
    .replace(/process \d+\n? +\(/, "process PID (")
    .replaceAll(/tiny-[0-9a-f]{8}/g, "TINY")
    .replace(/127\.0\.0\.1:\d+/, "127.0.0.1:PORT");
}

describe("pulumi-vllm doctor", () => {
  it("tells what the host is and has, in 80 columns, over one connection and with one command", async () => {
    const [connections, commands] = [bed.sshd.connectionCount(), bed.sshd.execCount()];
    const { code, out, err } = await doctor();
    expect([bed.sshd.connectionCount() - connections, bed.sshd.execCount() - commands]).toEqual([1, 1]);
    expect([code, err]).toEqual([0, ""]);
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
    const gpu = (index: number, used: string): string =>
      `GPU ${String(index)}:      NVIDIA RTX PRO 6000 Blackwell Server Edition, compute capability\n            12.0, ${used}`;
    const idle = [1, 2, 3, 4, 5, 6, 7].map((index) =>
      gpu(index, `0 of 97887 MiB used, GPU-5ca1ab1e-0000-4000-8000-00000000000${String(index)}`),
    );
    expect(steady(out)).toBe(
      `${[
        "system:     SYSTEM",
        "memory:     SIZE of SIZE free",
        "/dev/shm:   SIZE of SIZE free",
        "disk:       SIZE free at HOME/.local/state/pulumi-vllm",
        "limits:     LIMITS",
        "clock:      TIME UTC",
        "driver:     580.95.05",
        gpu(0, "90056 of 97887 MiB used,"),
        "            GPU-5ca1ab1e-0000-4000-8000-000000000000, held by process PID (TINY, 90056 MiB), of server TINY",
        ...idle,
        "vLLM:       no vllm on the login PATH",
        "            (/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)",
        "compilers:  COMPILERS",
        "hub client: none; one is brought when a checkpoint is downloaded",
        "manager:    not systemd: systemd does not run this host",
        "manager:    not systemd-user: systemd does not run this host",
        "manager:    process",
        "server:     tiny (test/dev): ready, 127.0.0.1:PORT, process",
        "",
        "nothing speaks against a start",
      ].join("\n")}\n`,
    );
  });

  it("tells findings below it and in JSON, and ends with 1 when one is certain to fail a start", async () => {
    const folder = dirname(bed.nvidiaSmi);
    const place = join(folder, "gpus.json");
    const machine: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(place, "utf8"));
    writeFileSync(place, JSON.stringify({ ...machine, gpus: [{ computeMode: "Prohibited" }, {}] }));
    writeFileSync(join(folder, "dmesg"), `#!/bin/sh\necho "[  1.0] ${FALLEN}"\n`);
    chmodSync(join(folder, "dmesg"), 0o755);
    const text = await doctor();
    expect([text.code, text.out.slice(text.out.indexOf("\n\n") + 2)]).toEqual([
      1,
      `error: GPU 0 is in the compute mode Prohibited, in which nobody may compute
  there
  change: on the host: sudo nvidia-smi -i 0 -c DEFAULT   (or other gpus)
warning: GPU 1: the GPU has fallen off the bus (Xid 79) since the boot of the
  host
  proof:  NVRM: Xid (PCI:0000:42:00): 79, pid=4711, name=python3, GPU has fallen
          off the bus.
  change: on the host: reboot; power, cooling and slot of the GPU if it comes
          again
`,
    ]);
    const json = await doctor("--json");
    const told: { readonly findings: unknown; readonly servers: readonly object[] } = JSON.parse(json.out);
    expect([json.code, told.findings]).toEqual([
      1,
      [
        {
          severity: "error",
          code: "GPU_PROHIBITED",
          summary: "GPU 0 is in the compute mode Prohibited, in which nobody may compute there",
          evidence: null,
          change: "on the host: sudo nvidia-smi -i 0 -c DEFAULT   (or other gpus)",
        },
        {
          severity: "warning",
          code: "GPU_XID",
          summary: "GPU 1: the GPU has fallen off the bus (Xid 79) since the boot of the host",
          evidence: FALLEN,
          change: "on the host: reboot; power, cooling and slot of the GPU if it comes again",
        },
      ],
    ]);
    expect(told.servers).toMatchObject([
      { name: "tiny", project: "test", stack: "dev", status: "ready", manager: "process" },
    ]);
  });

  it("says of a host that does not answer what `up` says", async () => {
    const port = String(await freePort("127.0.0.1"));
    const { code, out, err } = await runProgram(["doctor", `127.0.0.1:${port}`, "--ssh-config", config]);
    expect([code, out, err.replace(/in [\d.]+ s/, "in SECONDS")]).toEqual([
      1,
      "",
      `Cannot connect to 127.0.0.1:${port}: connection refused: nothing listens on the
  port, need an SSH server that answers
  proof:  2 tries in SECONDS
  change: host, host.port or host.proxy; more patience: host.dialErrorLimit,
          timeouts.connect
`,
    ]);
    const json = await runProgram(["doctor", `127.0.0.1:${port}`, "--ssh-config", config, "--json"]);
    expect([json.code, json.err, JSON.parse(json.out)]).toMatchObject([
      1,
      "",
      { error: { code: "HOST_UNREACHABLE" } },
    ]);
  });

  it("lists all that is wrong with its words", async () => {
    const { code, out, err } = await runProgram(["doctor", "ssh://gpu1", "more", "--jsn"]);
    expect([code, out, err]).toEqual([
      2,
      "",
      `pulumi-vllm doctor: --jsn is no option
pulumi-vllm doctor: "more" is one word too many
pulumi-vllm doctor: HOST is "ssh://gpu1", need a host name, an address, an alias of ~/.ssh/config, or "user@host:port" (no password, no ssh:// in it)
pulumi-vllm doctor --help says more.
`,
    ]);
  });
});

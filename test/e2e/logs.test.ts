import { join } from "node:path";
import { appendFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { startProgram, type Ran, type RunningProgram } from "../support/patch-command";

/** `pulumi-vllm logs` on the state of a real stack, with the real CLI and sshd and the stand-in vLLM. */

let bed: GpuHost;
let tiny: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  bed = await gpuHost();
  tiny = await bed.tinyServer(1);
  await bed.declare({ tiny });
  expect((await bed.project.up()).code).toBe(0);
});

afterAll(async () => {
  await bed.close();
});

const start = (...words: readonly string[]): RunningProgram =>
  startProgram(["logs", ...words, "--cwd", bed.project.folder, "--stack", "dev"], { env: bed.project.env });
const logs = (...words: readonly string[]): Promise<Ran> => start(...words).result;

const print = (generation: number, text: string): void => {
  const [folder = ""] = bed.serverFolders();
  const path = join(bed.home, ".local/state/pulumi-vllm", folder, "logs", `${String(generation)}.log`);
  appendFileSync(path, text);
};
const banner = (generation: number): string =>
  `--- tiny on ${bed.sshd.user}@127.0.0.1:${String(bed.sshd.port)}, start ${String(generation)}\n`;
/** Commands of the agent on the host, beside the server's. */
const agents = (): number =>
  bed.processes().filter(({ command }) => command.includes("agent/loader.py")).length;

describe("pulumi-vllm logs", () => {
  it("shows the end of the newest log, as many lines as asked for", async () => {
    print(1, "one\ntwo\nthree\n");
    expect(await logs("tiny", "--lines", "2", "--no-follow")).toEqual({
      code: 0,
      out: "two\nthree\n",
      err: banner(1),
    });
    const { out } = await logs("tiny", "--no-follow");
    expect(out).toContain("Application startup complete.");
    expect(out.endsWith("one\ntwo\nthree\n")).toBe(true);
  });

  it("goes on with what is printed, over a restart, and ^C leaves nothing on the host", async () => {
    const before = agents();
    const running = start("tiny", "--lines", "1");
    await eventually("the end", () => (running.said.out === "three\n" ? true : null));
    print(1, "four\n");
    await eventually("a new line", () => (running.said.out === "three\nfour\n" ? true : null));
    await bed.declare({ tiny: { ...tiny, engine: { maxModelLen: 64 } } });
    expect((await bed.project.up()).code).toBe(0);
    print(2, "five\n");
    await eventually("the next log", () => (running.said.out.endsWith("\nfive\n") ? true : null));
    expect(running.said.out).toContain("Application startup complete.");
    running.kill("SIGINT");
    expect((await running.result).code).toBe(0);
    expect(running.said.err).toBe(banner(1) + banner(2));
    await eventually("the end of its agent", () => (agents() === before ? true : null));
  });

  it("shows the log of an earlier start", async () => {
    expect(await logs("tiny", "--generation", "1", "--lines", "1", "--no-follow")).toEqual({
      code: 0,
      out: "INFO:     Application shutdown complete.\n",
      err: banner(1),
    });
    const { code, out, err } = await logs("tiny", "--generation", "7");
    const [serverId] = bed.serverFolders();
    expect([code, out, err]).toEqual([
      1,
      "",
      `Cannot read the log of ${String(serverId)}: there is none of start 7, there are those\n  of 1, 2\n`,
    ]);
  });

  it("says what the stack has instead of a server that it has not", async () => {
    expect(await logs("tinny")).toEqual({
      code: 1,
      out: "",
      err: 'Cannot find the server "tinny" in the stack: it has tiny\n',
    });
  });

  it("says what Pulumi says of a stack that cannot be read", async () => {
    const words = ["logs", "tiny", "--cwd", bed.project.folder, "--stack", "prod"];
    const { code, out, err } = await startProgram(words, { env: bed.project.env }).result;
    expect([code, out, err.replaceAll(/\s+/g, " ")]).toEqual([
      1,
      "",
      `Cannot read the state of prod in ${bed.project.folder}: no stack named 'prod' found `,
    ]);
  });

  it("lists all that is wrong with its words", async () => {
    expect(await logs("tiny", "--lines", "0", "--generation", "x")).toEqual({
      code: 2,
      out: "",
      err: `pulumi-vllm logs: --lines is "0", need a whole number from 1 to 100000
pulumi-vllm logs: --generation is "x", need a whole number from 1 to 999999999
pulumi-vllm logs --help says more.
`,
    });
  });
});

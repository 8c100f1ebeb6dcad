import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROGRAM, runProgram } from "../support/patch-command";

const LOG = [
  "(APIServer pid=1) INFO 12-01 10:00:00 [model.py:1] Resolved architecture: LlamaForCausalLM",
  "(EngineCore pid=9) ERROR 12-01 10:00:09 [core.py:1] EngineCore failed to start.",
  "(EngineCore pid=9) ERROR 12-01 10:00:09 [core.py:1] ValueError: Free memory on device cuda:0 (3.22/4.0 GiB) on startup is less than desired GPU memory utilization (0.9, 3.6 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
  "",
].join("\n");
const PROOF = LOG.split("\n")[2];
const JUDGED = {
  failure: true,
  code: "GPU_MEMORY_TAKEN",
  cause: expect.stringContaining("3.22"),
  evidence: { line: 3, text: PROOF },
  change: expect.stringContaining("engine.gpuMemoryUtilization: 0.8"),
  values: { freeGiB: 3.22, totalGiB: 4, utilization: 0.9, wantedGiB: 3.6 },
  retryable: false,
};

let folder = "";
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "diagnose-command-")));
  mkdirSync(join(folder, "logs"));
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(LOG, "utf16le")]);
  const files: Readonly<Record<string, string | Uint8Array>> = {
    "start.log": LOG,
    "start.log.gz": gzipSync(LOG),
    "marked.log": `\ufeff${LOG}`,
    "utf16.log": utf16,
    "hole.log": Buffer.concat([Buffer.alloc(50_000), Buffer.from(LOG)]),
    "healthy.log": `${LOG.split("\n")[0] ?? ""}\n(APIServer pid=1) INFO:     Application startup complete.\n`,
    "quiet.log": "INFO 12-01 10:00:00 [model.py:1] Loading weights took 3 seconds\n",
    "empty.log": "",
    "blank.log": "\n \r\n",
    "binary.log": readFileSync(process.execPath).subarray(0, 20_000),
    "cut.log.gz": gzipSync(LOG).subarray(0, -20),
    "broken.log.gz": Buffer.concat([gzipSync(LOG).subarray(0, 30), Buffer.alloc(60, 0xff)]),
    "twice.gz": gzipSync(gzipSync(LOG)),
    "other.log.xz": Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04]),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const diagnose = (...words: readonly string[]): ReturnType<typeof runProgram> =>
  runProgram(["diagnose", ...words], folder);
const json = (text: string): unknown => JSON.parse(text);

describe("a log that can be judged ends with 0", () => {
  test("and is told in 80 columns: cause, proof with its line, what to change, values", async () => {
    expect(await diagnose("start.log")).toEqual({
      code: 0,
      err: "",
      out: `failure:  GPU_MEMORY_TAKEN
cause:    only 3.22 of 4 GiB GPU memory are free and gpuMemoryUtilization 0.9
          wants 3.6 GiB
evidence: ValueError: Free memory on device cuda:0 (3.22/4.0 GiB) on startup is
          less than desired GPU memory utilization (0.9, 3.6 GiB). Decrease GPU
          memory utilization or reduce GPU memory used by other processes.
          (engine core, log line 3)
change:   host: stop the process that holds the GPU (nvidia-smi lists it), or
          engine.gpuMemoryUtilization: 0.8 or less (--gpu-memory-utilization)
values:   freeGiB = 3.22, totalGiB = 4, utilization = 0.9, wantedGiB = 3.6
retry:    will not help
`,
    });
  });

  test("with --json as one object of the promised keys in their order", async () => {
    const { code, out, err } = await diagnose("start.log", "--json");
    expect([code, err]).toEqual([0, ""]);
    expect(json(out)).toEqual(JUDGED);
    expect(Object.keys(JSON.parse(out))).toEqual([
      ...["failure", "code", "cause", "evidence", "change", "values", "retryable"],
    ]);
  });

  test.each(["start.log.gz", "utf16.log", "hole.log", "marked.log"])("also %s", async (file) => {
    const { code, out } = await diagnose(file, "--json");
    expect([code, json(out)]).toEqual([0, JUDGED]);
  });

  test.each([
    ["plain", Buffer.from(LOG)],
    ["gzip", gzipSync(LOG)],
    ["parts of one that was rotated", Buffer.concat([gzipSync(LOG.slice(0, 100)), gzipSync(LOG.slice(100))])],
  ])("also from standard input: %s", async (_name, input) => {
    const { code, out } = await runProgram(["diagnose", "-", "--json"], folder, input);
    expect([code, json(out)]).toEqual([0, JUDGED]);
  });

  test("where nothing failed, and says so", async () => {
    const healthy = await diagnose("healthy.log", "--json");
    expect([healthy.code, json(healthy.out)]).toEqual([
      0,
      {
        failure: false,
        code: "NO_FAILURE",
        cause: "nothing failed: the server came up",
        evidence: { line: 2, text: "(APIServer pid=1) INFO:     Application startup complete." },
        change: null,
        values: {},
        retryable: true,
      },
    ]);
    expect((await diagnose("healthy.log")).out).toBe(`failure:  none
cause:    nothing failed: the server came up
evidence: Application startup complete.   (API server, log line 2)
`);
  });

  test("where only the exit tells something, and even without a word in the log", async () => {
    const killed = await diagnose("quiet.log", "--exit-code", "137", "--json");
    expect(json(killed.out)).toMatchObject({ code: "HOST_OOM_KILLED", failure: true });
    expect((await diagnose("quiet.log", "--exit-code=-9", "--json")).out).toBe(killed.out);
    expect(await diagnose("empty.log", "--exit-code", "1")).toEqual({
      code: 0,
      err: "",
      out: `failure:  UNKNOWN
cause:    vLLM ended (code 1) without saying why
change:   not known
retry:    not known
`,
    });
  });
});

describe("what is no log ends with 1 and says what it is", () => {
  test.each([
    ["logs", "log-not-readable", "Cannot read logs: it is a folder, need a log"],
    ["none.log", "log-not-readable", "Cannot read none.log: no such file or directory, need a log"],
    ["cut.log.gz", "log-not-readable", "Cannot read cut.log.gz: its gzip data ends too early, need a log"],
    ["broken.log.gz", "log-not-readable", "Cannot read broken.log.gz: its gzip data is broken, need a log"],
    [
      "empty.log",
      "log-empty",
      "Cannot diagnose empty.log: it is empty, need the log of a start, or --exit-code",
    ],
    [
      "blank.log",
      "log-empty",
      "Cannot diagnose blank.log: it is empty, need the log of a start, or --exit-code",
    ],
    ["binary.log", "log-not-text", "Cannot diagnose binary.log: found binary data, need the text of a log"],
    [
      "twice.gz",
      "log-not-text",
      "Cannot diagnose twice.gz: found gzip inside gzip, need the text of a log: zcat twice.gz | pulumi-vllm diagnose -",
    ],
    [
      "other.log.xz",
      "log-not-text",
      "Cannot diagnose other.log.xz: found xz-compressed data, need the text of a log: xzcat other.log.xz | pulumi-vllm diagnose -",
    ],
  ])("%s", async (file, code, message) => {
    expect(await diagnose(file)).toEqual({ code: 1, out: "", err: `${message}\n` });
    const ran = await diagnose(file, "--json");
    expect([ran.code, ran.err, json(ran.out)]).toEqual([1, "", { error: { code, message } }]);
  });
});

describe("a command line that is not right ends with 2 and tells all that is wrong", () => {
  test.each([
    [[], ["FILE, the log, is missing (- is standard input)"]],
    [
      ["a", "b", "--exit-code", "1.5", "--jsn"],
      [
        "--jsn is no option",
        '"b" is one word too many',
        '--exit-code is "1.5", need a whole number from -64 to 255',
      ],
    ],
    [["a", "--exit-code", "256"], ['--exit-code is "256", need a whole number from -64 to 255']],
    [["a", "--exit-code"], ["--exit-code needs a value"]],
  ])("%j", async (words, problems) => {
    expect(await diagnose(...words)).toEqual({
      code: 2,
      out: "",
      err: `${problems.map((problem) => `pulumi-vllm diagnose: ${problem}\n`).join("")}pulumi-vllm diagnose --help says more.\n`,
    });
    const ran = await diagnose(...words, "--json");
    expect([ran.code, json(ran.out)]).toEqual([
      2,
      { error: { code: "usage", message: problems.join("; ") } },
    ]);
  });
});

test("--help fits 80 columns and says what the exit codes mean", async () => {
  const { code, out } = await diagnose("--help");
  expect(code).toBe(0);
  expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(out).toContain("exit code: 0 the log could be judged: a failure that was found is a result");
});

test("what is no log on standard input is told at once, though more may come", async () => {
  const child = spawn(process.execPath, [PROGRAM, "diagnose", "-"], { stdio: ["pipe", "ignore", "pipe"] });
  child.stdin.on("error", () => undefined).write(Buffer.alloc(20_000, 1));
  const [code] = await once(child, "exit");
  expect(code).toBe(1);
});

import { describe, expect, it } from "vitest";
import { VllmServerError } from "../../provider/src/core/errors";
import { hangAdvice } from "../../provider/src/core/hang-advice";
import { startFailure, withUnstopped, type FailedStart } from "../../provider/src/core/start-failure";

const STILL = {
  quietSeconds: 61,
  stillSeconds: 40,
  spinningSeconds: 0,
  cpuCores: 0.01,
  readBytesPerSecond: 0,
  writeBytesPerSecond: null,
};
const READING = { ...STILL, quietSeconds: 180, stillSeconds: 0, cpuCores: 1.5, readBytesPerSecond: 1.2e9 };
const LOADING = { phase: "loading weights", text: "loading weights 12 %", percent: 12 } as const;

const failed = (outcome: FailedStart["outcome"], log = "", kernel?: readonly string[]): VllmServerError =>
  startFailure({
    server: 'server "kimi" on gpu1',
    outcome,
    log,
    kernel,
    port: 8000,
    vllmVersion: "0.32.0",
    logCommand: "ssh gpu1 'tail -n 200 /3.log'",
  });

describe("the error of a failed start", () => {
  it.each<[FailedStart["outcome"], string]>([
    [
      {
        kind: "timeout",
        waitedSeconds: 59.7,
        lastLine: "Loading weights",
        unanswered: null,
        activity: READING,
        progress: LOADING,
      },
      `Cannot start server "kimi" on gpu1: not ready after 60 s, and its process still runs
  proof:  Loading weights   (last line of its log)
  change: timeouts.ready   (seconds; big checkpoints on slow disks take long)
  also:   at the end: loading weights 12 %, no new line for 3 min, reading 1.2 GB/s, 1.5 cores busy
  log:    ssh gpu1 'tail -n 200 /3.log'`,
    ],
    [
      {
        kind: "timeout",
        waitedSeconds: 900,
        lastLine: null,
        unanswered: "POST /v1/completions",
        activity: READING,
        progress: LOADING,
      },
      `Cannot start server "kimi" on gpu1: it listens, but had not answered POST /v1/completions when 900 s were over
  change: timeouts.ready where its first answer takes long, or readiness.probe where that request never fits this model
  also:   at the end: loading weights 12 %, no new line for 3 min, reading 1.2 GB/s, 1.5 cores busy
  log:    ssh gpu1 'tail -n 200 /3.log'`,
    ],
    [
      {
        kind: "timeout",
        waitedSeconds: 1,
        lastLine: null,
        unanswered: null,
        activity: STILL,
        progress: null,
      },
      `Cannot start server "kimi" on gpu1: not ready after 1 s, and its process still runs
  change: timeouts.ready   (seconds; big checkpoints on slow disks take long)
  also:   at the end: no new line for 60 s, no sign of life for 40 s
  log:    ssh gpu1 'tail -n 200 /3.log'`,
    ],
    [
      {
        kind: "timeout",
        waitedSeconds: 3600,
        lastLine: null,
        unanswered: null,
        activity: { ...STILL, stillSeconds: 0, spinningSeconds: 60, cpuCores: 8 },
        progress: LOADING,
      },
      `Cannot start server "kimi" on gpu1: not ready after 3600 s, and its process still runs
  change: ${hangAdvice("loading weights")}; timeouts.ready where it is only slow
  also:   at the end: loading weights 12 %, no new line for 60 s, 8.0 cores busy, nothing read or written for 60 s
  log:    ssh gpu1 'tail -n 200 /3.log'`,
    ],
    [
      { kind: "port-lost", winner: "process 77 of bob: vllm serve" },
      `Cannot start server "kimi" on gpu1: its log says it is up, but port 8000 is answered by process 77 of bob: vllm serve
  change: listen.port   (two servers were started on one port at the same time; this one was stopped)
  log:    ssh gpu1 'tail -n 200 /3.log'`,
    ],
    [
      { kind: "wrong-answer", detail: "/v1/models has ['big'], need kimi" },
      `Cannot start server "kimi" on gpu1: it answers, but not as declared: /v1/models has ['big'], need kimi
  change: readiness.probe, engine.servedModelName or the model, as the answer says
  log:    ssh gpu1 'tail -n 200 /3.log'
  a retry will not help`,
    ],
    [
      {
        kind: "kv-cache-dtype-lost",
        wanted: "bfloat16",
        dtype: "fp8_ds_mla",
        evidence: "Using fp8_ds_mla KV cache format for FLASHINFER_MLA_SPARSE_SM120 backend",
        place: "attention layer in its log",
      },
      `Cannot start server "kimi" on gpu1: it answers, but keeps its KV cache in fp8_ds_mla, need bfloat16
  proof:  Using fp8_ds_mla KV cache format for FLASHINFER_MLA_SPARSE_SM120 backend   (attention layer in its log)
  change: kvCacheDtype: "auto" or "fp8_ds_mla" to have what this vLLM makes of the model here, or another vLLM
  log:    ssh gpu1 'tail -n 200 /3.log'`,
    ],
  ])("says for %j what was found, what to change and where the log is", (outcome, text) => {
    expect(failed(outcome).message).toBe(text);
  });

  it("a fatal line is a failure, whatever comes after it in the log", () => {
    const line = "TimeoutError: Timed out waiting for engine core processes to start.";
    const { details } = failed(
      { kind: "fatal", line },
      `${line}\nINFO 12-01 10:00:00 [x.py:1] Loading weights took 3 seconds\n`,
    );
    expect([details.failureCause, details.evidence]).toEqual(["ENGINE_READY_TIMEOUT", line]);
  });

  it("takes the proof from the kernel's log where that has it, also when the rest waits for ever", () => {
    const line = "[ 9.5] Out of memory: Killed process 180 (VLLM::Worker_TP) total-vm:1kB";
    const hung = { silentSeconds: 600, isSpinning: false, lastLine: null, unanswered: null };
    const timeout = { waitedSeconds: 60, lastLine: "Loading weights", unanswered: null };
    for (const outcome of [
      { kind: "timeout", ...timeout, activity: STILL, progress: null },
      { kind: "hung", ...hung, processes: [], progress: null },
      { kind: "exited", code: null, signal: 9 },
      { kind: "fatal", line: "Worker proc VllmWorker-1 died unexpectedly" },
    ] as const) {
      const { code, details } = failed(outcome, "INFO loading\n", [line]);
      expect([code, details.failureCause, details.evidence, details.evidencePlace]).toEqual([
        "START_FAILED",
        "HOST_OOM_KILLED",
        line,
        "the kernel's log",
      ]);
    }
  });

  it("shortens a proof that lists everything vLLM knows", () => {
    const line = `ValueError: Model architectures ['X'] are not supported for now. Supported: ${"LlamaForCausalLM, ".repeat(300)}`;
    const { details } = failed({ kind: "exited", code: 1, signal: null }, line);
    expect(details.evidence).toBe(`${line.slice(0, 300)} ...`);
  });

  it("takes cause and proof from the log, with the line it stands in", () => {
    const log = "INFO loading\nValueError: unknown thing\n";
    const { code, details } = failed({ kind: "exited", code: 1, signal: null }, log);
    expect([code, details.evidence, details.evidencePlace]).toEqual([
      "START_FAILED",
      "ValueError: unknown thing",
      "log line 2",
    ]);
  });

  it("stays as it is when what is left of the start cannot be stopped; that is told beside it", () => {
    const failure = failed({ kind: "port-lost", winner: "process 77" });
    const held = new VllmServerError({
      code: "GPU_MEMORY_HELD",
      summary: "Cannot free GPU 0: 900 MiB still in use",
      evidence: "pid 9",
      change: "nothing",
      retryable: true,
    });
    const both = withUnstopped(failure, held);
    expect(both.details).toEqual({
      ...failure.details,
      also: "what is left of it could not be stopped, the next `pulumi up` tries again: Cannot free GPU 0: 900 MiB still in use (pid 9)",
    });
    expect(both.message.split("\n").map((line) => line.slice(0, 9))).toEqual([
      "Cannot st",
      "  change:",
      "  also:  ",
      "  log:   ",
    ]);
  });
});

import { describe, expect, test } from "vitest";
import { type Diagnosis, diagnose } from "../../../provider/src/core/diagnose";

function of(log: string, exitCode: number | null = 1, signal: number | null = null): Diagnosis {
  return diagnose({ log, exitCode, signal });
}

test("a JSON logger's records are read line by line", () => {
  const message =
    'EngineCore failed to start.\nTraceback (most recent call last):\n  File "x.py", line 1\n    raise ValueError("No available memory for the cache blocks.")\nValueError: No available memory for the cache blocks. Try "x"';
  const log = JSON.stringify({ asctime: "x", levelname: "ERROR", message, vllm_process_name: "Worker_TP3" });
  expect(of(`{"levelname":"INFO","message":"hello"}\n${log}`)).toMatchObject({
    cause: "KV_CACHE_NO_MEMORY",
    evidence: 'ValueError: No available memory for the cache blocks. Try "x"',
    logLine: 2,
    place: "worker 3",
  });
});

describe("what no rule knows", () => {
  test("comes with the first exception that is no wrapper, and where", () => {
    const log = [
      "(Worker_TP3 pid=7) ERROR 12-01 10:00:00 [x.py:1] WorkerProc failed to start.",
      "(Worker_TP3 pid=7) ERROR 12-01 10:00:00 [x.py:1] Traceback (most recent call last):",
      "(Worker_TP3 pid=7) ERROR 12-01 10:00:00 [x.py:1] ZeroDivisionError: division by zero",
      "(EngineCore pid=5) ERROR 12-01 10:00:00 [x.py:1] Exception: WorkerProc initialization failed due to an exception in a background process.",
      "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above.",
    ].join("\n");
    expect(of(log)).toEqual({
      cause: "UNKNOWN",
      summary: "vLLM failed with: ZeroDivisionError: division by zero",
      evidence: "(Worker_TP3 pid=7) ERROR 12-01 10:00:00 [x.py:1] ZeroDivisionError: division by zero",
      logLine: 3,
      place: "worker 3",
      change: null,
      values: {},
      retryable: false,
    });
  });

  test("a validation error says its message, not its header", () => {
    const log =
      "pydantic_core._pydantic_core.ValidationError: 1 validation error for FooConfig\n  Value error, foo must be odd [type=value_error]";
    expect(of(log)).toMatchObject({
      cause: "UNKNOWN",
      evidence: "  Value error, foo must be odd [type=value_error]",
    });
  });

  test("an empty log is no proof of anything", () => {
    expect(of("")).toMatchObject({ cause: "UNKNOWN", evidence: null, logLine: null });
  });
});

describe("how it ended", () => {
  const started = "INFO 12-01 10:00:00 [model.py:1] Resolved architecture: X\n";
  const ready = `${started}INFO:     Application startup complete.\n`;
  test.each([
    ["SIGTERM while starting", started, null, 15, "TERMINATED_BY_SIGNAL"],
    ["143, as a shell says it", started, 143, null, "TERMINATED_BY_SIGNAL"],
    ["SIGKILL without a word", started, -9, null, "HOST_OOM_KILLED"],
    [
      "a crash whose signal is told",
      `${started}RuntimeError: Engine core initialization failed. Failed core proc(s): {'EngineCore_DP0': -11}\n`,
      1,
      null,
      "UNKNOWN",
    ],
    [
      "a crash of a worker whose signal is told",
      `${started}Worker proc VllmWorker-1 died unexpectedly (exit code: -6), shutting down executor.\n`,
      1,
      null,
      "UNKNOWN",
    ],
    [
      "SIGKILL, whereupon the others were told to end",
      `${ready}(EngineCore_DP0 pid=7) INFO 12-01 10:00:09 [core.py:1] [shutdown] EngineCore: trigger received signal=SIGTERM\n`,
      null,
      9,
      "HOST_OOM_KILLED",
    ],
    [
      "SIGTERM, and SIGKILL when it did not end",
      `${ready}(APIServer pid=7) INFO 12-01 10:00:09 [x.py:1] [shutdown] API server: trigger received signal=SIGTERM\n`,
      null,
      9,
      "TERMINATED_BY_SIGNAL",
    ],
    ["SIGKILL after an exception", `${started}ZeroDivisionError: x\n`, 137, null, "UNKNOWN"],
    [
      "an empty wrapper",
      `${started}RuntimeError: Engine core initialization failed. Failed core proc(s): {}\n`,
      1,
      null,
      "HOST_OOM_KILLED",
    ],
    [
      "still starting",
      `${started}Loading safetensors checkpoint shards:  38% Completed | 62/163\n`,
      null,
      null,
      "NO_FAILURE",
    ],
    [
      "still starting, with a harmless error",
      `${started}ERROR 12-01 10:00:00 [x.py:1] KeyError: '/psm_12ab'\n`,
      null,
      null,
      "NO_FAILURE",
    ],
    ["up, after errors", `RuntimeError: No CUDA GPUs are available\n${ready}`, null, null, "NO_FAILURE"],
    [
      "stopped in order",
      `${ready}INFO:     Shutting down\nINFO:     Finished server process [1]\n`,
      0,
      null,
      "NO_FAILURE",
    ],
    [
      "a bad request while it serves",
      `${ready}ERROR 12-01 10:00:00 [x.py:1] PermissionError: [Errno 13] Permission denied: '/x'\n`,
      null,
      null,
      "NO_FAILURE",
    ],
  ])("%s", (_name, log, exitCode, signal, cause) => {
    expect(of(log, exitCode, signal).cause).toBe(cause);
  });
});

test.each([
  [
    "KV cache: about what fits",
    "ValueError: To serve at least one request with the models's max seq len (1048576), (24.00 GiB KV cache is needed, which is larger than the available KV cache memory (9.97 GiB).",
    "engine.maxModelLen: about 426000 (--max-model-len)",
  ],
  [
    "GPU memory: the fraction that is free",
    "ValueError: Free memory on device cuda:0 (3.22/4.0 GiB) on startup is less than desired GPU memory utilization (0.9, 3.6 GiB).",
    "engine.gpuMemoryUtilization: 0.8 or less (--gpu-memory-utilization)",
  ],
  [
    "heads: the sizes that divide them",
    "ValueError: Total number of attention heads (28) must be divisible by tensor parallel size (3).",
    "engine.tensorParallelSize: 1, 2 or 4 (--tensor-parallel-size)",
  ],
])("a change says the number to set. %s", (_name, line, change) => {
  expect(of(line).change).toContain(change);
});

test("a retried download is not why it failed", () => {
  const log = `'(ReadTimeoutError("Read timed out."))' thrown while requesting HEAD https://example.org/x\nZeroDivisionError: x`;
  expect(of(log)).toMatchObject({ cause: "UNKNOWN", logLine: 2 });
});

test("a warning weighs less than a symptom, unless it proves its cause", () => {
  const nccl = "RuntimeError: NCCL error: unhandled system error";
  expect(of(`WARNING 12-01 10:00:00 [x.py:1] No module named 'foo'\n${nccl}`).cause).toBe("NCCL_FAILED");
  const missing = "libcudart.so.12: cannot open shared object file";
  expect(of(`WARNING 12-01 10:00:00 [x.py:1] ImportError('${missing}')\n${nccl}`).cause).toBe(
    "LIBRARY_MISSING",
  );
});

test("interleaved workers are one failure, told by the first", () => {
  const line = (rank: number, text: string): string =>
    `(Worker_TP${String(rank)} pid=${String(rank)}) ERROR 12-01 10:00:00 [x.py:1] ${text}`;
  const log = [
    line(1, "WorkerProc failed to start."),
    line(0, "WorkerProc failed to start."),
    line(1, "torch.distributed.DistBackendError: NCCL error in: x, unhandled cuda error"),
    line(
      0,
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.11 GiB of which 1 MiB is free.",
    ),
    line(
      1,
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 1 has a total capacity of 79.11 GiB of which 1 MiB is free.",
    ),
  ].join("\n");
  expect(of(log)).toMatchObject({
    cause: "GPU_OOM_STARTUP",
    logLine: 4,
    place: "worker 0",
    values: { triedMiB: 20, totalGiB: 79.11 },
  });
});

test("an exception that says nothing is told with the line that raised it", () => {
  const log = [
    "Traceback (most recent call last):",
    '  File "x.py", line 1, in <module>',
    "    assert a == b",
    "           ^^^^^^",
    "AssertionError",
  ].join("\n");
  expect(of(log).summary).toBe("vLLM failed with: AssertionError, raised by assert a == b");
});

test("a start that went on after an error is not failed while it runs, and is when it ended", () => {
  const missing = "ImportError: libfoo.so.1: cannot open shared object file: No such file or directory";
  const log = `${missing}\nINFO 12-01 10:00:00 [x.py:1] Loading weights took 3.1 seconds\n`;
  expect(of(log, null).cause).toBe("NO_FAILURE");
  expect(of(log).cause).toBe("LIBRARY_MISSING");
  expect(of(missing, null).cause).toBe("LIBRARY_MISSING");
});

test("words of source code in a traceback are no sign of anything", () => {
  const log = '    raise RuntimeError("Engine core initialization failed. "\n';
  expect(of(log, null).cause).toBe("NO_FAILURE");
});

test("an error in a log of very many is found, and the first of them counts", () => {
  const retry = "HTTP Error 503 thrown while requesting HEAD https://example.org/x\n".repeat(20_000);
  const bars = "Loading safetensors checkpoint shards:  38% Completed | 1/2 [00:01<00:01]\r".repeat(20_000);
  const oom = (rank: number): string =>
    `(Worker_TP${String(rank)} pid=1) ERROR 12-01 10:00:00 [x.py:1] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. GPU ${String(rank)} has a total capacity of 79.11 GiB\n`;
  const log = `${retry}${bars}\n${oom(3)}${oom(4).repeat(20_000)}`;
  expect(of(log)).toMatchObject({
    cause: "GPU_OOM_STARTUP",
    logLine: 20_002,
    place: "worker 3",
    values: { triedMiB: 2, totalGiB: 79.11 },
  });
});

test.each([
  ["(EngineCore pid=1) (RayWorkerWrapper pid=2, ip=10.0.0.7) ", "Ray worker on 10.0.0.7"],
  ["(VllmWorker TP7 pid=2) ", "worker 7"],
  ["(APIServer pid=1) (EngineCore_DP6 pid=2) (Worker_DP6_EP6 pid=3) ", "worker DP6"],
  ["(Worker_PP1_TP0 pid=3) ", "worker PP1 TP0"],
  ["[2026-12-01T10:00:00Z] (Worker_TP3_EP3 pid=3) ", "worker 3"],
  ["2026-12-01T10:00:00+0000 gpu1 vllm[42]: (EngineCore_DP0 pid=3) ", "engine core"],
])("the innermost of the processes in front of a line is its place: %s", (prefix, place) => {
  expect(of(`${prefix}ERROR 12-01 10:00:00 [x.py:1] ZeroDivisionError: x`)).toMatchObject({
    summary: "vLLM failed with: ZeroDivisionError: x",
    place,
  });
});

test("without a word about why, only how it ended is told", () => {
  const log = "INFO 12-01 10:00:00 [x.py:1] Loading weights took 3 seconds\n";
  expect(of(log, 139)).toMatchObject({
    cause: "UNKNOWN",
    summary: "vLLM ended (signal 11) without saying why",
    evidence: "INFO 12-01 10:00:00 [x.py:1] Loading weights took 3 seconds",
    change: null,
  });
});

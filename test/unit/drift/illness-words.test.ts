import { describe, expect, it } from "vitest";
import type { Desired } from "../../../provider/src/core/desired";
import { driftLine, driftOf } from "../../../provider/src/core/drift";
import type { ServerSeen } from "../../../provider/src/core/observed";
import { NO_DIFFERENCES } from "../../../provider/src/core/observed-differences";
import { launch, observed, runningServer } from "../../support/host-facts";

const desired: Desired = { launch, overlay: null, warnings: [], kvCacheAuto: null };
const UP = "INFO:     Application startup complete.";
const WAITS =
  "(EngineCore pid=7) INFO 12-02 10:00:00 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds.";
const THROUGHPUT =
  "(APIServer pid=1) INFO 12-02 10:00:00 [loggers.py:271] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput:";

const words = (
  status: ServerSeen["status"],
  illness: Partial<NonNullable<ServerSeen["illness"]>>,
  parts: Partial<ServerSeen> = {},
): string | undefined =>
  driftOf(
    observed({
      server: runningServer(desired, {
        status,
        illness: { listens: true, health: 200, log: null, processes: [], ...illness },
        ...parts,
      }),
    }),
  ).map(driftLine)[0];

const token = (outcome: "unanswered" | "refused", detail: string): Pick<ServerSeen, "differences"> => ({
  differences: { ...NO_DIFFERENCES, token: { outcome, detail } },
});
const log = (...lines: readonly string[]): NonNullable<ServerSeen["illness"]>["log"] => [
  { first: 1, lines: ["INFO begin"] },
  { first: 90_001, lines: [...lines] },
];

describe("a server that hangs", () => {
  const detail = "POST /v1/completions: timed out; meanwhile it worked for nobody";
  const head = `status: it hangs: it answers no token while /health is 200 (${detail})`;
  const hung = (...lines: readonly string[]): string | undefined =>
    words("hung", { log: log(...lines) }, token("unanswered", detail));

  it("is told with what it was asked, and what its log says of it", () => {
    expect(hung(UP, WAITS)).toMatch(
      /; its log: a worker has not taken its next step for 60 s and more - proof: No available shared memory broadcast block found in 60 seconds\. \(log line 90002\), change: extraArgs/,
    );
    expect(hung(UP, WAITS)?.startsWith(head)).toBe(true);
  });

  it("is told by the plainest sign of several", () => {
    const lines = [
      `${THROUGHPUT} 0.0 tokens/s, Running: 255 reqs, Waiting: 0 reqs`,
      WAITS,
      "TimeoutError: RPC call to sample_tokens timed out.",
    ];
    expect(hung(UP, ...lines)).toContain(
      "; its log: a worker did not answer the engine's call sample_tokens",
    );
    expect(hung(UP, ...lines.slice(0, 2))).toContain("; its log: a worker has not taken its next step");
    expect(hung(UP, ...lines.slice(0, 1))).toContain(
      "; its log: 255 requests were running and none of them got a token",
    );
    const watchdog =
      "[Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=20518, OpType=ALLREDUCE, NumelIn=106496)";
    expect(hung(UP, watchdog)).toContain("; its log: NCCL's ALLREDUCE did not end");
  });

  it.each([
    ["while it loaded", [WAITS, UP]],
    ["before it worked again", [UP, WAITS, `${THROUGHPUT} 12.5 tokens/s, Running: 3 reqs, Waiting: 0 reqs`]],
    ["with no request", [UP, `${THROUGHPUT} 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs`]],
  ])("is not explained by what was printed %s", (_, lines) => {
    expect(hung(...lines)).toBe(head);
  });

  it("whose health does not answer either says so", () => {
    expect(words("hung", { health: null }, token("unanswered", "timed out"))).toBe(
      "status: it hangs: it answers no token while /health does not answer (timed out)",
    );
  });
});

describe("a server that lives and does not serve", () => {
  it("is told by what of it is gone", () => {
    expect([
      words("unresponsive", { listens: false, health: null }),
      words("unresponsive", { health: 500 }),
      words("unresponsive", { health: null }),
      words("unresponsive", {}, token("refused", "HTTP 401")),
    ]).toEqual([
      "status: its process lives but does not listen on port 8000",
      "status: its process lives but /health is 500",
      "status: its process lives and listens but answers nothing, neither /health nor a token",
      "status: it answers no token: HTTP 401",
    ]);
  });

  it("is told apart where its engine is dead, with the cause in its log", () => {
    const dead = words("unresponsive", {
      health: 503,
      log: log(
        UP,
        "(Worker pid=9) ERROR 12-02 10:00:00 [x.py:1] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB.",
        "(EngineCore pid=7) ERROR 12-02 10:00:00 [core.py:1521] EngineCore encountered a fatal error.",
      ),
    });
    expect(dead).toMatch(
      /^status: its engine is dead while its API server lives on \(\/health is 503\); its log: .*memory.* \(log line 90002\), change: /,
    );
  });

  it("says what its processes do, where that explains it", () => {
    const process = { pid: 12, command: "VLLM::Worker_TP0", state: "S", place: "futex_wait", cpuCores: 0.1 };
    const told = (...parts: readonly Partial<typeof process>[]): string | undefined =>
      words(
        "hung",
        { processes: parts.map((one) => ({ ...process, ...one })) },
        token("unanswered", "timed out"),
      );
    const head = "status: it hangs: it answers no token while /health is 200 (timed out)";
    expect(told({})).toBe(head);
    expect(told({}, { cpuCores: 1.04 }, { pid: 13, state: "D", place: "nfs_wait" })).toBe(
      `${head}; VLLM::Worker_TP0 (pid 13) waits in nfs_wait (state D); VLLM::Worker_TP0 (pid 12) keeps a core busy`,
    );
    const stopped = { ...process, state: "T", place: "do_signal_stop", command: "/x/vllm serve /m" };
    expect(words("unresponsive", { health: null, processes: [stopped] })).toBe(
      "status: its process lives and listens but answers nothing, neither /health nor a token; " +
        "API server (pid 12) waits in do_signal_stop (state T)",
    );
  });
});

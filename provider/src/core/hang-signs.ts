import type { LogExcerpt } from "./observed";

interface HangSign {
  readonly pattern: RegExp;
  /** {name} is a group. */
  readonly words: string;
  /** For when it comes again. */
  readonly change: string;
  readonly source: string;
}

export interface SeenHangSign {
  readonly words: string;
  readonly change: string;
  readonly line: string;
  /** In the log as it was written, from 1. */
  readonly number: number;
}

const BETWEEN_GPUS =
  'extraArgs["disable-custom-all-reduce"]: true or environment.NCCL_P2P_DISABLE: "1" where several GPUs wait for each other; without engine.speculativeConfig; a newer vllm.version';

/** What vLLM prints while it hangs, the plainest first. While it loads the same lines mean nothing, so only those after it was up count. */
const SIGNS: readonly HangSign[] = [
  {
    pattern: /RPC call to (?<rpc>\w+) timed out/,
    words: "a worker did not answer the engine's call {rpc} in time",
    change: BETWEEN_GPUS,
    source: "vLLM 0.9 to 0.33 v1/executor/multiproc_executor.py; vllm-project/vllm issue 37250",
  },
  {
    pattern: /Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=\d+, OpType=(?<operation>\w+)/,
    words: "NCCL's {operation} did not end: a GPU waits for another one",
    change: BETWEEN_GPUS,
    source: "torch 2 ProcessGroupNCCL.cpp; vllm-project/vllm issue 2770",
  },
  {
    pattern: /No available (?:shared memory broadcast )?block found in (?<seconds>\d+) second/,
    words: "a worker has not taken its next step for {seconds} s and more",
    change: BETWEEN_GPUS,
    source:
      "vLLM 0.6 to 0.33 distributed/device_communicators/shm_broadcast.py; vllm-project/vllm issues 27313, 46611",
  },
  {
    pattern: /Avg generation throughput: 0\.0 tokens\/s, Running: (?<running>[1-9]\d*) reqs/,
    words: "{running} requests were running and none of them got a token",
    change: BETWEEN_GPUS,
    source: "vLLM 0.6 to 0.33 v1/metrics/loggers.py; vllm-project/vllm issues 2731, 23378",
  },
];

const UP = /Application startup complete/;
/** After it, what was printed before is over. */
const WORKS = /Avg generation throughput: (?!0\.0 )[\d.]+ tokens\/s/;

/** The plainest sign of a hang that a server which was up has printed since it last worked; null: none. */
export function hangSignIn(log: LogExcerpt): SeenHangSign | null {
  const all = log.flatMap(({ first, lines }) =>
    lines.map((line, index) => ({ line, number: first + index })),
  );
  const end = log.at(-1)?.first ?? 1;
  const upAt = all.findLastIndex(({ line }) => UP.test(line));
  const workedAt = all.findLastIndex(({ line }) => WORKS.test(line));
  const since = all.filter(
    ({ number }, index) => index > Math.max(upAt, workedAt) && (upAt >= 0 || number >= end),
  );
  for (const { pattern, words, change } of SIGNS) {
    const seen = since.findLast(({ line }) => pattern.test(line));
    if (seen === undefined) continue;
    const groups = pattern.exec(seen.line)?.groups ?? {};
    return { ...seen, change, words: words.replace(/\{(\w+)\}/g, (_, name: string) => groups[name] ?? "") };
  }
  return null;
}

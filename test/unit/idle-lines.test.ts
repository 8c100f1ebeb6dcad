import { describe, expect, it } from "vitest";
import { idlePatterns } from "../../provider/src/core/idle-lines";

/** Each pattern with a line that it is for, and one that tells of life. */
const ROWS: readonly (readonly [string, string])[] = [
  [
    "(EngineCore pid=7) INFO 10-22 09:43:49 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging",
    "(EngineCore pid=7) INFO 10-22 09:43:49 [shm_broadcast.py:289] vLLM message queue communication handle: Handle(local_reader_ranks=[1])",
  ],
  [
    "(APIServer pid=1) DEBUG 08-09 20:55:03 [utils.py:1407] Waiting for 1 local, 0 remote core engine proc(s) to start.",
    "(APIServer pid=1) DEBUG 08-09 20:55:03 [utils.py:1440] READY from local core engine process 0.",
  ],
  [
    "INFO 08-02 08:50:03 [ray_utils.py:468] Waiting for creating a placement group of specs for 40 seconds. specs=[{'GPU': 1.0}]",
    "INFO 08-02 08:50:03 [ray_utils.py:372] Ray is already initialized. Skipping Ray initialization.",
  ],
  [
    "(APIServer pid=1) INFO 12-02 10:00:00 [loggers.py:271] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs",
    "(APIServer pid=1) INFO 12-02 10:00:00 [loggers.py:271] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 10.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs",
  ],
  [
    "[E306 00:03:07.842961975 socket.cpp:1011] [c10d] The client socket has timed out after 60000ms while trying to connect to (10.0.0.2, 29501).",
    "[rank0]:[W806 14:25:27.650991133 ProcessGroupGloo.cpp:524] Warning: Unable to resolve hostname to a (local) address.",
  ],
  ['INFO:     127.0.0.1:40000 - "GET /health HTTP/1.1" 200 OK', "INFO:     Application startup complete."],
];

describe("lines that are no sign of life", () => {
  const patterns = idlePatterns().map((pattern) => new RegExp(pattern));

  it("are all tried here", () => {
    expect(ROWS.map(([line]) => patterns.findIndex((pattern) => pattern.test(line)))).toEqual(
      patterns.map((_, index) => index),
    );
  });

  it.each(ROWS)("%s is one", (_, alive) => {
    expect(patterns.filter((pattern) => pattern.test(alive))).toEqual([]);
  });
});

interface IdleLine {
  /** A Python regular expression, against a whole line of the log. */
  readonly pattern: string;
  /** Version and file. */
  readonly source: string;
}

/**
 * Lines that come again and again while nothing happens: somebody waits and says so, or asks from outside. They are no sign of life of
 * a start; all others are.
 */
const IDLE_LINES: readonly IdleLine[] = [
  {
    pattern: String.raw`No available (?:shared memory broadcast )?block found in \d+ second`,
    source: "vLLM 0.6 to 0.33 distributed/device_communicators/shm_broadcast.py, every minute",
  },
  {
    pattern: String.raw`Waiting for \d+ local, \d+ remote core engine proc`,
    source: "vLLM 0.9 to 0.33 v1/engine/utils.py wait_for_engine_startup, at level DEBUG",
  },
  {
    pattern: String.raw`Waiting for creating a placement group of specs for \d+ seconds`,
    source: "vLLM 0.6 to 0.33 v1/executor/ray_utils.py _wait_until_pg_ready",
  },
  {
    pattern: String.raw`Avg prompt throughput: 0\.0 tokens/s, Avg generation throughput: 0\.0 tokens/s`,
    source: "vLLM 0.6 to 0.33 v1/metrics/loggers.py, every 10 seconds",
  },
  {
    pattern: String.raw`\[c10d\] .*(?:client socket (?:has )?(?:timed out|failed)|cannot be initialized to connect)`,
    source: "torch 2 csrc/distributed/c10d/socket.cpp: tried again until the process group's own limit",
  },
  {
    pattern: String.raw`"(?:GET|POST|HEAD) \S+ HTTP/1\.[01]" \d{3}`,
    source: "uvicorn protocols/http: somebody asks, and is answered by the API server alone",
  },
];

/** For the step that waits for a start. */
export function idlePatterns(): readonly string[] {
  return IDLE_LINES.map(({ pattern }) => pattern);
}

import { describe, expect, it } from "vitest";
import { hangAdvice } from "../../provider/src/core/hang-advice";
import { PHASES } from "../../provider/src/core/log-phase-rows";
import { startFailure } from "../../provider/src/core/start-failure";
import type { HungStart } from "../../provider/src/core/start-hung";

const HUNG: HungStart = {
  kind: "hung",
  silentSeconds: 904,
  isSpinning: false,
  lastLine: "(Worker_TP0 pid=12) INFO 12-02 10:00:00 [weight_utils.py:1] Loading shard",
  unanswered: null,
  processes: [
    {
      pid: 11,
      command: "/opt/python -B -c from multiprocessing.resource_tracker import main;main(31)",
      state: "S",
      place: "pipe_read",
      cpuCores: 0,
    },
    {
      pid: 10,
      command: "/opt/python /opt/bin/vllm serve /models/kimi --config /c.yaml",
      state: "S",
      place: "do_epoll_wait",
      cpuCores: 0,
    },
    {
      pid: 12,
      command: "VLLM::Worker_TP0      ",
      state: "D",
      place: "nfs_wait_bit_killable",
      cpuCores: 0,
    },
  ],
  progress: {
    phase: "loading weights",
    text: "loading weights 43 % (51/119 shards)",
    percent: 43,
  },
};

const message = (hung: Partial<HungStart>, log = ""): string =>
  startFailure({
    server: 'server "kimi" on gpu1',
    outcome: { ...HUNG, ...hung },
    log,
    port: 8000,
    vllmVersion: "0.32.0",
    logCommand: "ssh gpu1 'tail -n 200 /3.log'",
  }).message;

describe("the error of a start that hangs", () => {
  it("says where, for how long, what its processes wait in, and what usually helps there", () => {
    expect(message({})).toBe(
      `Cannot start server "kimi" on gpu1: it hangs while "loading weights 43 % (51/119 shards)": no sign of life for 15 min, need progress
  proof:  Loading shard   (last line of its log)
  change: ${hangAdvice("loading weights")}; timeouts.stall where it is only slow
  also:   VLLM::Worker_TP0 (pid 12) waits in nfs_wait_bit_killable (state D); API server (pid 10) waits in do_epoll_wait (state S)
  log:    ssh gpu1 'tail -n 200 /3.log'`,
    );
  });

  it("says of one that spins that its processes are busy, and which", () => {
    const processes = [0, 1, 2, 3, 4, 5].map((rank) => ({
      pid: 20 + rank,
      command: `VLLM::Worker_TP${String(rank)}`,
      state: "R",
      place: null,
      cpuCores: rank === 0 ? 0.1 : 1,
    }));
    const text = message({
      isSpinning: true,
      silentSeconds: 2700,
      processes,
      lastLine: null,
      progress: { phase: "connecting workers", text: "connecting the GPUs (NCCL)", percent: null },
    });
    expect(text).toBe(
      `Cannot start server "kimi" on gpu1: it hangs while "connecting the GPUs (NCCL)": its processes are busy, but nothing was printed, read or written for 45 min, need progress
  change: ${hangAdvice("connecting workers")}; timeouts.stall where it is only slow
  also:   VLLM::Worker_TP1 (pid 21) keeps a core busy; VLLM::Worker_TP2 (pid 22) keeps a core busy; VLLM::Worker_TP3 (pid 23) keeps a core busy; VLLM::Worker_TP4 (pid 24) keeps a core busy; 2 more
  log:    ssh gpu1 'tail -n 200 /3.log'`,
    );
  });

  it("says what a server that listens was asked, and of one without a word that its log tells nothing", () => {
    expect(message({ unanswered: "POST /v1/completions" })).toContain(
      "it hangs before its first answer (it listens, and was asked POST /v1/completions): no sign of life",
    );
    expect(message({ progress: null })).toContain("it hangs before its log tells how far it came: no sign");
    expect(message({ progress: null })).toContain(`change: ${hangAdvice(null)};`);
  });

  it("names the cause where one process has failed with it and the others wait for it", () => {
    const log = "INFO loading\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB.\n";
    const text = message({}, log);
    expect(text).toContain(
      "proof:  torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB.",
    );
    expect(text).toMatch(/\(the GPU has too little memory.*, log line 2\)/);
    expect(text).toMatch(/change: engine\..*; timeouts\.stall where it is only slow/);
  });
});

describe("what usually helps a start that hangs", () => {
  it("is known for every phase", () => {
    const before = hangAdvice(null);
    const early = ["importing", "configuring", "starting engine"];
    for (const phase of PHASES)
      expect([phase, hangAdvice(phase) === before]).toEqual([phase, early.includes(phase)]);
  });
});

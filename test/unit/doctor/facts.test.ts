import { describe, expect, it } from "vitest";
import { surveyFacts, surveyFindings } from "../../../provider/src/core/doctor";
import type { HostSurvey } from "../../../provider/src/core/observed-survey";
import { observed } from "../../support/host-facts";

const { host } = observed();
const BARE: HostSurvey = {
  machine: {
    host: {
      ...host,
      ...{ hostname: "box", user: "ann", pythonVersion: "3.9.2", stateRoot: "/home/ann/state" },
      ...{ diskFreeBytes: 2e12, shmFreeBytes: 1e9, shmTotalBytes: null },
      ...{ memoryTotalBytes: null, memoryAvailableBytes: null, processors: null },
      ...{ openFilesSoft: 1024, openFilesHard: -1, lockedMemoryBytes: null, clockSeconds: null },
    },
    gpus: null,
    gpuError: null,
  },
  executable: { found: true, path: "/opt/vllm/bin/vllm", version: null },
  hubClient: "/usr/bin/hf",
  missingTools: [],
  managers: [{ name: "process", reason: null }],
  servers: [{ serverId: "chat-0a1b2c3d", server: null }],
};
const NOW = { from: new Date(0), to: new Date(0) };

describe("the facts of a host", () => {
  it("are told as far as it tells them", () => {
    expect(surveyFacts(BARE).map(({ label, text }) => `${label}: ${text}`)).toEqual([
      "system: box, user ann, Python 3.9.2",
      "/dev/shm: 1.0 GB free",
      "disk: 2.0 TB free at /home/ann/state",
      "limits: open files 1024, at most without limit",
      "GPUs: none: there is no nvidia-smi",
      "vLLM: unknown version at /opt/vllm/bin/vllm",
      "compilers: all that vLLM can need",
      "hub client: /usr/bin/hf",
      "manager: process",
      "server: chat-0a1b2c3d: it could not be looked at",
    ]);
    expect(surveyFindings(BARE, NOW)).toEqual([]);
  });

  it("of a driver that does not answer is certain to fail a start on a GPU", () => {
    const machine = { ...BARE.machine, gpuError: "NVIDIA-SMI has failed" };
    expect(surveyFindings({ ...BARE, machine }, NOW)).toEqual([
      {
        severity: "error",
        code: "GPU_NOT_FOUND",
        summary: "no GPU can be seen: nvidia-smi is there, and tells of none",
        evidence: "NVIDIA-SMI has failed",
        change: "on the host: the NVIDIA driver   (nvidia-smi, dmesg)",
      },
    ]);
  });
});

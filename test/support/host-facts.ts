import type { Desired } from "../../provider/src/core/desired";
import type { GpuSeen, Observed, OwnerRecord, ServerSeen } from "../../provider/src/core/observed";
import { NO_DIFFERENCES } from "../../provider/src/core/observed-differences";
import type { GpuCondition } from "../../provider/src/core/observed-gpu";
import type { HubModel, Spec, VllmEnvironment } from "../../provider/src/core/spec";
import type { Launch } from "../../provider/src/core/step";

/** A declared server, an observed host and their parts as values; tests name only what their rule is about. */

export const SERVER_ID = "kimi-0a1b2c3d";
const URN = "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/vllm:VllmServer::kimi";

export function spec(parts: Partial<Spec> = {}): Spec {
  return {
    host: {
      host: "gpu1",
      port: null,
      user: null,
      password: null,
      privateKey: null,
      privateKeyPassword: null,
      agentSocketPath: null,
      hostKey: null,
      proxy: null,
      dialErrorLimit: 10,
      perDialTimeoutSeconds: 15,
      knownHostsFile: null,
      sshConfigFile: null,
      python: null,
      sudo: "auto",
    },
    model: { kind: "local", path: "/models/kimi", verify: "headers" },
    kvCacheDtype: "auto",
    quantizationConfigOverrides: {},
    configOverrides: {},
    vllm: { kind: "executable", executable: null },
    engine: {},
    extraArgs: {},
    environment: {},
    gpus: { kind: "derived", count: 1 },
    listen: { address: "127.0.0.1", port: 8000 },
    allowUnauthenticated: false,
    apiKey: null,
    service: {
      manager: "auto",
      startOnBoot: true,
      restart: { max: 5, withinSeconds: 600, delaySeconds: 5 },
      logs: { keep: 5, maxBytes: 104_857_600 },
    },
    readiness: { probe: "auto" },
    timeouts: { connect: 30, install: 3600, download: 120, ready: 3600, stall: 900, stop: 120 },
    update: { returnToLastGood: true },
    onDelete: { unreachableHost: "fail", model: "keep" },
    ...parts,
  };
}

export function hubModel(parts: Partial<HubModel> = {}): HubModel {
  return {
    kind: "hub",
    repo: "nvidia/kimi",
    revision: null,
    include: null,
    exclude: null,
    token: null,
    endpoint: null,
    cacheDir: null,
    verify: "headers",
    ...parts,
  };
}

export function environment(parts: Partial<VllmEnvironment> = {}): VllmEnvironment {
  return {
    kind: "environment",
    version: "0.33.0",
    packages: [],
    indexUrl: null,
    extraIndexUrls: [],
    python: null,
    torchBackend: null,
    ...parts,
  };
}

export const owner: OwnerRecord = {
  serverId: SERVER_ID,
  urn: URN,
  project: "shop",
  stack: "prod",
  name: "kimi",
  createdBy: "ann@laptop",
  createdAt: "2026-12-01T10:00:00.000Z",
  confirmed: true,
  claimId: "c1a1",
};

export function gpu(index: number, parts: Partial<GpuSeen> = {}): GpuSeen {
  return {
    index,
    uuid: `GPU-${String(index)}`,
    name: "NVIDIA RTX PRO 6000 Blackwell Server Edition",
    memoryTotalMib: 97887,
    memoryUsedMib: 4,
    computeCapability: "12.0",
    driverVersion: "580.95.05",
    processes: [],
    reservedBy: null,
    condition: null,
    ...parts,
  };
}

/** A GPU without a fault, in the modes it comes in. */
export const soundCondition: GpuCondition = {
  pciBusId: "0000:41:00",
  isPersistent: true,
  computeMode: "Default",
  isMig: false,
  uncorrectedErrors: 0,
  isRepairPending: false,
  hasRepairFailed: false,
};

export const absentServer: ServerSeen = {
  status: "absent",
  owner: null,
  generation: 0,
  launch: null,
  lastGood: null,
  manager: null,
  unit: null,
  leader: null,
  startedAt: null,
  ready: null,
  lastExit: null,
  crashes: [],
  illness: null,
  restarts: 0,
  processes: [],
  secretsMatch: null,
  modelPathIntact: null,
  differences: NO_DIFFERENCES,
  stateFolder: null,
  logPath: null,
};

/** A server that runs as `desired` says, proven ready. */
export function runningServer(desired: Desired, parts: Partial<ServerSeen> = {}): ServerSeen {
  return {
    ...absentServer,
    status: "ready",
    owner,
    generation: 3,
    launch: {
      fingerprint: desired.launch.fingerprint,
      executable: desired.launch.executable,
      modelPath: desired.launch.modelPath,
      listen: desired.launch.listen,
      servedModelNames: [...desired.launch.servedModelNames],
      restart: { ...desired.launch.restart },
      gpuUuids: ["GPU-0"],
      vllmVersion: desired.launch.vllmVersion,
      manager: "process",
      managerWish: desired.launch.manager,
      startOnBoot: desired.launch.startOnBoot,
      logs: { ...desired.launch.logs },
    },
    manager: "process",
    leader: { pid: 4242, startTicks: 99 },
    startedAt: "2026-12-01T10:01:00Z",
    ready: {
      generation: 3,
      readyAt: "2026-12-01T10:06:12Z",
      startSeconds: 312,
      modelNames: ["kimi"],
      modelRoot: desired.launch.modelPath,
      maxModelLen: 131072,
      cacheConfig: { cache_dtype: "auto" },
      kvCacheDtype: "bfloat16",
      probe: "completion",
    },
    processes: [{ pid: 4242, startTicks: 99, sessionId: 4242, uid: 1000, state: "S", command: "vllm serve" }],
    secretsMatch: true,
    modelPathIntact: true,
    stateFolder: `/home/ann/.local/state/pulumi-vllm/${SERVER_ID}`,
    logPath: `/home/ann/.local/state/pulumi-vllm/${SERVER_ID}/logs/3.log`,
    ...parts,
  };
}

/** Of an earlier agent, which told nothing of them. */
const untoldFacts = {
  shmTotalBytes: null,
  memoryTotalBytes: null,
  memoryAvailableBytes: null,
  processors: null,
  openFilesSoft: null,
  openFilesHard: null,
  lockedMemoryBytes: null,
  clockSeconds: null,
  lingers: null,
  xids: null,
};

export function observed(parts: Partial<Observed> = {}): Observed {
  return {
    host: {
      hostname: "gpu1",
      user: "ann",
      uid: 1000,
      home: "/home/ann",
      bootId: "boot-1",
      stateRoot: "/home/ann/.local/state/pulumi-vllm",
      pythonVersion: "3.11.2",
      diskFreeBytes: 1e12,
      shmFreeBytes: 1e11,
      ...untoldFacts,
    },
    gpus: [gpu(0), gpu(1)],
    gpuError: null,
    server: absentServer,
    executable: { found: true, path: "/opt/vllm/bin/vllm", version: "0.32.0" },
    checkpoint: {
      found: true,
      path: "/models/kimi",
      files: { "config.json": '{"architectures":["X"],"dtype":"bfloat16"}\n', "hf_quant_config.json": null },
      weightFiles: 2,
      weightBytes: 1e9,
    },
    port: { free: true },
    ...parts,
  };
}

export const launch: Launch = {
  fingerprint: "f00d",
  executable: "/opt/vllm/bin/vllm",
  vllmVersion: "0.32.0",
  executableWish: null,
  checkpointWish: "/models/kimi",
  modelPath: "/models/kimi",
  configYaml: 'fingerprint-value: "f00d"\n',
  environment: {},
  secretEnvironment: {},
  gpus: { kind: "count", count: 1, prefer: [] },
  gpuNames: "uuid",
  listen: { address: "127.0.0.1", port: 8000 },
  servedModelNames: ["kimi"],
  manager: "auto",
  sudo: "auto",
  startOnBoot: true,
  restart: { max: 5, withinSeconds: 600, delaySeconds: 5 },
  logs: { keep: 5, maxBytes: 104_857_600 },
  drainSeconds: 20,
};

import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  FINGERPRINT,
  KEY,
  NAMES,
  observeCompletion,
  observeKeyGuard,
  observeMetrics,
  observeModels,
  observeRefusals,
  observeRoutes,
} from "./observations-http";
import { hasVariable, listeningInodes, listens, mappedShm, sessionOf, shmMode } from "./observations-proc";
import { isBound, startServer, type Server, type StartOptions, type Subject } from "./observations-server";

/** What is looked at, once on the real vLLM and each time on the stand-in. Every value is free of pids, paths, ports and times. */

const MARKER = "PULUMI_VLLM_SERVER=contract-0a1b2c3d";
const [MARKER_NAME, MARKER_VALUE] = ["PULUMI_VLLM_SERVER", "contract-0a1b2c3d"];

/** As the product writes it: strings in quotes, true only; and one `false`, which must be dropped. */
const CONFIG = [
  ...["served-model-name:", ...NAMES.map((name) => `  - "${name}"`)],
  'load-format: "dummy"',
  "skip-tokenizer-init: true",
  'dtype: "bfloat16"',
  "max-model-len: 128",
  "enforce-eager: true",
  "shutdown-timeout: 30",
  'fingerprint-mode: "custom"',
  `fingerprint-value: "${FINGERPRINT}"`,
  "enable-prefix-caching: false",
  "no-such-flag: false",
  "",
].join("\n");

const PHASES: readonly RegExp[] = [
  /non-default args: /,
  /Resolved architecture: LlamaForCausalLM/,
  /Using max model len 128/,
  /Initializing a V1 LLM engine \(v0\.32\.0\) with config:/,
  /DP group leader: node_rank=/,
  /world_size=1 rank=0 local_rank=0 distributed_init_method=file:\S+ backend=gloo/,
  /Starting to load model \S+\.\.\./,
  /CPU KV cache size: [\d,]+ tokens, Maximum concurrency for 128 tokens per request: [\d.]+x/,
  /init engine \(profile, create kv cache, warmup model\) took [\d.]+ s/,
  /Supported tasks: \['generate'\]/,
  /Starting vLLM server on http:\/\/127\.0\.0\.1:\d+/,
  /Route: \/health, Methods: GET/,
  /Application startup complete\./,
];

async function withServer<T>(
  subject: Subject,
  options: StartOptions,
  look: (server: Server) => Promise<T>,
): Promise<T> {
  const server = await startServer(subject, options);
  try {
    return await look(server);
  } finally {
    await server.discard();
  }
}

function treeOf(server: Server): unknown {
  const seen = sessionOf(server.pid);
  const roleOf = new Map(seen.map(({ pid, role }) => [pid, role]));
  return seen.map(({ pid, parent, role, comm, group, session }) => ({
    role,
    // An interpreter has the name that its environment gave it: python, python3.
    comm: comm.replace(/^python[\d.]*$/, "python"),
    parent: pid === server.pid ? "launcher" : (roleOf.get(parent) ?? "gone"),
    isInLeadersGroupAndSession: group === server.pid && session === server.pid,
    hasMarker: hasVariable(pid, MARKER),
    mappedShm: mappedShm(pid).length,
    listens: listens(pid, server.port),
  }));
}

/** Names in TMPDIR by kind, each with how many there are. */
function temporaryFiles(server: Server): unknown {
  const kinds = readdirSync(server.temporary).map((name) => {
    const isSocket = statSync(join(server.temporary, name)).isSocket();
    if (isSocket && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name))
      return "socket with a UUID for a name";
    return name
      .replace(/^vllm_dist_[0-9a-f]{32}$/, "vllm_dist_<32 hex>")
      .replace(/^torchinductor_.*$/, "torchinductor_<user>");
  });
  return Object.fromEntries(
    [...new Set(kinds)].sort().map((kind) => [kind, kinds.filter((other) => other === kind).length]),
  );
}

const shmOf = (server: Server): readonly string[] => [
  ...new Set(sessionOf(server.pid).flatMap(({ pid }) => mappedShm(pid))),
];
const shmLeft = (names: readonly string[]): number => {
  const there = new Set(readdirSync("/dev/shm"));
  return names.filter((name) => there.has(name)).length;
};
const roles = (server: Server): readonly string[] => sessionOf(server.pid).map(({ role }) => role);
const pidOf = (server: Server, role: string): number =>
  sessionOf(server.pid).find((seen) => seen.role === role)?.pid ?? -1;
const gone = (server: Server): Promise<void> =>
  server.until("end of the session", () => sessionOf(server.pid).length === 0);

/** A whole life: starting, ready, asked, stopped by one TERM. */
export function observeLife(subject: Subject, model: string): Promise<unknown> {
  const environment = { SPT_NOENV: "1", VLLM_API_KEY: KEY, [MARKER_NAME]: MARKER_VALUE };
  return withServer(subject, { model, config: CONFIG, environment, isHeld: true }, async (server) => {
    await server.logged(/Starting to load model/);
    // Looked at first: the other look takes a while.
    const isListening = listeningInodes(server.port).length > 0;
    const starting = { isListening, isBound: isBound(server.port) };
    server.release();
    await server.ready();
    const shm = shmOf(server);
    const ready = {
      tree: treeOf(server),
      temporaryFiles: temporaryFiles(server),
      shm: shm.map((name) => ({
        name: name.replace(/^psm_[0-9a-f]{8}$/, "psm_<8 hex>"),
        mode: shmMode(name),
      })),
      models: await observeModels(server.port, model),
      completion: await observeCompletion(server.port),
      refusals: await observeRefusals(server.port),
      keyGuard: await observeKeyGuard(server.port),
      routes: await observeRoutes(server.port),
      metrics: await observeMetrics(server.port, server.pid),
    };
    process.kill(server.pid, "SIGTERM");
    const exit = await server.exited;
    await gone(server);
    const log = server.log();
    const places = PHASES.map((pattern) => pattern.exec(log)?.index ?? -1);
    const stopped = {
      exit,
      lastLine: log.trim().split("\n").at(-1)?.trim(),
      shmLeft: shmLeft(shm),
      temporaryFiles: temporaryFiles(server),
      isListening: listeningInodes(server.port).length > 0,
      missingPhases: PHASES.filter((_, index) => places[index] === -1).map(String),
      phasesAreInOrder: places.every((place, index) => index === 0 || place > (places[index - 1] ?? 0)),
      keyIsInTheLog: log.includes(KEY),
    };
    return { starting, ready, stopped };
  });
}

/** A TERM while the model loads, then the API server dies alone, then its orphans get a TERM. */
export function observeOrphans(subject: Subject, model: string): Promise<unknown> {
  const options = { model, config: CONFIG, environment: { [MARKER_NAME]: MARKER_VALUE }, isHeld: true };
  return withServer(subject, options, async (server) => {
    await server.logged(/Starting to load model/);
    process.kill(server.pid, "SIGTERM");
    server.release();
    await server.ready();
    const tree = sessionOf(server.pid).map(({ pid, role }) => ({
      role,
      hasMarker: hasVariable(pid, MARKER),
    }));
    const shm = shmOf(server);
    const engine = pidOf(server, "VLLM::EngineCore");
    process.kill(server.pid, "SIGKILL");
    const exit = await server.exited;
    await server.until("the port is free", () => listeningInodes(server.port).length === 0);
    const after = { roles: roles(server), shmLeft: shmLeft(shm) };
    process.kill(engine, "SIGTERM");
    await gone(server);
    return {
      termWhileLoading: "swallowed: it got ready",
      withoutSptNoenv: tree,
      exit,
      after,
      afterTermToEngine: { shmLeft: shmLeft(shm), temporaryFiles: temporaryFiles(server) },
    };
  });
}

/** The engine dies under a ready server: the exit code is 0 all the same. */
export function observeEngineDeath(subject: Subject, model: string): Promise<unknown> {
  return withServer(subject, { model, config: CONFIG, environment: {} }, async (server) => {
    await server.ready();
    const shm = shmOf(server);
    process.kill(pidOf(server, "VLLM::EngineCore"), "SIGKILL");
    const exit = await server.exited;
    await gone(server);
    return {
      exit,
      shmLeft: shmLeft(shm),
      temporaryFiles: temporaryFiles(server),
      saysEngineDead: server.log().includes("EngineDeadError"),
    };
  });
}

/** The incident: the checkpoint asks for an FP8 KV cache that this machine cannot do. */
export function observeFp8Failure(subject: Subject, fp8Model: string): Promise<unknown> {
  return withServer(subject, { model: fp8Model, config: CONFIG, environment: {} }, async (server) => {
    const exit = await server.exited;
    await gone(server);
    const lines = server
      .log()
      .split("\n")
      .map((line) => line.replace(/\(\w+ pid=\d+\) ERROR \S+ \S+ \[\S+\] /, "").trim());
    // Which processes are told to have failed depends on who is looked at first.
    const errors = lines
      .filter((line) => /^(\w+\.)*(\w*Error|Exception): /.test(line))
      .map((line) => line.replace(/proc\(s\): \{.*\}$/, "proc(s): {...}"));
    return {
      exit,
      errorsInOrder: errors.filter((line, index) => line !== errors[index - 1]),
      temporaryFiles: temporaryFiles(server),
    };
  });
}

/** What the command line itself refuses, before any model is looked at. */
export function observeCommandLine(subject: Subject): unknown {
  const run = (...words: readonly string[]): unknown => {
    const ended = spawnSync(subject.executable, words, {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: process.env["HOME"] ?? "/",
        NO_COLOR: "1",
        ...subject.environment,
      },
      timeout: subject.patienceSeconds * 1000,
    });
    return { code: ended.status, lastLine: `${ended.stdout}${ended.stderr}`.trim().split("\n").at(-1) };
  };
  return { unknownFlag: run("serve", "/m", "--no-such-key", "1") };
}

import { VllmServerError } from "../../provider/src/core/errors";
import type { Observed, ReadyRecord, ServerSeen } from "../../provider/src/core/observed";
import type { FetchStep, Launch, ReturnStep, Step } from "../../provider/src/core/step";
import type { HostAgent } from "../../provider/src/remote/host-agent";
import type { ApplyResult, FlagsResult, WaitResult } from "../../provider/src/remote/protocol";
import { absentServer, observed, runningServer } from "./host-facts";

/** What a server of this host proves when it becomes ready. */
export const PROVEN: ReadyRecord = {
  generation: 1,
  readyAt: "2026-12-01T10:06:12Z",
  startSeconds: 312,
  modelNames: ["kimi"],
  modelRoot: "/models/kimi",
  maxModelLen: 131072,
  cacheConfig: { cache_dtype: "bfloat16" },
  kvCacheDtype: "bfloat16",
  probe: "completion",
};

/** What a download comes to. */
export const COMMIT = "0123456789abcdef0123456789abcdef01234567";
export const SNAPSHOT = `/home/ann/.cache/huggingface/hub/models--nvidia--kimi/snapshots/${COMMIT}`;
const TINY_CHECKPOINT = {
  found: true as const,
  files: { "config.json": '{"dtype": "bfloat16"}', "hf_quant_config.json": null },
  weightFiles: 1,
  weightBytes: 1,
};

const DOWNLOADING = {
  event: "progress" as const,
  phase: "download" as const,
  text: "",
  done: 1,
  total: 119,
  bytesTotal: 540_100_000_000,
  bytesPerSecond: null,
  secondsLeft: null,
};

type Applied = ApplyResult["steps"][number];

/** A host as far as its agent's answers go: it does what the steps say, in memory, unless a test tells it otherwise. */
export class ToldHost implements HostAgent {
  /** "observe", "flags", or the kinds of the steps of one apply. */
  readonly calls: string[] = [];
  #server: ServerSeen;
  readonly #facts: Partial<Observed>;
  #waits: WaitResult[] = [];
  /** What the newest start runs, and what was ready last. */
  #launch: Launch | null = null;
  #good: Launch | null = null;
  #isDoomed = false;
  #notes: readonly string[] = [];
  #lacks: readonly string[] = [];
  #provided: ("install" | "fetch")[] = [];
  #isLosing = false;
  #isMute = false;
  #arriving: number[] = [];
  #forgetting = { freedBytes: 0, kept: [] as string[] };
  #failures: { readonly error: Error; readonly at: Step["kind"] | null }[] = [];

  constructor(server: Partial<ServerSeen> = {}, facts: Partial<Observed> = {}) {
    const isKnown = server.owner !== undefined;
    this.#server = { ...absentServer, ...(isKnown ? { status: "stopped" as const } : {}), ...server };
    this.#facts = facts;
  }

  /** The next wait ends like this. */
  waiting(wait: WaitResult): this {
    this.#waits.push(wait);
    return this;
  }

  /** The next apply fails, after those whose waits were told; `at`: at this step, the first one unless a test says otherwise. */
  failing(error: Error, at: Step["kind"] | null = null): this {
    this.#failures.push({ error, at });
    return this;
  }

  /** Whatever becomes ready next is gone right after. */
  dyingOnceReady(): this {
    this.#isDoomed = true;
    return this;
  }

  /** The next starts say this beside. */
  noting(...notes: readonly string[]): this {
    this.#notes = notes;
    return this;
  }

  /** Its vLLM does not tell what it knows. */
  mute(): this {
    this.#isMute = true;
    return this;
  }

  /** The agent says this before it carries out anything, once. */
  lacking(...notes: readonly string[]): this {
    this.#lacks = notes;
    return this;
  }

  /** What a deletion leaves of the checkpoint, and frees. */
  purging(freedBytes: number, ...kept: readonly string[]): this {
    this.#forgetting = { freedBytes, kept: [...kept] };
    return this;
  }

  /** Somebody takes away what was installed and downloaded. */
  lose(): void {
    this.#provided = [];
  }

  /** The next look comes after that. */
  losing(): this {
    this.#isLosing = true;
    return this;
  }

  /** Each of the next applies tells that so many bytes of a download are there. */
  arriving(...bytes: readonly number[]): this {
    this.#arriving = [...bytes];
    return this;
  }

  crash(): void {
    const lastExit = { generation: 6, code: null, signal: 9, at: "2026-12-01T11:00:00Z" };
    this.#server = { ...this.#server, status: "crashed", leader: null, restarts: 5, lastExit };
  }

  observe(): ReturnType<HostAgent["observe"]> {
    this.calls.push("observe");
    if (this.#isLosing && this.#provided.length > 0) {
      this.lose();
      this.#isLosing = false;
    }
    const { server: _server, executable, checkpoint, port, ...host } = observed(this.#facts);
    const seen = {
      executable: this.#provided.includes("install") ? observed().executable : executable,
      checkpoint: this.#provided.includes("fetch")
        ? { ...TINY_CHECKPOINT, path: SNAPSHOT, revision: COMMIT }
        : checkpoint,
    };
    const servers = [{ server: this.#server, ...seen, port }];
    return Promise.resolve({ ...host, servers, queryIndex: 0 });
  }

  refresh(): ReturnType<HostAgent["refresh"]> {
    return this.observe();
  }

  flags(): Promise<FlagsResult> {
    this.calls.push("flags");
    if (this.#isMute)
      return Promise.reject(
        new VllmServerError({ code: "VLLM_NOT_FOUND", summary: "Cannot ask vLLM", retryable: false }),
      );
    return Promise.resolve({ version: "0.31.0", flags: ["host", "port", "served-model-name"] });
  }

  apply(...[{ steps }, , onEvent]: Parameters<HostAgent["apply"]>): Promise<ApplyResult> {
    this.calls.push(steps.map((step) => step.kind).join(" "));
    for (const text of this.#lacks) onEvent({ event: "note", text });
    this.#lacks = [];
    const bytesDone = this.#arriving.shift() ?? null;
    if (bytesDone !== null) onEvent({ ...DOWNLOADING, bytesDone });
    const failure = this.#waits.length > 0 ? undefined : this.#failures.shift();
    if (failure !== undefined) {
      const found = steps.findIndex(({ kind }) => failure.at === null || kind === failure.at);
      const done = found < 0 ? steps : steps.slice(0, found);
      for (const step of done.flatMap((each) => this.#spelledOut(each))) this.#carryOut(step);
      return Promise.reject(failure.error);
    }
    return Promise.resolve({ steps: this.#carryOutAll(steps) });
  }

  #install(): Extract<Applied, { kind: "install" }>["install"] {
    const built = observed(this.#facts).executable?.found !== true && !this.#provided.includes("install");
    if (built) this.#provided.push("install");
    return { executable: "/opt/vllm/bin/vllm", version: "0.32.0", built, seconds: 95 };
  }

  #fetch({ checkpoint }: FetchStep): Extract<Applied, { kind: "fetch" }>["fetch"] {
    const isHub = checkpoint.key !== null;
    const isNew = isHub && !this.#provided.includes("fetch");
    if (isNew) this.#provided.push("fetch");
    return {
      revision: isHub ? COMMIT : null,
      path: checkpoint.key === null ? checkpoint.path : SNAPSHOT,
      files: 119,
      bytes: 540_100_000_000,
      fetchedBytes: isNew ? 540_100_000_000 : 0,
      seconds: isNew ? 512 : 0.1,
      refetched: [],
      hashed: 0,
      unhashed: [],
    };
  }

  #carryOutAll(steps: readonly Step[]): Applied[] {
    const results: Applied[] = [];
    for (const step of steps.flatMap((each) => this.#spelledOut(each))) {
      const result = this.#carryOut(step);
      results.push(result);
      if (result.kind === "wait" && result.wait.outcome !== "ready") break;
    }
    return results;
  }

  #spelledOut(step: Step): readonly Exclude<Step, ReturnStep>[] {
    if (step.kind !== "return") return [step];
    if (this.#good === null) throw new Error("nothing was ever ready");
    const { fingerprint } = this.#good;
    const wait = { kind: "wait" as const, probe: "completion" as const, apiKey: null, fingerprint };
    return [
      { kind: "start", launch: this.#good },
      {
        ...wait,
        timeoutSeconds: step.timeoutSeconds,
        fatalPatterns: step.fatalPatterns,
        stallSeconds: step.stallSeconds,
        idlePatterns: step.idlePatterns,
        kvCacheDtypes: null,
        kvCacheAuto: null,
      },
    ];
  }

  #carryOut(step: Exclude<Step, ReturnStep>): Applied {
    switch (step.kind) {
      case "claim":
        this.#server = { ...this.#server, owner: step.owner };
        return { kind: "claim" };
      case "confirm":
        if (this.#server.owner !== null)
          this.#server = { ...this.#server, owner: { ...this.#server.owner, confirmed: step.confirmed } };
        return { kind: "confirm" };
      case "start": {
        const parts = { owner: this.#server.owner, status: "starting" as const, ready: null, generation: 1 };
        const desired = { launch: step.launch, overlay: null, warnings: [], kvCacheAuto: null };
        this.#launch = step.launch;
        const lastGood = this.#good;
        this.#server = runningServer(desired, { ...parts, lastGood, logPath: "/1.log" });
        const begun = { generation: 1, pid: 4242, gpuUuids: ["GPU-0"], logPath: "/1.log" };
        return { kind: "start", start: { ...begun, manager: "process", notes: [...this.#notes] } };
      }
      case "wait": {
        const wait = this.#waits.shift() ?? { outcome: "ready", ready: PROVEN };
        if (wait.outcome !== "ready") return { kind: "wait", wait };
        this.#good = this.#launch;
        this.#server = { ...this.#server, status: "ready", ready: PROVEN, lastGood: this.#good };
        if (this.#isDoomed) this.crash();
        this.#isDoomed = false;
        return { kind: "wait", wait };
      }
      case "stop": {
        this.#server = { ...this.#server, status: "stopped", leader: null, processes: [] };
        const nothing = { ended: [], orphans: 0, removedShm: [], gpuMemoryMib: {}, seconds: 1 };
        return { kind: "stop", stop: nothing };
      }
      case "overlay":
        return { kind: "overlay", path: `/overlays/${step.name}`, built: true };
      case "policy":
        return { kind: "policy" };
      case "forget":
        return { kind: "forget", forget: this.#forgetting };
      case "install":
        return { kind: "install", install: this.#install() };
      case "fetch":
        return { kind: "fetch", fetch: this.#fetch(step) };
      default:
        return step satisfies never;
    }
  }
}

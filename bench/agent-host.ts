import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import type { Step } from "../provider/dist/core/step.js";
import { agentBundle } from "../provider/dist/remote/agent-bundle.js";
import { applyResultSchema, PROTOCOL_VERSION, type ApplyResult } from "../provider/dist/remote/protocol.js";

/** A home of its own on this machine, in which the agent carries out steps as it does on a host: sent as a bundle, without SSH. */
export interface AgentHost {
  readonly home: string;
  /** Fails when the agent does. */
  apply(step: Step): Promise<Applied>;
  remove(): void;
}

export interface Applied {
  readonly result: ApplyResult["steps"][number];
  /** From the event that begins the step to the one that ends it. */
  readonly stepSeconds: number;
  /** With what the agent takes to start and to end. */
  readonly callSeconds: number;
}

const ID = "bench-00000000";
const DEADLINE_SECONDS = 3600;

/** @param programs absolute paths of what a login finds on its PATH; `login`: more of its variables */
export function agentHost(
  programs: readonly string[],
  login: Readonly<Record<string, string>> = {},
): AgentHost {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-host-")));
  const [home, bin] = [join(folder, "home"), join(folder, "bin")];
  for (const made of [home, bin]) mkdirSync(made);
  for (const program of programs) symlinkSync(program, join(bin, basename(program)));
  const lines = Object.entries({ PATH: `${bin}:/usr/bin:/bin`, ...login });
  writeFileSync(join(home, ".profile"), lines.map(([name, text]) => `export ${name}="${text}"\n`).join(""));
  return {
    home,
    apply: (step) => apply(home, step),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function apply(home: string, step: Step): Promise<Applied> {
  const bundle = await agentBundle();
  const urn = `urn:pulumi:bench::bench::bench::${ID}`;
  const about = { project: "bench", stack: "bench", name: ID, createdBy: "bench", claimId: null };
  const owner = { ...about, serverId: ID, urn, createdAt: new Date().toISOString(), confirmed: false };
  const begin = performance.now();
  const child = spawn("/bin/sh", ["-c", bundle.command(null)], {
    env: { HOME: home, PATH: "/usr/bin:/bin", SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(
    bundle.stdin({
      op: "apply",
      serverId: ID,
      urn,
      client: "bench",
      lockWaitSeconds: 10,
      expect: { generation: 0, leaderPid: null },
      steps: [{ kind: "claim", owner }, step],
      protocol: PROTOCOL_VERSION,
      deadlineSeconds: DEADLINE_SECONDS,
    }),
  );
  const at = { begin: NaN, end: NaN };
  let last: { readonly event?: string; readonly result?: unknown } = {};
  for await (const line of createInterface(child.stdout)) {
    const event = JSON.parse(line);
    if (event.event === "step" && event.kind === step.kind) {
      at[event.state === "begin" ? "begin" : "end"] = performance.now();
    }
    last = event;
  }
  const callSeconds = (performance.now() - begin) / 1000;
  if (last.event !== "result") throw new Error(`the step ${step.kind} failed: ${JSON.stringify(last)}`);
  const result = applyResultSchema.parse(last.result).steps.at(-1);
  if (result?.kind !== step.kind) throw new Error(`no result of the step ${step.kind}`);
  return { result, stepSeconds: (at.end - at.begin) / 1000, callSeconds };
}

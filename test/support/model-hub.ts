import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

const readySchema = z.object({ url: z.string(), control: z.string() });
const fileSchema = z.object({
  bytes: z.number(),
  gets: z.number(),
  heads: z.number(),
  ranges: z.array(z.tuple([z.number(), z.number()])),
});
const stateSchema = z.object({
  away: z.boolean(),
  bytes: z.number(),
  files: z.record(z.string(), z.record(z.string(), fileSchema)),
  requests: z.array(z.object({ method: z.string(), url: z.string(), host: z.enum(["hub", "cdn"]) })),
  refs: z.record(z.string(), z.record(z.string(), z.string())),
  leakedTokens: z.array(z.string()),
});

/** What went out so far, by repository and file, and what the hub does at the moment. */
export type HubState = z.infer<typeof stateSchema>;

export interface ModelHub {
  /** For HF_ENDPOINT or model.endpoint. */
  readonly url: string;
  state(): Promise<HubState>;
  /** hub/README.md, "Faults": these from now on and no others. */
  setFaults(faults: readonly object[]): Promise<HubState>;
  /** Cuts every connection and refuses new ones, until it comes back under the same address. */
  goAway(): Promise<HubState>;
  comeBack(): Promise<HubState>;
  /** A branch that somebody pushed to. */
  move(repository: string, ref: string, sha: string): Promise<HubState>;
  close(): Promise<void>;
}

/** Starts a model hub of `config` (hub/README.md) in a process that ends with this one. */
export async function startModelHub(config: object): Promise<ModelHub> {
  const folder = mkdtempSync(join(tmpdir(), "model-hub-"));
  const configFile = join(folder, "config.json");
  writeFileSync(configFile, JSON.stringify(config));
  const child = spawn("python3", ["-B", join(import.meta.dirname, "hub", "serve.py"), configFile], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await Promise.race([
    once(createInterface(child.stdout), "line"),
    once(child, "exit").then(() => Promise.reject(new Error("the model hub did not start: see above"))),
  ]);
  rmSync(folder, { recursive: true });
  const { url, control } = readySchema.parse(JSON.parse(String(line)));

  async function order(path: string, told?: unknown): Promise<HubState> {
    const body = told === undefined ? "" : JSON.stringify(told);
    const answer = await fetch(control + path, path === "/state" ? {} : { method: "POST", body });
    if (!answer.ok) throw new Error(`the model hub refuses ${path}: ${await answer.text()}`);
    return stateSchema.parse(await answer.json());
  }
  return {
    url,
    state: () => order("/state"),
    setFaults: (faults) => order("/faults", faults),
    goAway: () => order("/away"),
    comeBack: () => order("/back"),
    move: (repository, ref, sha) => order("/refs", { repository, ref, sha }),
    close: async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}

import { z } from "zod";
import { startServed } from "./served-process.ts";

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
  mostStreams: z.number(),
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
  /** What went out so far counts no more. */
  clearCounts(): Promise<HubState>;
  /** A branch that somebody pushed to. */
  move(repository: string, ref: string, sha: string): Promise<HubState>;
  close(): Promise<void>;
}

/** Starts a model hub of `config` (hub/README.md) in a process that ends with this one. */
export async function startModelHub(config: object): Promise<ModelHub> {
  const { said, close } = await startServed("hub", config);
  const { url, control } = readySchema.parse(said);

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
    clearCounts: () => order("/counts/clear"),
    move: (repository, ref, sha) => order("/refs", { repository, ref, sha }),
    close,
  };
}

import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { ensureHf } from "../../scripts/setup-hf.mjs";
import { eventually } from "./eventually.ts";
import { gpuHost, type GpuHost } from "./gpu-host.ts";
import { startModelHub, type ModelHub } from "./model-hub.ts";

const callSchema = z.object({ argv: z.array(z.string()), environment: z.record(z.string(), z.string()) });

/** How the hub's client was called. */
export type ClientCall = z.infer<typeof callSchema>;

/** A host with the stand-in vLLM, its GPUs and the hub's real client, and a model hub on this machine. */
export interface HubHost extends GpuHost {
  readonly hub: ModelHub;
  /** Every call of the client so far, in order. */
  clientCalls(): readonly ClientCall[];
  /** What a login of the user sets from now on, beside PATH. */
  setLogin(variables: Readonly<Record<string, string>>): void;
  /** Folder of a repository in the host's hub cache. */
  repository(name: string): string;
  snapshot(name: string, sha: string): string;
  /** A path below the tool's own state on the host. */
  state(path: string): string;
}

/** @param config of the hub (hub/README.md) */
export async function hubHost(config: object): Promise<HubHost> {
  const bed = await gpuHost();
  const tools = realpathSync(mkdtempSync(join(tmpdir(), "hub-client-")));
  const real = await ensureHf();
  writeFileSync(join(tools, "real"), real);
  const program = readFileSync(join(import.meta.dirname, "noted_hf.py"), "utf8");
  // A Python of its own: the real one's may stand in another folder.
  writeFileSync(join(tools, "hf"), `#!${realpathSync(join(dirname(real), "python"))} -IB\n${program}`);
  chmodSync(join(tools, "hf"), 0o755);
  const hub = await startModelHub(config);
  const cache = join(bed.home, ".cache/huggingface/hub");
  const repository = (name: string): string => join(cache, `models--${name.replaceAll("/", "--")}`);
  const setLogin = (variables: Readonly<Record<string, string>>): void => {
    const all = { PATH: `${tools}:${dirname(bed.nvidiaSmi)}:/usr/bin:/bin`, ...variables };
    const lines = Object.entries(all).map(([name, text]) => `export ${name}='${text}'\n`);
    writeFileSync(join(bed.home, ".profile"), lines.join(""));
  };
  setLogin({});
  return {
    ...bed,
    hub,
    setLogin,
    repository,
    clientCalls: () => {
      const calls = join(tools, "calls");
      const lines = existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [];
      return lines.map((line) => callSchema.parse(JSON.parse(line)));
    },
    snapshot: (name, sha) => join(repository(name), "snapshots", sha),
    state: (path) => join(bed.home, ".local/state/pulumi-vllm", path),
    close: async () => {
      try {
        // A client that hangs on a stalled file would outlive its job.
        await hub.setFaults([]);
        await bed.close();
      } finally {
        await hub.close();
        rmSync(tools, { recursive: true, force: true });
      }
    },
  };
}

/** How often each file of a repository went out since the counts began; files that were not asked for are left out. */
export async function sentOut(hub: ModelHub, repository: string): Promise<Readonly<Record<string, number>>> {
  const files = Object.entries((await hub.state()).files[repository] ?? {});
  return Object.fromEntries(files.flatMap(([path, { gets }]) => (gets === 0 ? [] : [[path, gets]])));
}

/** Resolves once the hub has been asked for the file so often. */
export async function askedFor(hub: ModelHub, repository: string, path: string, times = 1): Promise<void> {
  await eventually(`the hub is asked for ${path}`, async () =>
    ((await sentOut(hub, repository))[path] ?? 0) >= times ? true : null,
  );
}

/** One token from a server on this machine; the status of its answer. */
export async function askForToken(port: number): Promise<number> {
  const body = JSON.stringify({ model: "tiny", prompt: "one", max_tokens: 1 });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`http://127.0.0.1:${String(port)}/v1/completions`, {
    method: "POST",
    headers,
    body,
  });
  await answer.text();
  return answer.status;
}

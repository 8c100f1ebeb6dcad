import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { quoteAll } from "../ssh/quote";
import type { AgentRequest } from "./protocol";

/** The agent as it is sent with every request. */
export interface AgentBundle {
  /** Command line for the host's login shell; `python` is a path on the host, null to look for one. */
  command(python: string | null): string;
  /** Everything for standard input: the agent's own text, then the request. */
  stdin(request: AgentRequest): Buffer;
}

/** Stands in the command line. */
const LAUNCH = "launch.sh";

let loading: Promise<AgentBundle> | undefined;

/** Reads and compresses the agent once in a process. The wire format is told in agent/loader.py. */
export function agentBundle(): Promise<AgentBundle> {
  loading ??= load(join(__dirname, "agent"));
  return loading;
}

async function load(folder: string): Promise<AgentBundle> {
  const modules: Record<string, string> = {};
  const travels = (name: string): boolean => /\.(?:py|sh)$/.test(name) && name !== LAUNCH;
  for (const file of (await readdir(folder)).filter(travels).sort()) {
    modules[moduleName(file)] = await readFile(join(folder, file), "utf8");
  }
  const { "agent.loader": loader, ...others } = modules;
  if (loader === undefined) throw new Error(`no loader.py in ${folder}: the package is incomplete`);
  const text = JSON.stringify({ loader, modules: others });
  const packed = await promisify(deflate)(Buffer.from(text, "utf8"));
  const head = Buffer.concat([Buffer.from(`${String(packed.length)}\n`, "latin1"), packed]);
  const launch = onOneLine(await readFile(join(folder, LAUNCH), "utf8"));
  return {
    command: (python) => `sh -c ${quoteAll([launch, "sh", python ?? ""])}`,
    stdin: (request) => Buffer.concat([head, Buffer.from(JSON.stringify(request), "utf8")]),
  };
}

function moduleName(file: string): string {
  if (file.endsWith(".sh")) return file;
  return file === "__init__.py" ? "agent" : `agent.${file.slice(0, -".py".length)}`;
}

/** launch.sh is written so that it stands this; csh knows no line breaks inside quotes. */
function onOneLine(script: string): string {
  const lines = script.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "" && !line.startsWith("#")).join(" ");
}

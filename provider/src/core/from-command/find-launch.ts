import type { parse } from "unbash" with { "resolution-mode": "import" };
import { NEWEST_FLAGS } from "../vllm-flags-table";
import { containerRun } from "./container-run";
import { type GivenWord, withText } from "./given-word";
import { imageVersion, isVllmImage } from "./image-version";
import type { Launch } from "./launch";
import { Notes, Rejected } from "./note";
import { readScript, type ShellCommand } from "./shell-script";
import { startIn, vllmCall } from "./vllm-call";

/** Found servers, and how often each is started. */
export interface FoundLaunch {
  readonly launch: Launch;
  readonly times: number | null;
}

export interface FindContext {
  readonly parse: typeof parse;
  readonly notes: Notes;
  readonly files: Map<string, string>;
}

/** All vLLM servers that a shell text starts. */
export function launchesIn(
  script: string,
  context: FindContext,
  given: ShellCommand["variables"] = new Map(),
): readonly FoundLaunch[] {
  const { commands, files } = readScript(script, context.parse, context.notes, given);
  for (const [name, text] of files) context.files.set(name, text);
  return commands.flatMap((command) => {
    const launch = launchOf(command, context);
    return launch === null ? [] : [{ launch, times: command.times }];
  });
}

/** The server that one command starts; null: none. Its notes are kept only where it is one. */
export function launchOf(command: ShellCommand, context: FindContext): Launch | null {
  const own: FindContext = { ...context, notes: new Notes() };
  const started = startIn<Launch>(
    command.words,
    own.notes,
    (words) => containerLaunch(words, command, own) ?? directLaunch(words, command),
    (script) => insideScript(script, command, own),
  );
  if (started === null) return null;
  context.notes.addAll(own.notes.all());
  const { found, environment } = started;
  return found.container === null
    ? { ...found, environment: new Map([...found.environment, ...environment]) }
    : found;
}

function directLaunch(words: readonly GivenWord[], command: ShellCommand): Launch | null {
  const call = vllmCall(words);
  if (call === null) return null;
  const used = new Set(call.words.flatMap(({ from }) => from));
  const exported = [...command.exported].filter(([name]) => !used.has(name) || isForPrograms(name));
  const { activated } = command;
  return {
    words: call.words,
    environment: new Map([...exported, ...command.prefix]),
    container: null,
    executable:
      call.executable ?? (activated === null ? null : withText(activated, `${activated.text}/bin/vllm`)),
    version: null,
  };
}

/** Variables that programs read, also where the command line uses them too. */
function isForPrograms(name: string): boolean {
  return /^(?:VLLM_|HF_|HUGGING_FACE|NCCL_|CUDA_|TORCH|PYTORCH_|TRITON_|FLASHINFER_|TRANSFORMERS_|UCX_|GLOO_|OMP_)/.test(
    name,
  );
}

function containerLaunch(
  words: readonly GivenWord[],
  command: ShellCommand,
  context: FindContext,
): Launch | null {
  const outside = new Map([...command.exported, ...command.prefix]);
  const notes = new Notes();
  const run = containerRun(words, outside, notes);
  if (run === null) return null;
  const inner = containerWords(run.words, run, context);
  if (inner === null) return null;
  context.notes.addAll(notes.all());
  if (run.dropped.length > 0) context.notes.add("container-only", "docker", run.dropped.join(" "));
  return { ...inner, container: run.container, version: imageVersion(run.image, context.notes) };
}

/** What runs in a container: a whole command, or the words of the image's own `vllm serve`. */
export function containerWords(
  words: readonly GivenWord[],
  run: {
    readonly image: GivenWord;
    readonly hasEntrypoint: boolean;
    readonly environment: ReadonlyMap<string, GivenWord>;
  },
  context: FindContext,
): Launch | null {
  const command = commandOf(words, run.environment);
  const whole = launchOf(command, context);
  if (whole !== null) return whole;
  const [first] = words;
  const isOther = first !== undefined && /^(?:\/\S*\/)?(?:bash|sh|python3?|sleep|vllm|pip)$/.test(first.text);
  if (run.hasEntrypoint || isOther || !(isVllmImage(run.image) || areVllmWords(words))) return null;
  const behind = first?.text === "serve" ? words.slice(1) : words;
  return { words: behind, environment: run.environment, container: null, executable: null, version: null };
}

/** An image under any name: what stands behind it are flags of vLLM. */
function areVllmWords(words: readonly GivenWord[]): boolean {
  const flags = words.filter(({ text }) => text.startsWith("--"));
  const known = flags.filter(({ text }) =>
    NEWEST_FLAGS.has(
      text
        .slice(2)
        .replace(/[=.].*$/s, "")
        .replaceAll("_", "-"),
    ),
  );
  return known.length >= 2 && known.length * 2 > flags.length;
}

/** A command outside any shell: of systemd, of a container. */
export function commandOf(
  words: readonly GivenWord[],
  environment: ReadonlyMap<string, GivenWord>,
): ShellCommand {
  return {
    words,
    prefix: environment,
    exported: new Map(),
    variables: environment,
    activated: null,
    times: 1,
  };
}

/** `bash -c "..."`: a text of its own, with the variables around it. */
function insideScript(script: GivenWord, command: ShellCommand, context: FindContext): Launch | null {
  const variables = new Map([...command.variables, ...command.exported, ...command.prefix]);
  const launch = onlyOne(launchesIn(script.text, context, variables));
  if (launch?.container !== null) return launch;
  const outside = [...command.exported, ...command.prefix];
  return { ...launch, environment: new Map([...outside, ...launch.environment]) };
}

/** null: there is none. Fails with Rejected several-servers. */
export function onlyOne(found: readonly FoundLaunch[]): Launch | null {
  const isCounted = found.every(({ times }) => times !== null);
  const count = found.reduce((sum, { times }) => sum + (times ?? 1), 0);
  if (count > 1 || !isCounted)
    throw new Rejected("several-servers", isCounted ? String(count) : "", "paste one of them at a time");
  return found[0]?.launch ?? null;
}

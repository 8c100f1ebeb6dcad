import { assignmentIn, baseName, type GivenWord, withText } from "./given-word";
import type { Notes } from "./note";

/** What starts vLLM among the words of a command. */
export interface VllmCall {
  /** Behind `vllm serve`. */
  readonly words: readonly GivenWord[];
  /** `/opt/v/bin/vllm`; null: found by PATH. */
  readonly executable: GivenWord | null;
}

/** Words of a command that begin something which is looked for, and what stands before them. */
export interface Start<Found> {
  readonly found: Found;
  /** Variables that a wrapper sets. */
  readonly environment: ReadonlyMap<string, GivenWord>;
}

type Wrapper = "silent" | "told" | "uv" | "conda";

/** Programs that start the program which their words name. A further one is one line here. */
const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ["exec", "silent"],
  ["env", "silent"],
  ["command", "silent"],
  ["time", "silent"],
  ["sudo", "told"],
  ["nohup", "told"],
  ["setsid", "told"],
  ["numactl", "told"],
  ["taskset", "told"],
  ["nice", "told"],
  ["ionice", "told"],
  ["chrt", "told"],
  ["timeout", "told"],
  ["stdbuf", "told"],
  ["unbuffer", "told"],
  ["tmux", "told"],
  ["screen", "told"],
  ["systemd-run", "told"],
  ["systemd-inhibit", "told"],
  ["srun", "told"],
  ["mpirun", "told"],
  ["nsys", "told"],
  ["apptainer", "told"],
  ["singularity", "told"],
  ["ssh", "told"],
  ["bash", "silent"],
  ["sh", "silent"],
  ["zsh", "silent"],
  ["uv", "uv"],
  ["uvx", "uv"],
  ["pipx", "uv"],
  ["poetry", "uv"],
  ["pixi", "uv"],
  ["conda", "conda"],
  ["mamba", "conda"],
  ["micromamba", "conda"],
]);

const API_SERVER = /^vllm\.entrypoints\.openai\.api_server$/;

/** The words of vLLM when the first of them starts it; null: they start something else. */
export function vllmCall(words: readonly GivenWord[]): VllmCall | null {
  const [first, second] = words;
  if (first === undefined) return null;
  const name = baseName(first.text);
  if (name === "vllm" && second?.text === "serve")
    return { words: words.slice(2), executable: first.text.includes("/") ? first : null };
  if (!/^python[\d.]*$/.test(name)) return null;
  const at = words.findIndex(({ text }, index) => index > 0 && !/^-[uOBIsSE]+$/.test(text));
  const module = words[at]?.text === "-m" ? words[at + 1]?.text : undefined;
  const isScript = /\/vllm\/entrypoints\/openai\/api_server\.py$/.test(words[at]?.text ?? "");
  const isMain =
    (module === "vllm" || module === "vllm.entrypoints.cli.main") && words[at + 2]?.text === "serve";
  if (!isScript && !isMain && !(module !== undefined && API_SERVER.test(module))) return null;
  const folder = first.text.slice(0, first.text.length - name.length);
  return {
    words: words.slice(isScript ? at + 1 : at + (isMain ? 3 : 2)),
    executable: folder === "" ? null : withText(first, `${folder}vllm`),
  };
}

/**
 * Looks behind wrappers for what `find` knows, and tells which there were.
 * @param inside called with a script that a wrapper is given as one word.
 */
export function startIn<Found>(
  words: readonly GivenWord[],
  notes: Notes,
  find: (words: readonly GivenWord[]) => Found | null,
  inside: (script: GivenWord) => Found | null,
): Start<Found> | null {
  const environment = new Map<string, GivenWord>();
  const told: (() => void)[] = [];
  let at = 0;
  for (;;) {
    const found = find(words.slice(at));
    if (found !== null) {
      for (const tell of told) tell();
      return { found, environment };
    }
    const name = baseName(words[at]?.text ?? "");
    const wrapper = WRAPPERS.get(name);
    if (wrapper === undefined) return null;
    told.push(() => {
      tellWrapper(notes, name, wrapper, words.slice(at));
    });
    const next = words.findIndex((word, index) => {
      if (index <= at) return false;
      if (isScript(word)) return true;
      return find(words.slice(index)) !== null || WRAPPERS.has(baseName(word.text));
    });
    if (next === -1) return null;
    for (const word of words.slice(at + 1, next)) addAssignment(environment, word);
    const script = words[next];
    if (script !== undefined && isScript(script)) {
      const nested = inside(script);
      if (nested === null) return null;
      for (const tell of told) tell();
      return { found: nested, environment };
    }
    at = next;
  }
}

/** A whole command line in one word, as `bash -c` and tmux take it. */
function isScript({ text }: GivenWord): boolean {
  if (!/\s/.test(text)) return false;
  // A variable's value can have vllm and blanks in it too.
  return /^[A-Za-z_]\w*=/.test(text) ? /\svllm\s+serve\s/.test(text) : /\bvllm\b/.test(text);
}

function addAssignment(environment: Map<string, GivenWord>, word: GivenWord): void {
  // `-E NAME=value` and `--setenv=NAME=value` of systemd-run among them.
  const assignment = assignmentIn(withText(word, word.text.replace(/^(?:--setenv=|-E)/, "")));
  if (assignment !== null) environment.set(assignment.name, assignment.value);
}

/** Where its folder is, only the host's conda knows. */
export function tellConda(environment: string, notes: Notes): void {
  notes.add("needs-value", "vllm.executable", `bin/vllm of the conda environment ${environment}`);
}

function tellWrapper(notes: Notes, name: string, wrapper: Wrapper, words: readonly GivenWord[]): void {
  if (wrapper === "told") notes.add("wrapper", name, "the service manager does this");
  if (wrapper === "uv")
    notes.add(
      "uv-project",
      "vllm",
      "vLLM came from the project of the folder; pin vllm.version or name vllm.executable",
    );
  if (wrapper === "conda") {
    const at = words.findIndex(({ text }) => /^(?:-n|--name|-p|--prefix)$/.test(text));
    tellConda(words[at + 1]?.text ?? "of conda", notes);
  }
}

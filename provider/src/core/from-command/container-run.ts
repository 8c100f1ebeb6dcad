import {
  assignmentIn,
  baseName,
  type GivenWord,
  isKnown,
  isName,
  plainWord,
  unknownWord,
  withText,
} from "./given-word";
import type { Container, Mount, PortMapping } from "./launch";
import type { Notes } from "./note";

/** `docker run` taken apart. */
export interface ContainerRun {
  readonly container: Container;
  readonly image: GivenWord;
  /** Entry point, where one is named, and what stands behind the image. */
  readonly words: readonly GivenWord[];
  readonly hasEntrypoint: boolean;
  readonly environment: ReadonlyMap<string, GivenWord>;
  /** Options that mean something only for a container. */
  readonly dropped: readonly string[];
}

const ENGINES: ReadonlySet<string> = new Set(["docker", "podman", "nerdctl"]);

/** Options of `run` that take no value. Source: docker and podman command-line references, `run`. */
const SWITCHES: ReadonlySet<string> = new Set([
  ...["-d", "--detach", "-i", "--interactive", "-t", "--tty", "-P", "--publish-all", "-q", "--quiet"],
  ...[
    "--rm",
    "--privileged",
    "--init",
    "--read-only",
    "--no-healthcheck",
    "--oom-kill-disable",
    "--sig-proxy",
  ],
  ...["--disable-content-trust", "--help", "--replace", "--rmi", "--no-hosts", "--no-hostname", "--env-host"],
  ...["--tls-verify", "--http-proxy", "--use-api-socket"],
]);

/** Their values are read. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ["-e", "--env"],
  ["-v", "--volume"],
  ["-p", "--publish"],
  ["--net", "--network"],
]);

/** null: the words are no `docker run`. */
export function containerRun(
  words: readonly GivenWord[],
  environment: ReadonlyMap<string, GivenWord>,
  notes: Notes,
): ContainerRun | null {
  const start = runBehind(words);
  if (start === null) return null;
  const options = new Map<string, GivenWord[]>();
  const dropped: string[] = [];
  let at = start;
  for (; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined || !word.text.startsWith("-") || word.text === "--") break;
    const [written, inline] = split(word);
    const name = SHORT_NAMES.get(written) ?? written;
    if (SWITCHES.has(name) || /^-[ditPq]+$/.test(name)) {
      dropped.push(name);
      continue;
    }
    const attached = /^-([evpwuhm])(.+)$/.exec(written);
    const value = inline ?? (attached === null ? words[(at += 1)] : withText(word, attached[2] ?? ""));
    const option =
      attached === null ? name : (SHORT_NAMES.get(`-${attached[1] ?? ""}`) ?? `-${attached[1] ?? ""}`);
    if (value !== undefined) options.set(option, [...(options.get(option) ?? []), value]);
  }
  const image = words[words[at]?.text === "--" ? at + 1 : at];
  if (image === undefined) return null;
  const behind = words.slice(words.indexOf(image) + 1);
  const of = (name: string): readonly GivenWord[] => options.get(name) ?? [];
  for (const file of of("--env-file"))
    notes.add("needs-file", "env_file", `${file.text}: what it sets is not known; put it into environment`);
  const entrypoint = of("--entrypoint").at(-1);
  const read = [
    "--env",
    "--volume",
    "--mount",
    "--publish",
    "--gpus",
    "--network",
    "--env-file",
    "--entrypoint",
  ];
  const gpus = of("--gpus").at(-1) ?? of("--device").find(({ text }) => text.includes("nvidia.com/gpu"));
  return {
    image,
    words: entrypoint === undefined || entrypoint.text === "" ? behind : [entrypoint, ...behind],
    hasEntrypoint: entrypoint !== undefined,
    environment: new Map(of("--env").flatMap((each) => variable(each, environment))),
    container: {
      mounts: [...of("--volume").flatMap(mountIn), ...of("--mount").flatMap(longMountIn)],
      ports: of("--publish").flatMap(portIn),
      isHostNetwork: of("--network").at(-1)?.text === "host",
      gpus: gpusIn(gpus),
      asksForGpus: gpus !== undefined,
    },
    dropped: [...dropped, ...[...options.keys()].filter((name) => !read.includes(name))],
  };
}

/** Where the options of `run` begin; null: it is none. */
function runBehind(words: readonly GivenWord[]): number | null {
  if (!ENGINES.has(baseName(words[0]?.text ?? ""))) return null;
  const at = words[1]?.text === "container" ? 2 : 1;
  return words[at]?.text === "run" || words[at]?.text === "create" ? at + 1 : null;
}

function split(word: GivenWord): [string, GivenWord | null] {
  const at = word.text.startsWith("--") ? word.text.indexOf("=") : -1;
  return at === -1 ? [word.text, null] : [word.text.slice(0, at), withText(word, word.text.slice(at + 1))];
}

/** `NAME=value`, or `NAME` alone: the value that the command itself has. */
export function variable(
  word: GivenWord,
  environment: ReadonlyMap<string, GivenWord>,
): readonly (readonly [string, GivenWord])[] {
  const assignment = assignmentIn(word);
  if (assignment !== null) return [[assignment.name, assignment.value]];
  return isName(word.text) && isKnown(word)
    ? [[word.text, environment.get(word.text) ?? unknownWord(word.text)]]
    : [];
}

/** `/on/host:/in/container:ro`. A named volume is no folder of the host. */
export function mountIn(word: GivenWord): readonly Mount[] {
  const [, source = "", target = ""] =
    /^((?:\$\{[^}]*\}|\$\([^)]*\)|[^:])+):([^:]+)(?::[^:]*)?$/.exec(word.text) ?? [];
  return /^[/.~$]/.test(source) ? [{ source: withText(word, source), target }] : [];
}

function longMountIn(word: GivenWord): readonly Mount[] {
  const parts = new Map(
    word.text.split(",").map((part) => [part.replace(/=.*$/, ""), part.replace(/^[^=]*=/, "")]),
  );
  const source = parts.get("source") ?? parts.get("src");
  const target = parts.get("target") ?? parts.get("dst") ?? parts.get("destination");
  if ((parts.get("type") ?? "bind") !== "bind" || source === undefined || target === undefined) return [];
  return [{ source: withText(word, source), target }];
}

/** `8000`, `8000:8000`, `127.0.0.1:8000:8000`, `[::1]:8000:8000/tcp`. */
export function portIn(word: GivenWord): readonly PortMapping[] {
  const text = word.text.replace(/\/tcp$/, "");
  const parts =
    /^(?:(?:(\[[^\]]*\]|(?:\$\{[^}]*\}|[^:])+):)?((?:\$\{[^}]*\}|[^:])*):)?((?:\$\{[^}]*\}|[^:])+)$/.exec(
      text,
    );
  if (parts === null) return [];
  const [, address, host, container = ""] = parts;
  const piece = (part: string | undefined): GivenWord | null =>
    part === undefined || part === "" ? null : pieceOf(word, part);
  return [
    {
      address: piece(address?.replace(/^\[|\]$/g, "")),
      host: piece(host),
      container: piece(container) ?? plainWord(container),
    },
  ];
}

/** A part of a word is not known where what is not known stands in it. */
function pieceOf(word: GivenWord, text: string): GivenWord {
  return { ...word, text, unknown: word.unknown.filter((name) => text.includes(name)) };
}

/** `all`, `2`, `device=0,1`, `"device=GPU-..."`: null where it does not say which. */
function gpusIn(word: GivenWord | undefined): Container["gpus"] {
  if (word === undefined || !isKnown(word)) return null;
  const text = word.text.replace(/["']/g, "").replace(/^nvidia\.com\/gpu=/, "device=");
  const [, ids] = /(?:^|,)device=(.*)$/.exec(text) ?? [];
  return ids === undefined || ids === "all" ? null : gpuIds(ids);
}

/** `0,1` or `GPU-...`. */
export function gpuIds(text: string): readonly (number | string)[] {
  return text
    .split(",")
    .map((id) => id.trim())
    .filter((id) => id !== "")
    .map((id) => (/^\d+$/.test(id) ? Number(id) : id));
}

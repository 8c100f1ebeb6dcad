import { readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { LineType, parse, type Directive, type Match, type Section } from "ssh-config";
import { VllmServerError } from "../core/errors";
import { globFiles } from "./config-glob";
import { matchesCriteria } from "./config-match";
import { matchesPatternList } from "./pattern";
import { expandHome, expandTokens } from "./tokens";

/** Options for one host by lower-case name, each with the words of its value. IdentityFile holds one entry a line. */
export type SshConfig = ReadonlyMap<string, readonly string[]>;

/** Options that add up; of all others the first one found counts. Source: ssh_config(5). */
const ADDING = new Set(["identityfile", "certificatefile"]);
const MOST_INCLUDES = 16;

interface Source {
  readonly path: string;
  /** Folder that relative Include paths start from. */
  readonly folder: string;
}

/**
 * What the user's (or the given) configuration says for a host; without a given file, /etc/ssh/ssh_config comes second, as for ssh.
 * A missing default file is empty; a given file that cannot be read, or one that makes no sense, is INPUT_INVALID.
 */
export function readSshConfig(host: string, user: string | null, file: string | null): SshConfig {
  const reading = new Reading(host, user);
  for (const isFinal of [false, true]) {
    if (isFinal && !reading.wantsFinal) break;
    reading.isFinal = isFinal;
    for (const source of sources(file)) {
      const text = readText(source.path, file !== null);
      if (text !== null) reading.read(text, source, true, 0);
    }
  }
  return reading.found;
}

function sources(file: string | null): readonly Source[] {
  const userFolder = join(homedir(), ".ssh");
  if (file === "none") return [];
  if (file !== null) return [{ path: expandHome(file), folder: userFolder }];
  return [
    { path: join(userFolder, "config"), folder: userFolder },
    { path: "/etc/ssh/ssh_config", folder: "/etc/ssh" },
  ];
}

class Reading {
  readonly found = new Map<string, readonly string[]>();
  readonly #host: string;
  readonly #user: string | null;
  isFinal = false;
  wantsFinal = false;

  constructor(host: string, user: string | null) {
    this.#host = host;
    this.#user = user;
  }

  read(text: string, source: Source, isActive: boolean, depth: number): void {
    for (const line of parsed(text, source.path)) {
      if (line.type !== LineType.DIRECTIVE) continue;
      const isOn = isActive && this.#applies(line);
      for (const inner of "config" in line ? line.config : [line]) {
        if (inner.type !== LineType.DIRECTIVE) continue;
        if (inner.param.toLowerCase() === "include") this.#include(inner, source, isOn, depth);
        else if (isOn) this.#take(inner);
      }
    }
  }

  #applies(line: Directive | Section | Match): boolean {
    if ("criteria" in line) {
      const criteria = Object.fromEntries(
        Object.entries(line.criteria).map(([name, value]) => [name, joined(value)]),
      );
      if (Object.keys(criteria).some((name) => name.toLowerCase() === "final")) this.wantsFinal = true;
      return matchesCriteria(criteria, {
        host: this.#host,
        hostname: this.#hostname(),
        user: this.#user ?? this.found.get("user")?.[0] ?? userInfo().username,
        isFinal: this.isFinal,
      });
    }
    if (!("config" in line)) return true;
    return matchesPatternList(words(line.value), this.isFinal ? this.#hostname() : this.#host);
  }

  #hostname(): string {
    const name = this.found.get("hostname")?.[0];
    return name === undefined
      ? this.#host
      : expandTokens(name, { n: this.#host, h: this.#host, p: "", r: "" });
  }

  #take(line: Directive): void {
    const name = line.param.toLowerCase();
    const before = this.found.get(name);
    if (before === undefined) this.found.set(name, words(line.value));
    else if (ADDING.has(name)) this.found.set(name, [...new Set([...before, ...words(line.value)])]);
  }

  #include(line: Directive, source: Source, isActive: boolean, depth: number): void {
    if (depth >= MOST_INCLUDES) throw broken(source.path, "Include goes deeper than 16 files");
    for (const word of words(line.value)) {
      const path = expandHome(word);
      for (const file of globFiles(isAbsolute(path) ? path : join(source.folder, path))) {
        const text = readText(file, false);
        if (text !== null) this.read(text, { path: file, folder: source.folder }, isActive, depth + 1);
      }
    }
  }
}

function parsed(text: string, path: string): ReturnType<typeof parse> {
  try {
    return parse(text);
  } catch (error) {
    throw broken(path, error instanceof Error ? error.message : String(error));
  }
}

function words(value: Directive["value"]): readonly string[] {
  return typeof value === "string" ? [value] : value.map((word) => word.val);
}

function joined(value: Match["criteria"][string]): string {
  return typeof value === "string" ? value : value.map((word) => word.val).join(",");
}

function readText(path: string, mustExist: boolean): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (!mustExist) return null;
    throw broken(path, error instanceof Error ? error.message : String(error));
  }
}

function broken(path: string, found: string): VllmServerError {
  return new VllmServerError({
    code: "INPUT_INVALID",
    summary: `Cannot read the SSH configuration ${path}: ${found}`,
    path: "host.sshConfigFile",
    retryable: false,
  });
}

import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";

/** What an earlier version of the package left: the state of the stack, and on the host all that lies below the tool's folder. */
export interface EarlierState {
  /** Commit of this repository that wrote it. */
  readonly commit: string;
  /** Inputs of the server "kimi" in the program, without `host`. */
  readonly declared: Readonly<Record<string, unknown>>;
  /** As `pulumi stack export --show-secrets` prints it. */
  readonly state: unknown;
  /** Paths below HOME on the host. */
  readonly files: Readonly<Record<string, HostFile>>;
}

type HostFile = { readonly mode: number; readonly text: string } | { readonly link: string };

/** What differs from run to run, with the words that stand for it in a recording. */
export type Places = Readonly<Record<keyof typeof STAND_FOR, string | number>>;

const STAND_FOR = {
  folder: "/recorded/bed",
  standIn: "/recorded/stand-in",
  sshPort: 61001,
  listenPort: 61002,
  user: "recorded-user",
  privateKey: "recorded private key",
  hostKey: "ssh-ed25519 recorded-host-key",
  bootId: "00000000-0000-4000-8000-000000000000",
} as const;

/** Of Pulumi's marker around a secret. Source: @pulumi/pulumi 3.276 runtime/rpc.js, specialSecretSig. */
const secretSchema = z.looseObject({ plaintext: z.string() });
const fileSchema = z.union([
  z.strictObject({ mode: z.number(), text: z.string() }),
  z.strictObject({ link: z.string() }),
]);
const earlierSchema = z.strictObject({
  commit: z.string(),
  declared: z.record(z.string(), z.unknown()),
  state: z.unknown(),
  files: z.record(z.string(), fileSchema),
});

/** The recording without what belongs to the run that made it. */
export function withoutPlaces(state: EarlierState, places: Places): EarlierState {
  return earlierSchema.parse(replaced(state, pairsOf(places, STAND_FOR)));
}

/** The recording as if it had been made at these places. */
export function atPlaces(path: string, places: Places): EarlierState {
  const state = earlierSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  return earlierSchema.parse(replaced(state, pairsOf(STAND_FOR, places)));
}

/** All that lies in `folder` of HOME, to be laid out again by layOutFiles; without what a running server has in its tmp. */
export function filesBelow(home: string, folder: string): EarlierState["files"] {
  const files: Record<string, HostFile> = {};
  for (const name of readdirSync(join(home, folder), { recursive: true, encoding: "utf8" }).toSorted()) {
    if (/^[^/]+\/tmp\//.test(name)) continue;
    const path = join(home, folder, name);
    const status = lstatSync(path);
    if (status.isSymbolicLink()) files[join(folder, name)] = { link: readlinkSync(path) };
    if (status.isFile())
      files[join(folder, name)] = { mode: status.mode & 0o777, text: readFileSync(path, "utf8") };
  }
  return files;
}

export function layOutFiles(home: string, files: EarlierState["files"]): void {
  for (const [name, file] of Object.entries(files)) {
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if ("link" in file) symlinkSync(file.link, path);
    else writeFileSync(path, file.text, { mode: file.mode });
  }
}

/** Where the program's source lay, which Pulumi notes with each resource. */
const OF_THE_MACHINE = new Set(["sourcePosition", "stackTrace"]);

type Pair = readonly [from: string | number, to: string | number];

function pairsOf(from: Places, to: Places): readonly Pair[] {
  return [
    [from.folder, to.folder],
    [from.standIn, to.standIn],
    [from.sshPort, to.sshPort],
    [from.listenPort, to.listenPort],
    [from.privateKey, to.privateKey],
    [from.hostKey, to.hostKey],
    [from.bootId, to.bootId],
    [`${from.user}@`, `${to.user}@`],
    [from.user, to.user],
  ];
}

function replaced(value: unknown, pairs: readonly Pair[]): unknown {
  if (typeof value === "number") return pairs.find(([from]) => from === value)?.[1] ?? value;
  if (typeof value === "string") return replacedText(value, pairs);
  if (Array.isArray(value)) return value.map((item) => replaced(item, pairs));
  if (typeof value !== "object" || value === null) return value;
  const secret = secretSchema.safeParse(value);
  if (secret.success) {
    const plain: unknown = JSON.parse(secret.data.plaintext);
    return { ...value, plaintext: JSON.stringify(replaced(plain, pairs)) };
  }
  const kept = Object.entries(value).filter(([name]) => !OF_THE_MACHINE.has(name));
  return Object.fromEntries(kept.map(([name, item]) => [replacedText(name, pairs), replaced(item, pairs)]));
}

function replacedText(text: string, pairs: readonly Pair[]): string {
  // "root" stands in many a text: a user is replaced as a whole value, and before the "@" of an address.
  const user = pairs.at(-1);
  if (user !== undefined && text === user[0]) return String(user[1]);
  return pairs.slice(0, -1).reduce((result, [from, to]) => result.replaceAll(String(from), String(to)), text);
}

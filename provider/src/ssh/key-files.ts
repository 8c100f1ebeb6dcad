import { existsSync, readFileSync } from "node:fs";
import { utils, type ParsedKey } from "ssh2";
import { keyOfLine } from "./public-key";

/** One identity file as far as it can be used. */
export interface KeyFile {
  readonly path: string;
  /** Binary public key, where it can be told without the passphrase. */
  readonly publicKey: Buffer | null;
  /** null: only good to choose a key of the agent; `problem` says why. */
  readonly privateKey: ParsedKey | null;
  readonly problem: string | null;
}

/** Reads an identity file (and the .pub beside it); null: it is not there. */
export function readKeyFile(path: string, passphrase: string | null): KeyFile | null {
  const besides = publicKeyBeside(path);
  if (!existsSync(path))
    return besides === null
      ? null
      : { path, publicKey: besides, privateKey: null, problem: "only its public half is here" };
  const read = readText(path);
  if (!read.ok) return { path, publicKey: besides, privateKey: null, problem: read.problem };
  const alone = read.text.includes("PRIVATE KEY") ? null : keyOfLine(read.text);
  if (alone !== null)
    return { path, publicKey: alone, privateKey: null, problem: "only its public half is here" };
  const key = parsePrivateKey(read.text, passphrase);
  if (!key.ok) return { path, publicKey: besides, privateKey: null, problem: key.problem };
  return { path, publicKey: key.key.getPublicSSH(), privateKey: key.key, problem: null };
}

export type PrivateKeyResult =
  { readonly ok: true; readonly key: ParsedKey } | { readonly ok: false; readonly problem: string };

/** Parses the text of a private key; problems are told in words of our own, so that nothing of the key gets into them. */
export function parsePrivateKey(text: string, passphrase: string | null): PrivateKeyResult {
  const key = utils.parseKey(text, passphrase ?? undefined);
  if (!(key instanceof Error)) {
    return key.isPrivateKey()
      ? { ok: true, key }
      : { ok: false, problem: "it is a public key, need the private one" };
  }
  // Source: ssh2 1.17 lib/protocol/keyParser.js, the only place that knows which of these it is.
  if (/no passphrase given/.test(key.message))
    return { ok: false, problem: "it is encrypted, need privateKeyPassword or an SSH agent that holds it" };
  if (passphrase !== null && /passphrase|integrity|decrypt|bad/i.test(key.message))
    return { ok: false, problem: "privateKeyPassword does not open it" };
  return { ok: false, problem: "its format is not supported, need a private key of OpenSSH, PEM or PuTTY" };
}

function publicKeyBeside(path: string): Buffer | null {
  const read = readText(`${path}.pub`);
  return read.ok ? keyOfLine(read.text) : null;
}

type Text = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

function readText(path: string): Text {
  try {
    return { ok: true, text: readFileSync(path, "utf8") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    return {
      ok: false,
      problem: code === "EACCES" ? "it cannot be read (permission denied)" : `it cannot be read (${code})`,
    };
  }
}

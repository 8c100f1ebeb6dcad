import { existsSync, readFileSync } from "node:fs";
import { utils, type ParsedKey } from "ssh2";
import { isPkcs8, withoutPkcs8, type Pkcs8Problem } from "./pkcs8-key";
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
  if (isPkcs8(text)) {
    const plain = withoutPkcs8(text, passphrase);
    return plain.ok
      ? parsePrivateKey(plain.text, null)
      : { ok: false, problem: PKCS8_PROBLEMS[plain.problem] };
  }
  const key = parse(text, passphrase);
  if (!(key instanceof Error)) {
    return key.isPrivateKey()
      ? { ok: true, key }
      : { ok: false, problem: "it is a public key, need the private one" };
  }
  if (isPassphraseAsked(key)) return { ok: false, problem: ENCRYPTED };
  const alone = passphrase === null ? null : parse(text, null);
  if (!(alone instanceof Error) || !isPassphraseAsked(alone)) return { ok: false, problem: UNSUPPORTED };
  // Source: Node's createDecipheriv, for a cipher that only OpenSSH itself knows (chacha20-poly1305@openssh.com).
  const isCipherUnknown = /initialization vector|cipher\b/i.test(key.message);
  return { ok: false, problem: isCipherUnknown ? CIPHER_UNSUPPORTED : WRONG_PASSPHRASE };
}

const ENCRYPTED = "it is encrypted, need privateKeyPassword or an SSH agent that holds it";
const WRONG_PASSPHRASE = "privateKeyPassword does not open it";
const UNSUPPORTED = "its format is not supported, need a private key of OpenSSH, PEM, PKCS#8 or PuTTY";
const CIPHER_UNSUPPORTED =
  "the cipher it is encrypted with is not supported, need another (ssh-keygen -p -Z aes256-ctr) or an SSH agent that holds it";

const PKCS8_PROBLEMS: Readonly<Record<Pkcs8Problem, string>> = {
  encrypted: ENCRYPTED,
  "wrong passphrase": WRONG_PASSPHRASE,
  format: UNSUPPORTED,
};

/** A wrong passphrase may turn a key into anything, also into what ssh2 throws over. */
function parse(text: string, passphrase: string | null): ParsedKey | Error {
  try {
    return utils.parseKey(text, passphrase ?? undefined);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Source: ssh2 1.17 lib/protocol/keyParser.js, the only place that knows. */
function isPassphraseAsked(error: Error): boolean {
  return /no passphrase given/.test(error.message);
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

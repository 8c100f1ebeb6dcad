import type { AnyAuthMethod, AuthenticationType, Prompt } from "ssh2";
import { agentKeys, type AgentKey } from "./agent-keys";
import { parsePrivateKey, readKeyFile, type KeyFile } from "./key-files";
import { fingerprint } from "./public-key";
import type { Target } from "./target";

/** One thing to try at login. */
export interface LoginWay {
  /** For the error: which key, never what is in it. */
  readonly label: string;
  /** Method as the server names it. */
  readonly method: AuthenticationType;
  readonly auth: AnyAuthMethod;
}

export interface LoginWays {
  readonly ways: readonly LoginWay[];
  /** What could not be tried and why. */
  readonly notes: readonly string[];
}

/**
 * Everything to try, in order. A key given as text comes first, then a given password and the keys of a given agent, and nothing that
 * was not given. Without one: a given password, keys of the agent that are also in identity files, its other keys (not with
 * IdentitiesOnly), then the files themselves, as ssh does it. sshd ends the connection after 6 refused tries, so the order matters.
 */
export async function loginWays(target: Target): Promise<LoginWays> {
  const { credentials } = target;
  const notes: string[] = [];
  const typed = passwordWays(target);
  if (credentials.privateKey !== null) {
    const key = givenKey(target, credentials.privateKey, notes);
    const others = credentials.isAgentGiven ? await agentKeysOf(target, notes) : [];
    return { ways: [...key, ...typed, ...others.map((other) => agentWay(target, other))], notes };
  }
  const files = keyFiles(target, notes);
  const fromAgent = chosenKeys(await agentKeysOf(target, notes), target, files, notes);
  const offered = new Set(fromAgent.map((key) => key.publicKey.toString("base64")));
  const fromFiles = files.filter(
    (file) => file.publicKey === null || !offered.has(file.publicKey.toString("base64")),
  );
  const keys = [
    ...fromAgent.map((key) => agentWay(target, key)),
    ...fromFiles.flatMap((file) => {
      if (file.privateKey === null) notes.push(`key ${file.path}: ${file.problem ?? "not usable"}`);
      return file.privateKey === null ? [] : [keyWay(target, `key ${file.path}`, file.privateKey)];
    }),
  ];
  return { ways: [...typed, ...keys], notes };
}

function givenKey(target: Target, text: string, notes: string[]): readonly LoginWay[] {
  const parsed = parsePrivateKey(text, target.credentials.passphrase);
  if (parsed.ok) return [keyWay(target, "host.privateKey", parsed.key)];
  notes.push(`host.privateKey: ${parsed.problem}`);
  return [];
}

function passwordWays(target: Target): readonly LoginWay[] {
  const { password } = target.credentials;
  if (password === null) return [];
  const username = target.user;
  let isAnswered = false;
  const prompt = (
    _name: string,
    _instructions: string,
    _language: string,
    prompts: readonly Prompt[],
    finish: (answers: string[]) => void,
  ): void => {
    // The first hidden question is the password; a second round means that it was wrong or that more is wanted than we have.
    const hidden = isAnswered ? -1 : prompts.findIndex((one) => one.echo !== true);
    isAnswered ||= hidden !== -1;
    finish(prompts.map((_one, index) => (index === hidden ? password : "")));
  };
  return [
    { label: "host.password", method: "password", auth: { type: "password", username, password } },
    {
      label: "host.password (keyboard-interactive)",
      method: "keyboard-interactive",
      auth: { type: "keyboard-interactive", username, prompt },
    },
  ];
}

function keyFiles(target: Target, notes: string[]): readonly KeyFile[] {
  const { identityFiles, areDefaultFiles, passphrase } = target.credentials;
  return identityFiles.flatMap((path) => {
    const file = readKeyFile(path, passphrase);
    if (file === null && !areDefaultFiles) notes.push(`key ${path}: there is no such file`);
    return file === null ? [] : [file];
  });
}

async function agentKeysOf(target: Target, notes: string[]): Promise<readonly AgentKey[]> {
  const { agentSocket } = target.credentials;
  if (agentSocket === null) {
    notes.push("SSH agent: none (SSH_AUTH_SOCK is not set)");
    return [];
  }
  const found = await agentKeys(agentSocket);
  if (!found.ok) {
    notes.push(`SSH agent ${agentSocket}: ${found.problem}`);
    return [];
  }
  if (found.keys.length === 0) notes.push(`SSH agent ${agentSocket}: it holds no keys`);
  return found.keys;
}

/** Those that are also in identity files first; the others not with IdentitiesOnly. */
function chosenKeys(
  keys: readonly AgentKey[],
  target: Target,
  files: readonly KeyFile[],
  notes: string[],
): readonly AgentKey[] {
  const { identitiesOnly } = target.credentials;
  const isListed = (key: AgentKey): boolean =>
    files.some((file) => file.publicKey?.equals(key.publicKey) === true);
  const listed = keys.filter(isListed);
  const others = keys.filter((key) => !isListed(key));
  if (identitiesOnly && others.length > 0)
    notes.push(`SSH agent: ${String(others.length)} keys left out (IdentitiesOnly)`);
  return identitiesOnly ? listed : [...listed, ...others];
}

function agentWay(target: Target, key: AgentKey): LoginWay {
  return {
    label: `key ${fingerprint(key.publicKey)} of the SSH agent`,
    method: "publickey",
    auth: { type: "agent", username: target.user, agent: key.agent },
  };
}

function keyWay(target: Target, name: string, key: Parameters<typeof fingerprintOf>[0]): LoginWay {
  return {
    label: `${name} (${fingerprintOf(key)})`,
    method: "publickey",
    auth: { type: "publickey", username: target.user, key },
  };
}

function fingerprintOf(key: NonNullable<KeyFile["privateKey"]>): string {
  return fingerprint(key.getPublicSSH());
}

import { z } from "zod";
import { parsedInside } from "./input-either";
import { choice, integer, isInteger, isText, leaf, MOST_SECONDS, number } from "./input-leaf";
import { DEFAULTS, type HostSpec } from "./spec";

/** The parts of "user@host:port"; null: it is no such text. IPv6 with a port needs brackets. */
export function parseHostText(
  text: string,
): { user: string | null; host: string; port: number | null } | null {
  const at = text.lastIndexOf("@");
  const user = at === -1 ? null : text.slice(0, at);
  const rest = text.slice(at + 1);
  if (user !== null && !/^[^\s:@/-][^\s:@/]*$/.test(user)) return null;
  const match = /^(?:\[([0-9A-Fa-f:.%\w]+)\]|([^\s:@/[\]]+))(?::(\d+))?$/.exec(rest);
  if (match === null) return isBareIpv6(rest) ? { user, host: rest, port: null } : null;
  const host = match[1] ?? match[2] ?? "";
  const port = match[3] === undefined ? null : Number(match[3]);
  if (host.startsWith("-") || (port !== null && !isInteger(port, 1, 65535))) return null;
  return { user, host, port };
}

function isBareIpv6(text: string): boolean {
  return /^[0-9A-Fa-f:.]+(?:%\w+)?$/.test(text) && text.split(":").length > 2;
}

const hostText = leaf<string>(
  'a host name, an address, an alias of ~/.ssh/config, or "user@host:port" (no password, no ssh:// in it)',
  (value) => typeof value === "string" && parseHostText(value) !== null,
);

const hostName = leaf<string>(
  "a host name, an address or an alias of ~/.ssh/config, alone: user and port have inputs of their own",
  (value) => {
    const parsed = typeof value === "string" ? parseHostText(value) : null;
    return parsed !== null && parsed.user === null && parsed.port === null;
  },
);

function text(what: string): z.ZodType<string> {
  return leaf(what, (value) => isText(value) && value !== "");
}

const connection = {
  host: hostName,
  port: integer("port of sshd", 1, 65535).nullish(),
  user: leaf<string>(
    "a user name: no blanks, no dash in front",
    (value) => isText(value) && /^[^\s\p{Cc}-][^\s\p{Cc}]*$/u.test(value),
  ).nullish(),
  password: text("text").nullish(),
  privateKey: leaf<string>(
    "the text of a private key, not the path of its file",
    (value) => isText(value) && value !== "" && !/^(?:file:|~|\.{0,2}\/)[^\r\n]*$/.test(value),
  ).nullish(),
  privateKeyPassword: text("text").nullish(),
  agentSocketPath: text("the path of an SSH agent's socket").nullish(),
  hostKey: leaf<string>(
    'a public key line of OpenSSH, or its fingerprint "SHA256:..."',
    (value) => isText(value) && /^SHA256:\S+$|(?:^|\s)(?:ssh|ecdsa|sk)-\S+\s+\S/.test(value.trim()),
  ).nullish(),
  dialErrorLimit: integer("tries; 0 or -1 = no limit", -1).nullish(),
  perDialTimeout: number(
    `seconds per try, at most ${String(MOST_SECONDS)}; 0 = no limit`,
    (value) => value >= 0 && value <= MOST_SECONDS,
  ).nullish(),
  knownHostsFile: text("the path of a known_hosts file on this machine").nullish(),
  sshConfigFile: text("the path of an ssh_config file on this machine").nullish(),
  python: text("the path of a Python on the host").nullish(),
  sudo: choice<HostSpec["sudo"]>(["auto", "never"]).nullish(),
};

/** Names below `host` and `host.proxy`. */
export const HOST_NAMES: readonly string[] = [...Object.keys(connection), "proxy"];

type ConnectionInput = { readonly [Name in keyof typeof connection]: z.output<(typeof connection)[Name]> };

/** `host` itself; `proxy` is one more of the same. */
export const hostSchema: z.ZodType<HostSpec> = z.unknown().transform((value, context) => {
  const schema = typeof value === "string" ? hostText.transform(fromText) : writtenHost;
  return parsedInside(schema, value, context) ?? z.NEVER;
});

const writtenHost: z.ZodType<HostSpec> = z
  .strictObject(
    { ...connection, proxy: z.lazy(() => hostSchema).nullish() },
    { error: 'text such as "ubuntu@gpu1", or an object { host, user, ... }' },
  )
  .transform((value) => fromObject(value, value.proxy ?? null));

function fromText(value: string): HostSpec {
  const { user, host, port } = parseHostText(value) ?? { user: null, host: value, port: null };
  return fromObject({ host, user, port }, null);
}

function fromObject(
  given: Partial<ConnectionInput> & { readonly host: string },
  proxy: HostSpec | null,
): HostSpec {
  return {
    host: given.host,
    port: given.port ?? null,
    user: given.user ?? null,
    password: given.password ?? null,
    privateKey: given.privateKey ?? null,
    privateKeyPassword: given.privateKeyPassword ?? null,
    agentSocketPath: given.agentSocketPath ?? null,
    hostKey: given.hostKey ?? null,
    proxy,
    dialErrorLimit: given.dialErrorLimit ?? DEFAULTS.dialErrorLimit,
    perDialTimeoutSeconds: given.perDialTimeout ?? DEFAULTS.perDialTimeoutSeconds,
    knownHostsFile: given.knownHostsFile ?? null,
    sshConfigFile: given.sshConfigFile ?? null,
    python: given.python ?? null,
    sudo: given.sudo ?? DEFAULTS.sudo,
  };
}

/** Stands in for a host that is not known yet. */
export const UNKNOWN_HOST: HostSpec = fromText("unknown");

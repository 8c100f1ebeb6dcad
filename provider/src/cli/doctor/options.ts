import { hostSchema } from "../../core/input-host";
import type { HostSpec } from "../../core/spec";
import { readWords } from "../words";

export interface DoctorOptions {
  readonly host: HostSpec;
  readonly isJson: boolean;
}

export const HELP = `usage: pulumi-vllm doctor HOST [--ssh-config FILE] [--python PATH] [--json]

Says what a host is and has for vLLM, and what speaks against a start there, over
one SSH connection and with one command. Nothing on the host is changed.

HOST is what the input host takes as text: a name, an address, an alias of
~/.ssh/config, or user@host:port. Keys, jump hosts and host keys are those of
the SSH configuration, as for \`ssh HOST\`.

  --ssh-config FILE   another configuration than ~/.ssh/config
  --python PATH       Python on the host; default: python3 of the login
  --json              one JSON object on stdout:
                        {"host": {...}, "gpus": [...] or null, "gpuError",
                         "vllm", "hubClient", "missingTools": [...],
                         "managers": [{"name", "reason"}], "servers": [...],
                         "findings": [{"severity", "code", "summary",
                                       "evidence", "change"}]}
                      or {"error": {"code", "message"}}

exit code: 0 nothing speaks against a start; 1 something does (a finding that is
an error), or the host could not be looked at; 2 the command line is not right
(all of its problems are told)
`;

const OPTIONS = {
  "ssh-config": { type: "string" },
  python: { type: "string" },
  json: { type: "boolean" },
} as const;

/** Somebody waits for it, and can ask again. */
const TRIES = 2;

export interface ReadOptions {
  readonly problems: readonly string[];
  /** null: there are problems. */
  readonly options: DoctorOptions | null;
}

export function readOptions(given: readonly string[]): ReadOptions {
  const words = readWords(given, OPTIONS);
  const [text, ...surplus] = words.positionals;
  const problems = [...words.problems];
  if (text === undefined || text === "") problems.push("HOST is missing");
  for (const word of surplus) problems.push(`${JSON.stringify(word)} is one word too many`);
  const parsed = hostSchema.safeParse(text);
  if (text !== undefined && text !== "" && !parsed.success)
    problems.push(`HOST is ${JSON.stringify(text)}, need ${parsed.error.issues[0]?.message ?? "a host"}`);
  if (problems.length > 0 || !parsed.success) return { problems, options: null };
  const host: HostSpec = {
    ...parsed.data,
    dialErrorLimit: TRIES,
    sshConfigFile: words.texts.get("ssh-config") ?? null,
    python: words.texts.get("python") ?? null,
  };
  return { problems, options: { host, isJson: words.flags.has("json") } };
}

import * as pulumi from "@pulumi/pulumi";
import type { VllmServerArgs } from "pulumi-vllm";

type Servers = Readonly<Record<string, VllmServerArgs>>;

/**
 * `servers:` of the stack's config: name -> inputs of VllmServer. Values may be secrets
 * (`pulumi config set --path --secret servers.kimi.apiKey`): VllmServer itself marks every input that can hold one, so the
 * rest stays readable in diffs although Pulumi takes an object with one secret in it for a secret as a whole.
 */
export function declaredServers(): Servers {
  const key = `${pulumi.getProject()}:servers`;
  const text = pulumi.runtime.getConfig(key);
  if (text === undefined) throw refusal(key, "nothing", SERVERS);
  const servers = parsed(text);
  if (!isObject(servers)) throw refusal(key, kindOf(servers), SERVERS);
  if (isServers(servers)) return servers;
  const [name, args] = Object.entries(servers).find(([name, args]) => name === "" || !isObject(args)) ?? [];
  throw name === ""
    ? refusal(`a name in ${key}`, "empty", SERVERS)
    : refusal(`${key}.${name ?? ""}`, kindOf(args), "an object: inputs of VllmServer");
}

const SERVERS = "an object: name -> inputs of VllmServer (host, model, ...)";

function refusal(path: string, found: string, wanted: string): pulumi.RunError {
  return new pulumi.RunError(
    `Cannot declare servers: ${path} of the stack's config is ${found}, need ${wanted}`,
  );
}

/** Text that is no JSON is what Pulumi makes of a plain value. Values may be secrets: they are not told. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

/** What is in the inputs is for VllmServer to judge: it reports every problem at its path. */
function isServers(value: Readonly<Record<string, unknown>>): value is Servers {
  return Object.entries(value).every(([name, args]) => name !== "" && isObject(args));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

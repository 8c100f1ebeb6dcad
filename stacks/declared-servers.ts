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
  if (text === undefined)
    throw new pulumi.RunError(`Cannot declare servers: no "${key}" in the stack's config`);
  const servers: unknown = JSON.parse(text);
  if (!isServers(servers)) {
    throw new pulumi.RunError(
      `Cannot declare servers: "${key}" has to be an object of name -> inputs of VllmServer`,
    );
  }
  return servers;
}

/** What is in the inputs is for VllmServer to judge: it reports every problem at its path. */
function isServers(value: unknown): value is Servers {
  return isObject(value) && Object.values(value).every(isObject);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import type { AgentRequest } from "./protocol";

const PLACEHOLDER = "[secret]";
const LEAST_CHARACTERS = 4;

/** The secret values inside a request, longest first. */
export function requestSecrets(request: AgentRequest): readonly string[] {
  const values =
    request.op === "observe"
      ? request.servers.flatMap((server) => Object.values(server.secretEnvironment))
      : stepSecrets(request);
  const forms = values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);
  return [...new Set(forms)]
    .filter((value) => value.length >= LEAST_CHARACTERS)
    .sort((one, other) => other.length - one.length);
}

/** The text without them. What comes back from a host is shown to the user, and may repeat what was sent. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, PLACEHOLDER), text);
}

function stepSecrets(request: AgentRequest): readonly string[] {
  if (request.op === "flags") return Object.values(request.environment);
  if (request.op !== "apply") return [];
  return request.steps.flatMap((step) => {
    if (step.kind === "start") return Object.values(step.launch.secretEnvironment);
    return step.kind === "wait" && step.apiKey !== null ? [step.apiKey] : [];
  });
}

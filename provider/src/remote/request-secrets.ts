import { isPlainSetting } from "../core/plain-setting";
import type { Step } from "../core/step";
import { secretsInUrls } from "../core/url-credentials";
import type { AgentRequest } from "./protocol";

const PLACEHOLDER = "[secret]";
const LEAST_CHARACTERS = 4;

/** The secret values inside a request, longest first. */
export function requestSecrets(request: AgentRequest): readonly string[] {
  const values =
    request.op === "observe"
      ? request.servers.flatMap((server) => valuesOf(server.secretEnvironment))
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
  if (request.op === "flags") return valuesOf(request.environment);
  if (request.op !== "apply") return [];
  return request.steps.flatMap(secretsOfStep);
}

function valuesOf(environment: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) => (isPlainSetting(name, value) ? [] : [value]));
}

function secretsOfStep(step: Step): readonly string[] {
  switch (step.kind) {
    case "start":
      return valuesOf(step.launch.secretEnvironment);
    case "wait":
      return step.apiKey === null ? [] : [step.apiKey];
    case "install": {
      const { indexUrl, extraIndexUrls, packages } = step.environment;
      return [...(indexUrl === null ? [] : [indexUrl]), ...extraIndexUrls, ...packages].flatMap(
        secretsInUrls,
      );
    }
    case "fetch": {
      if (step.checkpoint.key === null) return [];
      const { token, endpoint } = step.checkpoint;
      return [...(token === null ? [] : [token]), ...(endpoint === null ? [] : secretsInUrls(endpoint))];
    }
    case "claim":
    case "overlay":
    case "stop":
    case "return":
    case "policy":
    case "confirm":
    case "forget":
      return [];
    default:
      return step satisfies never;
  }
}

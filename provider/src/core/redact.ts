import { isPlainSetting, isPlainWord } from "./plain-setting";
import type { HostSpec, ModelSpec, Spec } from "./spec";
import { secretsInUrls } from "./url-credentials";
import { vllmUrls } from "./vllm-source";

const PLACEHOLDER = "[secret]";
/** Shorter ones would blank out half of every text. */
const LEAST_CHARACTERS = 4;

/** Every secret of a spec, in each form that it can take in a text. */
export function secretsOf(spec: Spec): readonly string[] {
  const values = [
    spec.apiKey,
    ...hostSecrets(spec.host),
    ...Object.entries(spec.environment).flatMap(([name, value]) =>
      isPlainSetting(name, value) ? [] : [value],
    ),
    ...modelSecrets(spec.model),
    ...vllmUrls(spec.vllm).flatMap(secretsInUrls),
  ];
  const forms = values.flatMap((value) => (value === null ? [] : formsOf(value)));
  return [...new Set(forms)].filter(isLongEnough);
}

function isLongEnough(form: string): boolean {
  return form.length >= LEAST_CHARACTERS && !isPlainWord(form);
}

/**
 * The text with each secret of the spec replaced; longest first, so that none is left in halves.
 * @param marked values that are secret because the program says so.
 */
export function redact(spec: Spec, text: string, marked: readonly string[] = []): string {
  const secrets = [...secretsOf(spec), ...marked.flatMap(formsOf).filter(isLongEnough)];
  if (secrets.length === 0) return text;
  const longestFirst = [...secrets].sort((first, second) => second.length - first.length);
  return text.replace(new RegExp(longestFirst.map(escaped).join("|"), "g"), () => PLACEHOLDER);
}

function modelSecrets(model: ModelSpec): readonly (string | null)[] {
  if (model.kind === "local") return [];
  return [model.token, ...(model.endpoint === null ? [] : secretsInUrls(model.endpoint))];
}

function hostSecrets(host: HostSpec): readonly (string | null)[] {
  const own = [host.password, host.privateKey, host.privateKeyPassword];
  return host.proxy === null ? own : [...own, ...hostSecrets(host.proxy)];
}

/** As it is, as JSON writes it, and line by line: logs are cut into lines. */
function formsOf(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const secretLines = lines.length === 1 ? [] : lines.filter((line) => !/^-----(?:BEGIN|END) /.test(line));
  return [value, value.trim(), JSON.stringify(value).slice(1, -1), ...secretLines];
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

import { layOutError } from "./core/error-layout";
import { inputsOf, parseInputs } from "./core/parse-inputs";
import { redact } from "./core/redact";
import { markedTexts } from "./core/secret-marks";
import type { Spec } from "./core/spec";
import { parseUrn } from "./core/urn";
import type { Report } from "./live-start";
import { fromWire, type Wire } from "./pulumi/adapter";
import { engineLog } from "./pulumi/engine-log";
import { HookError } from "./pulumi/hook-error";

/** A resource as the program or the state declares it. */
export interface Declared {
  readonly spec: Spec;
  readonly urn: string;
  /** Texts that are secret because the program marked them so. */
  readonly marked: readonly string[];
}

export function declared(props: Wire): Declared {
  const { inputs, urn, marks } = fromWire(props);
  const parsed = parseInputs(inputsOf(inputs));
  if (!parsed.ok) throw new Error(parsed.problems.map((problem) => problem.message).join("\n"));
  if (parsed.unknowns.length > 0) throw new Error(`inputs are not known yet: ${parsed.unknowns.join(", ")}`);
  return { spec: parsed.spec, urn, marked: markedTexts(inputsOf(inputs), marks) };
}

/** Words on the resource's own line, without secrets. */
export function reportTo({ spec, urn, marked }: Declared): Report {
  const log = engineLog();
  return {
    progress: (text) => {
      log.progress(urn, redact(spec, text, marked));
    },
    info: (text) => {
      log.info(urn, redact(spec, text, marked));
    },
    warning: (text) => {
      log.warning(urn, redact(spec, text, marked));
    },
    isReachable: () => log.isReachable(),
  };
}

/** Users get the message, redacted, in the columns of a terminal, and nothing else. Redacted first: a secret may hold blanks. */
export function presentable(error: unknown, { spec, urn, marked }: Declared): Error {
  const message = redact(spec, error instanceof Error ? error.message : String(error), marked);
  return new HookError(`VllmServer ${parseUrn(urn).name}`, layOutError(message), error);
}

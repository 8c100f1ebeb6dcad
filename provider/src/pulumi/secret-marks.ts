import { runtime, secret, type Inputs } from "@pulumi/pulumi";
import { DERIVED_OUTPUTS, derivedSources, type DerivedOutputs } from "../core/derived-outputs";
import { isRecord } from "../core/input-json";
import { formatPath, isSecretPath, pathsOverlap, type InputPath } from "../core/input-path";
import { DEFAULTS } from "../core/spec";
import type { VllmServerArgs } from "./args";

/** Hidden inputs that tell the provider what the program marked secret; promises, because that is known only when outputs are. */
export function secretMarkInputs(args: VllmServerArgs): Inputs {
  const wire = written(args);
  const marks = wire.then((inputs) => marksIn(inputs));
  const derived = Promise.all([wire, marks]).then(([inputs, paths]) => derivedFrom(inputs, paths));
  const placeholder = (name: keyof DerivedOutputs): Promise<unknown> =>
    derived.then((names) => (names.has(name) ? secret(null) : undefined));
  return {
    __secrets: marks.then((paths) => (paths.length === 0 ? undefined : paths)),
    url: placeholder("url"),
    baseUrl: placeholder("baseUrl"),
    servedModelName: placeholder("servedModelName"),
    tunnelCommand: placeholder("tunnelCommand"),
    modelRevision: placeholder("modelRevision"),
  };
}

/** The inputs as Pulumi writes them, with its signs of secrets in them. What cannot be written fails with the resource itself. */
async function written(args: VllmServerArgs): Promise<unknown> {
  return runtime.serializeProperties("inputs", { ...args }).catch(() => ({}));
}

/** An object of a connection, or of a model with its token, is marked for the key in it: then the rest of it, such as the host's name, stays readable. */
function marksIn(value: unknown, path: InputPath = []): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => marksIn(item, [...path, index]));
  if (!isRecord(value)) return [];
  if (value[runtime.specialSigKey] !== runtime.specialSecretSig)
    return Object.entries(value).flatMap(([name, inner]) => marksIn(inner, [...path, name]));
  const whole = value["value"];
  const isForItsKey = isRecord(whole) && (path[0] === "host" || (path[0] === "model" && "token" in whole));
  return isForItsKey || isSecretPath(path) ? [] : [formatPath(path)];
}

/** Outputs that repeat what is marked: the engine marks them too where the input of their name is. */
function derivedFrom(inputs: unknown, marks: readonly string[]): ReadonlySet<keyof DerivedOutputs> {
  const { listen, engine } = isRecord(inputs) ? inputs : {};
  const address = isRecord(listen) ? listen["address"] : undefined;
  const hasName = isRecord(engine) && Array.isArray(engine["servedModelName"]);
  const sources = derivedSources(typeof address === "string" ? address : DEFAULTS.listen.address, hasName);
  const isFromMark = (places: readonly string[]): boolean =>
    places.some((place) => marks.some((mark) => pathsOverlap(mark, place)));
  return new Set(DERIVED_OUTPUTS.filter((name) => isFromMark(sources[name])));
}

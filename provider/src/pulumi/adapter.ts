import { UNKNOWN_VALUE } from "../core/input-unknowns";
import type { JsonObject, JsonValue } from "../core/json";
import { readMarks, type SecretMarks } from "../core/secret-marks";

/**
 * One property bag as it travels between Pulumi's engine and this provider: plain JSON, hidden properties of
 * our own in it, no marks of secrets (the engine puts them back by property name), unknown values as one fixed text.
 */
export type Wire = JsonObject;

const PROVIDER_KEY = "__provider";
const URN_KEY = "__urn";
const MARKS_KEY = "__secrets";

/** A property bag taken apart. */
export interface Opened {
  /** Everything but the hidden properties: what the user declared; for olds also the outputs. May hold UNKNOWN_VALUE. */
  readonly inputs: JsonObject;
  /** URN of the resource; "" where the program did not pass it. */
  readonly urn: string;
  /** Where the program marked values secret that are none by themselves. */
  readonly marks: SecretMarks;
  /** The hidden properties, to be handed back unchanged. */
  readonly hidden: JsonObject;
}

/** Takes a property bag apart. Changes nothing in it. */
export function fromWire(wire: Wire): Opened {
  const { [PROVIDER_KEY]: provider, [URN_KEY]: urn, [MARKS_KEY]: marks, ...inputs } = wire;
  return {
    inputs,
    urn: typeof urn === "string" && urn !== UNKNOWN_VALUE ? urn : "",
    marks: readMarks(marks),
    hidden: {
      ...(provider === undefined ? {} : { [PROVIDER_KEY]: provider }),
      ...(urn === undefined ? {} : { [URN_KEY]: urn }),
      ...(marks === undefined ? {} : { [MARKS_KEY]: marks }),
    },
  };
}

/**
 * What a hook returns as `outs`, `props` or `inputs`: plain JSON with the hidden properties back in it.
 * undefined is left out at any depth (it would end the operation with "Unexpected struct type."), in lists it
 * becomes null; null stays. The provider's text must be in it even where Pulumi adds it by itself: an init error does not.
 */
export function toOutputs(values: object, hidden: JsonObject): Record<string, JsonValue> {
  return { ...plainObject(values), ...hidden };
}

function plainObject(values: object): Record<string, JsonValue> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([key, value]) => [key, plain(value)]));
}

function plain(value: unknown): JsonValue {
  switch (typeof value) {
    case "undefined":
      return null;
    case "boolean":
    case "number":
    case "string":
      return value;
    case "object":
      if (value === null) return null;
      return Array.isArray(value) ? value.map(plain) : plainObject(value);
    default:
      throw new TypeError(`Cannot hand a ${typeof value} to Pulumi: need plain JSON`);
  }
}

/**
 * Thrown from create or update, it keeps the resource in state with what is there, marked as not finished:
 * the next `up` calls update() even when no input changed. Only `reasons` is shown to the user.
 * Source: @pulumi/pulumi 3.276 cmd/dynamic-provider/index.js, grpcResponseFromError (reads id, properties, reasons, message).
 */
export class InitError extends Error {
  readonly id: string;
  readonly properties: JsonObject;
  readonly reasons: readonly string[];

  constructor(id: string, properties: JsonObject, reasons: readonly string[]) {
    super(reasons.join("\n"));
    this.name = "InitError";
    this.id = id;
    this.properties = properties;
    this.reasons = reasons;
  }
}

/**
 * @param id never empty: with an empty one it would be a plain error, which records nothing
 * @param properties with `__provider` in it, or no later operation finds a provider to run; cleaned as toOutputs() does
 */
export function initError(id: string, properties: object, reasons: readonly string[]): InitError {
  return new InitError(id, toOutputs(properties, {}), reasons);
}

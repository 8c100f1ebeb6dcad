import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { parse } from "yaml";
import { pathAt } from "./config-problem";
import { isObject } from "./layers";

/** What `stackConfigDir` of the root Pulumi.yaml names. */
const CONFIG_FOLDER = join(__dirname, "config");

const UNKNOWN_PLACES =
  "The stack's file was not found, so it is not known where in its config secrets stand. Secret are the inputs that are always, such as apiKey and environment.";

/**
 * The paths of the config at which the stack file has a secret. Pulumi hands a program the values without their marks: of an object it says
 * only that there is a secret somewhere in it. [] and a warning where the stack file is another one, as with --config-file.
 */
export function secretPlaces(): readonly string[] {
  const file = join(CONFIG_FOLDER, `Pulumi.${pulumi.getStack()}.yaml`);
  if (!existsSync(file)) {
    void pulumi.log.warn(UNKNOWN_PLACES);
    return [];
  }
  const read: unknown = parse(readFileSync(file, "utf8"));
  const config = isObject(read) ? read["config"] : undefined;
  return isObject(config) ? Object.entries(config).flatMap(([key, value]) => placesIn(value, key)) : [];
}

function placesIn(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => placesIn(item, pathAt(path, index)));
  if (!isObject(value)) return [];
  if (typeof value["secure"] === "string" && Object.keys(value).length === 1) return [path];
  return Object.entries(value).flatMap(([name, inner]) => placesIn(inner, pathAt(path, name)));
}

/** The value with every part of it marked secret that stands at one of the places, or inside one. */
export function markedAt(places: readonly string[], value: unknown, path: string): unknown {
  const isInside = places.some(
    (place) => path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`),
  );
  if (isInside) return pulumi.secret(value);
  if (Array.isArray(value))
    return value.map((item: unknown, index) => markedAt(places, item, pathAt(path, index)));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, markedAt(places, inner, pathAt(path, name))]),
  );
}

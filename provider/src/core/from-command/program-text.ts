import type { JsonObject, JsonValue } from "../json";
import type { InputPath } from "../input-path";
import { isJsonList, isMembers } from "../input-json";
import { configKeyOf } from "./config-keys";
import { dottedPath } from "./dotted-path";
import { SECRET } from "./environment-inputs";

export interface ProgramOptions {
  /** Of the resource in the stack. */
  readonly name: string;
  /** null: the program asks its config. */
  readonly host: string | null;
}

const WIDTH = 100;

/** A whole TypeScript program with one VllmServer. Secrets, and what the text does not say, come from its config. */
export function programText(inputs: JsonObject, { name, host }: ProgramOptions): string {
  const members: [string, string][] = [
    ["host", host === null ? 'config.require("host")' : JSON.stringify(host)],
    ...Object.entries(inputs)
      .filter(([key, value]) => key === "model" || !isEmpty(value))
      .map(([key, value]): [string, string] => [
        key,
        key === "model" && isWithoutPlace(value) ? 'config.require("model")' : literal(value, [key], 2),
      ]),
  ];
  const body = members.map(([key, text]) => `  ${key}: ${text},\n`).join("");
  const usesConfig = body.includes("config.require");
  return [
    ...(usesConfig ? ['import * as pulumi from "@pulumi/pulumi";\n'] : []),
    'import { VllmServer } from "pulumi-vllm";\n\n',
    ...(usesConfig ? ["const config = new pulumi.Config();\n\n"] : []),
    `const server = new VllmServer(${JSON.stringify(name)}, {\n${body}});\n\n`,
    "/** Base of the OpenAI API, as seen on the host. */\n",
    "export const baseUrl = server.baseUrl;\n",
  ].join("");
}

/** The text did not say which model. */
export function isWithoutPlace(model: JsonValue | undefined): boolean {
  return !isMembers(model) || !("repo" in model || "path" in model);
}

function isEmpty(value: JsonValue): boolean {
  return isMembers(value) && Object.keys(value).length === 0;
}

function literal(value: JsonValue, path: InputPath, indent: number): string {
  if (value === SECRET) return `config.requireSecret(${JSON.stringify(configKeyOf(dottedPath(path)))})`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = isJsonList(value);
  const pieces = isList
    ? value.map((each, index) => literal(each, [...path, index], indent + 2))
    : Object.entries(value).map(
        ([key, each]) => `${memberName(key)}: ${literal(each, [...path, key], indent + 2)}`,
      );
  const [open, close] = isList ? ["[", "]"] : ["{ ", " }"];
  const inline = pieces.length === 0 ? (isList ? "[]" : "{}") : `${open}${pieces.join(", ")}${close}`;
  const name = String(path.at(-1));
  if (!inline.includes("\n") && indent + name.length + 2 + inline.length <= WIDTH) return inline;
  const blanks = " ".repeat(indent);
  return `${open.trim()}\n${pieces.map((piece) => `${blanks}  ${piece},\n`).join("")}${blanks}${close.trim()}`;
}

function memberName(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

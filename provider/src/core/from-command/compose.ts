import { parseDocument } from "yaml";
import { gpuIds, mountIn, portIn, variable } from "./container-run";
import { containerWords, type FindContext } from "./find-launch";
import { type GivenWord, isName, joinedWords, plainWord, unknownWord } from "./given-word";
import { imageVersion } from "./image-version";
import { isRecord } from "../input-json";
import type { Container, Launch, Mount, PortMapping } from "./launch";
import { Rejected } from "./note";
import { expandedWords } from "./shell-values";

type Members = Readonly<Record<string, unknown>>;

/** Keys of a service that are read; the others mean something only for a container. */
const READ: ReadonlySet<string> = new Set([
  ...[
    "image",
    "command",
    "entrypoint",
    "environment",
    "env_file",
    "volumes",
    "ports",
    "network_mode",
    "deploy",
    "gpus",
  ],
]);
/** Of no meaning for one process. */
const SILENT: ReadonlySet<string> = new Set(["profiles", "labels", "networks", "expose", "platform"]);

/** The servers of a compose file. Source of the syntax: the Compose specification. Fails with Rejected broken-text. */
export function launchesInCompose(text: string, context: FindContext): readonly Launch[] {
  const document = parseDocument(text, { merge: true });
  const [error] = document.errors;
  if (error !== undefined) {
    const [from] = error.linePos ?? [];
    const place = from === undefined ? "" : `line ${String(from.line)}, column ${String(from.col)}`;
    throw new Rejected("broken-text", place, error.message.split("\n")[0] ?? "not YAML");
  }
  const whole: unknown = document.toJS();
  const root = isRecord(whole) ? whole : {};
  const services = isRecord(root["services"]) ? root["services"] : root;
  return Object.values(services).flatMap((service) =>
    isRecord(service) ? (launchOfService(service, context) ?? []) : [],
  );
}

function launchOfService(service: Members, context: FindContext): Launch | null {
  const image = interpolated(textOf(service["image"]));
  const environment = environmentOf(service["environment"]);
  const entrypoint = wordsOf(service["entrypoint"], context);
  const words = [...(entrypoint ?? []), ...(wordsOf(service["command"], context) ?? [])];
  const { notes } = context;
  const run = { image, hasEntrypoint: entrypoint !== null, environment };
  const inner = containerWords(words, run, context);
  if (inner === null || (image.text === "" && service["build"] === undefined)) return null;
  if (service["env_file"] !== undefined)
    notes.add(
      "needs-file",
      "env_file",
      `${filesOf(service["env_file"]).join(", ")}: what it sets is not known; put it into environment`,
    );
  const dropped = Object.keys(service).filter((key) => !READ.has(key) && !SILENT.has(key) && key !== "build");
  if (dropped.length > 0) notes.add("container-only", "docker", dropped.join(" "));
  const named = image.text === "" ? plainWord("an image that is built here") : image;
  return { ...inner, container: containerOf(service), version: imageVersion(named, notes) };
}

function containerOf(service: Members): Container {
  const devices = devicesOf(service);
  return {
    mounts: listOf(service["volumes"]).flatMap(mountOf),
    ports: listOf(service["ports"]).flatMap(portOf),
    isHostNetwork: service["network_mode"] === "host",
    gpus: deviceIds(devices),
    asksForGpus: service["gpus"] !== undefined || devices.length > 0,
  };
}

function mountOf(value: unknown): readonly Mount[] {
  if (!isRecord(value)) return mountIn(interpolated(textOf(value)));
  const source = textOf(value["source"]);
  return value["type"] === "bind" || /^[./~$]/.test(source)
    ? [{ source: interpolated(source), target: interpolated(textOf(value["target"])).text }]
    : [];
}

function portOf(value: unknown): readonly PortMapping[] {
  if (!isRecord(value)) return portIn(interpolated(textOf(value)));
  const given = (key: string): GivenWord | null =>
    value[key] === undefined ? null : interpolated(textOf(value[key]));
  return [
    { address: given("host_ip"), host: given("published"), container: given("target") ?? plainWord("") },
  ];
}

function devicesOf(service: Members): readonly unknown[] {
  const resources = memberOf(memberOf(service["deploy"], "resources"), "reservations");
  return [...listOf(memberOf(resources, "devices")), ...listOf(service["gpus"])];
}

function deviceIds(devices: readonly unknown[]): Container["gpus"] {
  const ids = devices.flatMap((device) => listOf(memberOf(device, "device_ids")));
  return ids.length === 0 ? null : ids.flatMap((id) => gpuIds(interpolated(textOf(id)).text));
}

function environmentOf(value: unknown): ReadonlyMap<string, GivenWord> {
  if (isRecord(value))
    return new Map(
      Object.entries(value).map(([name, each]) => [
        name,
        each === null ? unknownWord(name) : interpolated(textOf(each)),
      ]),
    );
  return new Map(listOf(value).flatMap((each) => variable(interpolated(textOf(each)), new Map())));
}

/** A list is words as they are, a text is split as a shell would. null: not given. */
function wordsOf(value: unknown, context: FindContext): readonly GivenWord[] | null {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map((each: unknown) => interpolated(textOf(each)));
  const text = textOf(value).replace(/\\\n/g, " ").replace(/\n/g, " ");
  // The variables of the file are put in before the text is split.
  const slots: GivenWord[] = [];
  const marked = piecesOf(text)
    .map((piece) => {
      if (piece.unknown.length === 0) return piece.text.replace(/[$`]/g, "\\$&");
      slots.push(piece);
      return `\${SLOT_${String(slots.length - 1)}}`;
    })
    .join("");
  const variables = new Map(slots.map((slot, index) => [`SLOT_${String(index)}`, slot]));
  const [statement] = context.parse(`: ${marked}`).commands;
  const command = statement?.command;
  if (command?.type !== "Command") throw new Rejected("broken-text", "command", "its quotes do not match");
  return command.args.flatMap((arg) => {
    if (arg.type === "Word") return expandedWords(arg, variables);
    return [plainWord(arg.text)];
  });
}

/** `${X}`, `${X:-default}`, `$X`; `$$` is a dollar sign. Source: the Compose specification, "Interpolation". */
function interpolated(text: string): GivenWord {
  return { ...joinedWords(piecesOf(text)), typed: text };
}

function piecesOf(text: string): readonly GivenWord[] {
  const pattern = /\$\$|\$\{([A-Za-z_]\w*)(?:(:?[-?+])((?:\$\{[^}]*\}|[^}])*))?\}|\$([A-Za-z_]\w*)|[^$]+|\$/g;
  return [...text.matchAll(pattern)].map(([whole, braced, operator, operand = "", bare]) => {
    if (whole === "$$") return plainWord("$");
    const name = braced ?? bare;
    if (name === undefined || !isName(name)) return plainWord(whole);
    if (operator?.endsWith("-") === true) return interpolated(operand);
    if (operator?.endsWith("+") === true) return plainWord("");
    if (name === "HOME") return plainWord("~");
    return unknownWord(name);
  });
}

function filesOf(value: unknown): readonly string[] {
  return listOf(value).map((each) => textOf(isRecord(each) ? each["path"] : each));
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

function textOf(value: unknown): string {
  return typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : "";
}

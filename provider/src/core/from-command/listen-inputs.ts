import type { JsonObject, JsonValue } from "../json";
import { type GivenWord, isKnown, plainWord } from "./given-word";
import type { Launch, PortMapping } from "./launch";
import type { Notes } from "./note";
import type { WrittenFlag } from "./written-flags";

const DEFAULT_PORT = "8000";
const LOOPBACK = /^(?:127\.|::1$)/;

export interface ListenInputs {
  readonly listen: JsonObject;
  /** Others than programs of the host reach it. */
  readonly isOpen: boolean;
}

/** `listen`: of the flags, or of the port that a container publishes. */
export function listenInputs(
  others: ReadonlyMap<string, WrittenFlag>,
  launch: Launch,
  notes: Notes,
): ListenInputs {
  const byFlag = (flag: string): GivenWord | null => others.get(flag)?.values[0] ?? null;
  const { container } = launch;
  const isPublished = container !== null && !container.isHostNetwork;
  const mapping = isPublished ? published(container.ports, byFlag("port") ?? plainWord(DEFAULT_PORT)) : null;
  const address = isPublished ? (mapping?.address ?? null) : byFlag("host");
  const port = isPublished ? (mapping?.host ?? null) : byFlag("port");
  const listen: Record<string, JsonValue> = {};
  if (address === null)
    notes.add(
      "narrower-address",
      "listen.address",
      "vLLM without --host listens on every address, the resource on 127.0.0.1",
    );
  else if (isKnown(address)) listen["address"] = address.text === "localhost" ? "127.0.0.1" : address.text;
  else notes.addUnknown("listen.address", address.text);
  if (port !== null) readPort(port, listen, notes);
  const at = listen["address"];
  return { listen, isOpen: typeof at === "string" && !LOOPBACK.test(at) };
}

/** The mapping of vLLM's own port; with one alone that one is meant. */
function published(ports: readonly PortMapping[], own: GivenWord): PortMapping | null {
  const [first] = ports;
  const exact = ports.find(({ container }) => container.text === own.text);
  return exact ?? (ports.length === 1 ? (first ?? null) : null);
}

function readPort(word: GivenWord, listen: Record<string, JsonValue>, notes: Notes): void {
  const port = Number(word.text);
  if (!isKnown(word) || !Number.isInteger(port)) {
    notes.addUnknown("listen.port", word.text);
    return;
  }
  listen["port"] = port;
  if (port < 1024) notes.add("privileged-port", "listen.port", "below 1024 only root may listen");
}

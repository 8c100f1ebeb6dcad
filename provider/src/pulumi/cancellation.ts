import { subscribe } from "node:diagnostics_channel";
import { isRecord } from "../core/input-json";

/**
 * What the engine asks of every provider when the CLI is told to stop, by the first ^C. Pulumi's server of dynamic providers answers
 * it without a word to them, so Node is asked which requests its HTTP/2 server gets (a channel of Node 22.23 and 24.21; where one has it not, nothing
 * is heard). Source: pulumi 3.276.0 sdk/nodejs/cmd/dynamic-provider/index.ts, cancel.
 */
const CANCEL = "/pulumirpc.ResourceProvider/Cancel";
const REQUESTS = "http2.server.stream.start";

const listeners = new Set<() => void>();
let isListening = false;

/** Does the work; where the CLI is told to stop meanwhile, `onCancel` is called. */
export async function heedingCancel<T>(onCancel: () => void, work: () => Promise<T>): Promise<T> {
  listen();
  listeners.add(onCancel);
  try {
    return await work();
  } finally {
    listeners.delete(onCancel);
  }
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  subscribe(REQUESTS, (message) => {
    if (!isRecord(message) || !isRecord(message["headers"]) || message["headers"][":path"] !== CANCEL) return;
    for (const tell of listeners) tell();
  });
}

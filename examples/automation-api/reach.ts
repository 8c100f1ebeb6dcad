import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds between two looks whether the tunnel is open, and how many there are at most. */
const PAUSE_MS = 500;
const LOOKS = 60;

export interface Way {
  close(): void;
}

/**
 * Opens a way to a server that listens on its host's loopback, where there is none: on the host itself, and beside an open tunnel, it is
 * reached as it is.
 */
export async function reach(baseUrl: string, model: string, tunnelCommand: string): Promise<Way> {
  if (tunnelCommand === "" || (await serves(baseUrl, model))) return { close: () => undefined };
  await demandFreePort(baseUrl, model);
  const tunnel = spawn(`exec ${tunnelCommand}`, { shell: true, stdio: ["ignore", "ignore", "inherit"] });
  const closed = once(tunnel, "exit").then(() => true);
  for (let look = 0; look < LOOKS; look += 1) {
    const isClosed = await Promise.race([closed, pause(PAUSE_MS, false)]);
    if (isClosed) throw new Error(`Cannot reach ${model}: ${tunnelCommand} ended`);
    if (await serves(baseUrl, model)) return { close: () => tunnel.kill() };
  }
  tunnel.kill();
  throw new Error(`Cannot reach ${model}: nothing answers at ${baseUrl} through ${tunnelCommand}`);
}

/** ssh itself would only warn that the port is taken here, and stay. */
async function demandFreePort(baseUrl: string, model: string): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const probe = createServer().listen(Number(port), hostname.replace(/^\[(.*)\]$/, "$1"));
  try {
    await once(probe, "listening");
  } catch (error) {
    throw new Error(`Cannot reach ${model}: the tunnel has no port on this machine, need another PORT`, {
      cause: error,
    });
  }
  probe.close();
  await once(probe, "close");
}

/** Whether it is this model that answers there, and not something else on the same port. */
async function serves(baseUrl: string, model: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/models`, { signal: AbortSignal.timeout(5000) });
    return response.ok && (await response.text()).includes(JSON.stringify(model));
  } catch {
    return false;
  }
}

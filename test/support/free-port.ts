import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below what the kernel gives to outgoing connections (32768 and up): a port of those is free now, and any
 * client's a moment later, `pulumi` itself included.
 */
const LOWEST = 10_000;
const ABOVE = 32_768;

/** Given by this process, and perhaps not listened on yet. */
const given = new Set<number>();

/** A port nobody listens on right now, and that no client will be given. */
export async function freePort(address: string): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, ABOVE);
    if (given.has(port) || !(await isFree(address, port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(address: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, address, resolve);
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw error;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}

import type { Client } from "ssh2";

/** How long a host may take to hear our goodbye before the socket is dropped. */
const GOODBYE_MILLISECONDS = 1000;

/** Ends a connection in order; one whose other side is silent is dropped, so that its socket does not keep this process alive. */
export function hangUp(client: Client): void {
  client.end();
  const timer = setTimeout(() => client.destroy(), GOODBYE_MILLISECONDS);
  timer.unref();
  client.once("close", () => {
    clearTimeout(timer);
  });
}

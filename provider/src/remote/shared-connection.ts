import type { Connection } from "../ssh/ssh2-transport";
import type { Transport } from "../ssh/transport";

/** Longer than a big stack needs to come back to a host; the process ends with its CLI anyway. */
const IDLE_MILLISECONDS = 60_000;

/** One connection that is opened by the first call, shared by all that run at once, and closed a minute after the last. */
export class SharedConnection {
  #opening: Promise<Connection> | null = null;
  #users = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  /**
   * Runs with an open connection; `open` makes one where there is none. One that broke is replaced for the next call only: whoever
   * was using it fails, because what ran on the host may still run.
   */
  async use<T>(open: () => Promise<Connection>, run: (transport: Transport) => Promise<T>): Promise<T> {
    clearTimeout(this.#idleTimer);
    this.#users += 1;
    try {
      return await run(await this.#current(open));
    } finally {
      this.#users -= 1;
      if (this.#users === 0) {
        this.#idleTimer = setTimeout(() => void this.close(), IDLE_MILLISECONDS);
        this.#idleTimer.unref();
      }
    }
  }

  /** Calls that still run fail with CONNECTION_LOST. */
  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const opening = this.#opening;
    this.#opening = null;
    const connection = await opening?.catch(() => null);
    connection?.close();
  }

  async #current(open: () => Promise<Connection>): Promise<Connection> {
    for (;;) {
      const opening = (this.#opening ??= open());
      const connection = await opening.catch((error: unknown) => {
        this.#forget(opening);
        throw error;
      });
      if (connection.isOpen) return connection;
      this.#forget(opening);
    }
  }

  #forget(opening: Promise<Connection>): void {
    if (this.#opening === opening) this.#opening = null;
  }
}

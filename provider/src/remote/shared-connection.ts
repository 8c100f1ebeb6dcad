import type { Connection } from "../ssh/ssh2-transport";
import type { Transport } from "../ssh/transport";

/** One connection that is opened by the first call and shared by all that run at once. */
export class SharedConnection {
  #opening: Promise<Connection> | null = null;

  /**
   * Runs with an open connection; `open` makes one where there is none. One that broke is replaced for the next call only: whoever
   * was using it fails, because what ran on the host may still run.
   */
  async use<T>(open: () => Promise<Connection>, run: (transport: Transport) => Promise<T>): Promise<T> {
    return run(await this.#current(open));
  }

  /** Calls that still run fail with CONNECTION_LOST. */
  async close(): Promise<void> {
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

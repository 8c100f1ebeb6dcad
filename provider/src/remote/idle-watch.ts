/** Runs calls, and does something once none of them has run for a while. */
export class IdleWatch {
  readonly #milliseconds: number;
  readonly #onIdle: () => void;
  #running = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number, onIdle: () => void) {
    this.#milliseconds = milliseconds;
    this.#onIdle = onIdle;
  }

  async during<T>(call: () => Promise<T>): Promise<T> {
    clearTimeout(this.#timer);
    this.#running += 1;
    try {
      return await call();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#timer = setTimeout(this.#onIdle, this.#milliseconds).unref();
    }
  }
}

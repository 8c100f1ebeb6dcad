/** Lets at most one text per key and period through: the first at once, of the later ones the last. */
export class Throttle {
  readonly #period: number;
  readonly #send: (key: string, text: string) => void;
  readonly #waiting = new Map<string, { text: string | null }>();

  constructor(periodMilliseconds: number, send: (key: string, text: string) => void) {
    this.#period = periodMilliseconds;
    this.#send = send;
  }

  push(key: string, text: string): void {
    const entry = this.#waiting.get(key);
    if (entry === undefined) {
      this.#send(key, text);
      this.#rest(key);
    } else {
      entry.text = text;
    }
  }

  /** Sends what still waits for this key, so that it cannot overtake what is said next. */
  flush(key: string): void {
    const entry = this.#waiting.get(key);
    if (entry?.text == null) return;
    this.#send(key, entry.text);
    entry.text = null;
  }

  flushAll(): void {
    for (const key of this.#waiting.keys()) this.flush(key);
  }

  #rest(key: string): void {
    const timer = setTimeout(() => {
      const entry = this.#waiting.get(key);
      this.#waiting.delete(key);
      if (entry?.text == null) return;
      this.#send(key, entry.text);
      this.#rest(key);
    }, this.#period);
    timer.unref();
    this.#waiting.set(key, { text: null });
  }
}

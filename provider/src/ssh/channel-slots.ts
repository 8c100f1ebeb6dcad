/** Lets a bounded number of holders in at a time; the others wait in order. */
export class ChannelSlots {
  #limit: number;
  #held = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when there is room. Every call needs one `release`. */
  async acquire(): Promise<void> {
    if (this.#held < this.#limit) {
      this.#held += 1;
      return;
    }
    // release() hands its place over, so the count stays as it is.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    if (this.#held > this.#limit) {
      this.#held -= 1;
      return;
    }
    const next = this.#waiting.shift();
    if (next === undefined) this.#held -= 1;
    else next();
  }

  /** For a holder that was turned away by the host: fewer fit than thought. False when it was the only one. */
  shrink(): boolean {
    if (this.#held <= 1) return false;
    this.#limit = this.#held - 1;
    return true;
  }
}

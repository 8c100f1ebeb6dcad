/** No number is older than this, milliseconds: a quiet start tells as often what it does. */
const LONGEST_PAUSE = 15_000;

interface Entry {
  shape: string;
  /** Since when texts of this shape have come, and when the last one was sent. */
  since: number;
  sentAt: number;
  waiting: string | null;
  timer: NodeJS.Timeout | null;
}

/**
 * Lets at most one text per key and period through: the first at once, of the later ones the last. Texts that differ in their numbers alone come
 * more seldom the longer they go on, every tenth of that time: where Pulumi has no terminal each is a line of its own, and a download of an
 * hour would be thousands of them.
 */
export class Throttle {
  readonly #period: number;
  readonly #send: (key: string, text: string) => void;
  readonly #entries = new Map<string, Entry>();

  constructor(periodMilliseconds: number, send: (key: string, text: string) => void) {
    this.#period = periodMilliseconds;
    this.#send = send;
  }

  push(key: string, text: string): void {
    const [now, shape] = [Date.now(), shapeOf(text)];
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#entries.set(key, { shape, since: now, sentAt: now, waiting: null, timer: null });
      this.#send(key, text);
      return;
    }
    if (entry.shape !== shape) Object.assign(entry, { shape, since: now });
    entry.waiting = text;
    const pause = Math.min(Math.max(this.#period, (now - entry.since) / 10), LONGEST_PAUSE);
    this.#flushIn(key, entry, entry.sentAt + pause - now);
  }

  /** Sends what still waits for this key, so that it cannot overtake what is said next. */
  flush(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    if (entry.timer !== null) clearTimeout(entry.timer);
    const { waiting } = entry;
    Object.assign(entry, { waiting: null, timer: null });
    if (waiting === null) return;
    entry.sentAt = Date.now();
    this.#send(key, waiting);
  }

  flushAll(): void {
    for (const key of this.#entries.keys()) this.flush(key);
  }

  #flushIn(key: string, entry: Entry, milliseconds: number): void {
    if (entry.timer !== null) clearTimeout(entry.timer);
    entry.timer = null;
    if (milliseconds <= 0) {
      this.flush(key);
      return;
    }
    entry.timer = setTimeout(() => {
      this.flush(key);
    }, milliseconds);
    entry.timer.unref();
  }
}

/** The same for "85 s left" and "5 min left", "980.0 MB/s" and "1.1 GB/s". */
function shapeOf(text: string): string {
  return text.replace(/\d[\d.,]*(?: ?(?:%|[kMGT]?i?B(?:\/s)?|s|min|h|cores?)(?!\w))?/g, "#");
}

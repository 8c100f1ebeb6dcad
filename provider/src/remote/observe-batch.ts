import type { Observation } from "../core/observed";
import type { ServerQuery } from "./protocol";

const WINDOW_MILLISECONDS = 10;
const MOST_QUERIES = 50;

export type IndexedObservation = Observation & { readonly queryIndex: number };

interface Waiting {
  readonly query: ServerQuery;
  readonly resolve: (observation: IndexedObservation) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers queries for one host, 50 at most, into one request: those made within 10 ms, and those that come while a connection is
 * still being opened, until `send` takes them.
 */
export class ObserveBatch {
  readonly #send: (take: () => readonly ServerQuery[]) => Promise<Observation>;
  readonly #mostQueries: number;
  #waiting: Waiting[] = [];
  #isOnItsWay = false;

  constructor(
    send: (take: () => readonly ServerQuery[]) => Promise<Observation>,
    mostQueries: number = MOST_QUERIES,
  ) {
    this.#send = send;
    this.#mostQueries = mostQueries;
  }

  observe(query: ServerQuery): Promise<IndexedObservation> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ query, resolve, reject });
      this.#sendSoon();
    });
  }

  #sendSoon(): void {
    if (this.#isOnItsWay || this.#waiting.length === 0) return;
    this.#isOnItsWay = true;
    setTimeout(() => void this.#sendNow(), WINDOW_MILLISECONDS);
  }

  async #sendNow(): Promise<void> {
    const taken: { batch: readonly Waiting[] | null } = { batch: null };
    const take = (most: number): readonly Waiting[] => {
      const batch = this.#waiting.splice(0, most);
      this.#isOnItsWay = false;
      this.#sendSoon();
      return batch;
    };
    try {
      const observation = await this.#send(() =>
        (taken.batch ??= take(this.#mostQueries)).map((one) => one.query),
      );
      for (const [queryIndex, one] of (taken.batch ?? []).entries())
        one.resolve({ ...observation, queryIndex });
    } catch (error) {
      // Without a connection everybody who waits for it hears why.
      for (const one of taken.batch ?? take(Infinity)) one.reject(error);
    }
  }
}

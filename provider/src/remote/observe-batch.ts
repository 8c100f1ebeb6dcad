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

/** Gathers queries made within 10 ms for one host, 50 at most, into one request. */
export class ObserveBatch {
  readonly #send: (queries: readonly ServerQuery[]) => Promise<Observation>;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (queries: readonly ServerQuery[]) => Promise<Observation>) {
    this.#send = send;
  }

  observe(query: ServerQuery): Promise<IndexedObservation> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ query, resolve, reject });
      if (this.#waiting.length === MOST_QUERIES) this.#flush();
      else
        this.#timer ??= setTimeout(() => {
          this.#flush();
        }, WINDOW_MILLISECONDS);
    });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#send(batch.map((one) => one.query)).then(
      (observation) => {
        for (const [queryIndex, one] of batch.entries()) one.resolve({ ...observation, queryIndex });
      },
      (error: unknown) => {
        for (const one of batch) one.reject(error);
      },
    );
  }
}

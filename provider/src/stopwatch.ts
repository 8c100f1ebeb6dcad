import type { TimeSpent } from "./core/ready-words";
import type { Spec } from "./core/spec";
import type { ApplyResult } from "./remote/protocol";

/** What the time of one operation goes into. */
export class Stopwatch {
  readonly #now: () => Date;
  readonly #begun: number;
  /** Seconds that bringing vLLM and the checkpoint took. */
  readonly #brought = { install: 0, fetch: 0 };

  constructor(now: () => Date) {
    this.#now = now;
    this.#begun = now().getTime();
  }

  /** What was there already took no time worth telling. */
  take({ steps }: ApplyResult): void {
    for (const step of steps) {
      if (step.kind === "install" && step.install.built) this.#brought.install += step.install.seconds;
      if (step.kind === "fetch" && step.fetch.fetchedBytes > 0) this.#brought.fetch += step.fetch.seconds;
    }
  }

  spent({ vllm, model }: Spec): TimeSpent {
    return {
      total: this.#seconds(),
      install: vllm.kind === "environment" ? this.#brought.install : null,
      download: model.kind === "hub" ? this.#brought.fetch : null,
    };
  }

  #seconds(): number {
    return (this.#now().getTime() - this.#begun) / 1000;
  }
}

import type { TimeSpent } from "./core/ready-words";
import type { Spec } from "./core/spec";
import type { Report } from "./live-start";
import type { ApplyResult } from "./remote/protocol";

const LONG_WAIT_SECONDS = 90;
/** The CLI's first ^C waits for what runs; its second one ends the CLI, and nothing of the host. */
const LEAVING =
  "this goes on by itself on the host: ^C twice leaves it, and the next `pulumi up` takes it up (after `pulumi cancel`, where the stack is locked)";

/** What the time of one operation goes into. */
export class Stopwatch {
  readonly #now: () => Date;
  readonly #report: Pick<Report, "info">;
  readonly #begun: number;
  /** Seconds that bringing vLLM and the checkpoint took. */
  readonly #brought = { install: 0, fetch: 0 };
  #isLeavingTold = false;

  constructor(now: () => Date, report: Pick<Report, "info">) {
    this.#now = now;
    this.#report = report;
    this.#begun = now().getTime();
  }

  /** Whoever waits long enough to think of ^C is told what it does, once. */
  tick(): void {
    if (this.#isLeavingTold || this.#seconds() < LONG_WAIT_SECONDS) return;
    this.#isLeavingTold = true;
    this.#report.info(LEAVING);
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

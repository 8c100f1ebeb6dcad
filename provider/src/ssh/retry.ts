import { setTimeout as delay } from "node:timers/promises";
import { DialFailure } from "./connection-failure";

const FIRST_PAUSE_SECONDS = 0.5;
const LONGEST_PAUSE_SECONDS = 8;

export interface RetryLimits {
  /** Tries at most; 0 = as many as fit into the time. */
  readonly tries: number;
  /** Bounds all tries and pauses together. */
  readonly seconds: number;
}

/**
 * Tries until it works. Only a temporary DialFailure is tried again, after a pause that doubles from 0.5 s to 8 s and is shortened by
 * chance to half at most, so that many clients do not come back together. `giveUp` makes the error out of the last failure.
 */
export async function withRetry<T>(
  limits: RetryLimits,
  attempt: (millisecondsLeft: number) => Promise<T>,
  giveUp: (failure: DialFailure, tries: number, seconds: number) => Error,
): Promise<T> {
  const begin = performance.now();
  const elapsed = (): number => (performance.now() - begin) / 1000;
  for (
    let tries = 1, pause = FIRST_PAUSE_SECONDS;
    ;
    tries += 1, pause = Math.min(pause * 2, LONGEST_PAUSE_SECONDS)
  ) {
    try {
      return await attempt((limits.seconds - elapsed()) * 1000);
    } catch (error) {
      if (!(error instanceof DialFailure)) throw error;
      const seconds = pause * (0.5 + Math.random() / 2);
      const isOver = (limits.tries > 0 && tries >= limits.tries) || elapsed() + seconds >= limits.seconds;
      if (!error.isTemporary || isOver) throw giveUp(error, tries, elapsed());
      await delay(seconds * 1000);
    }
  }
}

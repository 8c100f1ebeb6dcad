import type { Sign, Weight } from "./rule";

/** Short ways to write one sign, so that a rule reads as a table. */
type Closer = Partial<Pick<Sign, "accepts" | "isBestEvidence">>;

function sign(weight: Weight): (pattern: RegExp, source: string, closer?: Closer) => Sign {
  return (pattern, source, closer = {}) => ({ weight, pattern, source, ...closer });
}

/** Beats every proof: other proofs come along with it. */
export const verdict = sign("verdict");
/** Names the cause. */
export const proof = sign("proof");
/** Names the cause, unless a proof of another one is there. */
export const error = sign("error");
/** Comes with several causes. */
export const symptom = sign("symptom");
/** Counts only beside another sign of the same cause: a better line, or values. */
export const hint = sign("hint");

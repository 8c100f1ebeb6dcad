import type { Spec } from "./core/spec";

type Wish = Spec["onDelete"]["unreachableHost"];

/** For this process, which lives as long as one operation of the engine: URN -> what the program says now. */
const wishes = new Map<string, Wish>();

/**
 * What the program declares of a resource counts for the older one of its name too: when a host is lost and its server moves to another in one
 * `up`, the old resource goes with the state that has the old wish, and no later `up` could change that.
 */
export function noteWish(urn: string, { unreachableHost }: Spec["onDelete"]): void {
  wishes.set(urn, unreachableHost);
}

/** The program's wish where it ran, else the state's. */
export function newestWish(urn: string, recorded: Spec["onDelete"]): Wish {
  return wishes.get(urn) ?? recorded.unreachableHost;
}

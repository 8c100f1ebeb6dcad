import type { IndexedObservation } from "./observe-batch";
import type { ServerQuery } from "./protocol";
import { answerFrom, type Sight } from "./sight";

/**
 * How long after a look began its answers are told on. Pulumi refreshes some eight resources at a time, so the reads of one host are
 * spread over the whole refresh: a minute lets a host of fifty servers, or a fleet of hundreds, do with one look a host. A refresh
 * that takes longer looks once a minute, for it must not tell what was so minutes ago. Nothing is ever changed on the strength of
 * what is kept here: update and delete look for themselves.
 */
const KEPT_MILLISECONDS = 60_000;

/** A look that waited a minute for a server that hangs answers at least this long, or each of the next reads would wait as long. */
const KEPT_ONCE_TOLD_MILLISECONDS = 30_000;

/** How often this process has begun or ended changing a host. Shared by all who look at it. */
export interface HostChanges {
  count: number;
}

interface Look {
  readonly begunAt: number;
  readonly changesBefore: number;
  readonly sight: Promise<Sight>;
  /** null: it is under way. */
  toldAt: number | null;
}

/** The last look at a host, for the reads of the same refresh to be answered from. */
export class SharedSight {
  readonly #changes: HostChanges;
  readonly #now: () => number;
  #look: Look | null = null;

  /** @param now milliseconds of the wall clock, which goes on while a laptop sleeps. */
  constructor(changes: HostChanges = { count: 0 }, now: () => number = Date.now) {
    this.#changes = changes;
    this.#now = now;
  }

  /** A look is on its way to the host: who asks from now on waits for it. Returns what ends the wait. */
  begin(): { readonly tell: (sight: Sight) => void; readonly fail: (error: unknown) => void } {
    let tell: (sight: Sight) => void = () => undefined;
    let fail: (error: unknown) => void = () => undefined;
    const sight = new Promise<Sight>((resolve, reject) => {
      tell = resolve;
      fail = reject;
    });
    const look: Look = { begunAt: this.#now(), changesBefore: this.#changes.count, sight, toldAt: null };
    this.#look = look;
    sight.then(
      () => {
        look.toldAt = this.#now();
      },
      () => {
        // Those who wait hear why; the next one tries again.
        if (this.#look === look) this.#look = null;
      },
    );
    return { tell, fail };
  }

  /** To be called before and after anything on the host is changed: what was seen may be so no more. */
  changing(): void {
    this.#changes.count += 1;
  }

  forget(): void {
    this.#look = null;
  }

  /** From the last look, also one that is still under way; null: a look for this very query is needed. Fails as that look fails. */
  async answer(query: ServerQuery): Promise<IndexedObservation | null> {
    const look = this.#look;
    if (look === null || query.serverId === null || this.#isOutdated(look)) return null;
    const sight = await look.sight;
    // Changed while it was under way.
    return this.#isChanged(look) ? null : answerFrom(sight, query);
  }

  /** One under way is never too old: a second beside it would not be there earlier. A clock that was set back makes old. */
  #isOutdated(look: Look): boolean {
    if (this.#isChanged(look)) return true;
    if (look.toldAt === null) return false;
    const now = this.#now();
    const end = Math.max(look.begunAt + KEPT_MILLISECONDS, look.toldAt + KEPT_ONCE_TOLD_MILLISECONDS);
    return now < look.toldAt || now >= end;
  }

  #isChanged({ changesBefore }: Look): boolean {
    return changesBefore !== this.#changes.count;
  }
}

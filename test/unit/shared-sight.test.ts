import { describe, expect, it } from "vitest";
import { SharedSight, type HostChanges } from "../../provider/src/remote/shared-sight";
import { query, sight } from "../support/sights";

interface Bench {
  readonly shared: SharedSight;
  readonly changes: HostChanges;
  /** Milliseconds. */
  pass(time: number): void;
}

function bench(): Bench {
  let time = 1_000_000;
  const changes = { count: 0 };
  const pass = (more: number): void => {
    time += more;
  };
  return { shared: new SharedSight(changes, () => time), changes, pass };
}

const unknown = { ...query, serverId: "kimi-99999999" };

describe("what a look at a host told", () => {
  it("is nothing before the first look", async () => {
    expect(await bench().shared.answer(query)).toBeNull();
  });

  it("answers whoever asks while the look is under way, once it is there and however long it takes", async () => {
    const { shared, pass } = bench();
    const look = shared.begin();
    const early = [shared.answer(query), shared.answer(unknown)];
    pass(170_000);
    const late = shared.answer(query);
    look.tell(sight());
    const answers = await Promise.all([...early, late]);
    expect(answers.map((answer) => answer?.servers[0]?.server.status)).toEqual(["ready", undefined, "ready"]);
  });

  it("answers for a minute from the moment the look began", async () => {
    const { shared, pass } = bench();
    const look = shared.begin();
    pass(20_000);
    look.tell(sight());
    await shared.answer(query);
    pass(39_999);
    expect(await shared.answer(query)).not.toBeNull();
    pass(1);
    expect(await shared.answer(query)).toBeNull();
  });

  it("answers for half a minute more when it took longer than that, for the next reads would wait as long again", async () => {
    const { shared, pass } = bench();
    const look = shared.begin();
    pass(90_000);
    look.tell(sight());
    await shared.answer(query);
    pass(29_999);
    expect(await shared.answer(query)).not.toBeNull();
    pass(1);
    expect(await shared.answer(query)).toBeNull();
  });

  it("is not trusted when the clock was set back", async () => {
    const { shared, pass } = bench();
    shared.begin().tell(sight());
    await shared.answer(query);
    pass(-1);
    expect(await shared.answer(query)).toBeNull();
  });

  it("does not answer a query without an id: by its URN only the host can tell which server is meant", async () => {
    const { shared } = bench();
    shared.begin().tell(sight());
    expect(await shared.answer({ ...query, serverId: null })).toBeNull();
  });

  it("is void once something on the host was changed, by this way to it or another", async () => {
    const { shared, changes } = bench();
    shared.begin().tell(sight());
    expect(await shared.answer(query)).not.toBeNull();
    new SharedSight(changes).changing();
    expect(await shared.answer(query)).toBeNull();
  });

  it("is void when a change began or ended while the look was under way", async () => {
    const { shared } = bench();
    const look = shared.begin();
    const waiting = shared.answer(query);
    shared.changing();
    look.tell(sight());
    expect(await waiting).toBeNull();
    expect(await shared.answer(query)).toBeNull();
    shared.begin().tell(sight());
    expect(await shared.answer(query)).not.toBeNull();
  });

  it("is an error for all who wait when the look fails, and for nobody after them", async () => {
    const { shared } = bench();
    const look = shared.begin();
    const waiting = [shared.answer(query), shared.answer(unknown)];
    look.fail(new Error("connection lost"));
    const outcomes = await Promise.allSettled(waiting);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected"]);
    expect(await shared.answer(query)).toBeNull();
  });
});

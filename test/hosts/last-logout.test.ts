import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually";
import { freePort } from "../support/free-port";
import { filesIn } from "../support/inside-host";
import { isApiServer, type Inputs } from "./fleet";
import { declare, makeOneMachine, outputsOf, type OneMachine } from "./one-machine";
import type { SiteProcess, Traces } from "./site";

/** logind as Debian sets it up: after a user's last logout nothing of theirs is left in /dev/shm. */

const USERS = ["ann", "cid"] as const;
type User = (typeof USERS)[number];
let place: OneMachine;
const ports = new Map<User, number>();
let empty: readonly Traces[];

const traces = (): readonly Traces[] => USERS.map((user) => place.site(user).traces());
const sharedMemory = (user: User): readonly string[] =>
  filesIn(place.machine, "/dev/shm", Number(place.machine.run(`id -u ${user}`)));
const apiServer = (user: User): SiteProcess | undefined => place.site(user).processes().find(isApiServer);

beforeAll(async () => {
  place = await makeOneMachine({
    name: "gpu6",
    users: [{ name: "ann", sudo: true }, { name: "cid" }],
    removesIpc: true,
  });
  empty = traces();
  const servers: Record<string, Inputs> = {};
  for (const user of USERS) {
    const port = await freePort("127.0.0.1");
    ports.set(user, port);
    servers[user] = await place.server(user, { listen: { port } });
  }
  await declare(place.project, servers);
  const up = await place.project.up();
  if (up.code !== 0) throw new Error(up.stdout);
});

afterAll(async () => {
  await place.close();
});

describe("the last logout of an ordinary user", () => {
  it("takes the shared memory of a unit, and not of a supervisor, which is still of the login", async () => {
    const seen = await outputsOf(place.project);
    expect(USERS.map((user) => [seen[user]?.["status"], seen[user]?.["manager"]])).toEqual([
      ["ready", "systemd"],
      ["ready", "process"],
    ]);
    await eventually("logind has taken what ann had", () => (sharedMemory("ann").length === 0 ? true : null));
    expect(sharedMemory("cid").length).toBeGreaterThan(0);
  });

  it.each(USERS)("leaves the server of %s serving, and able to start again after a crash", async (user) => {
    const port = ports.get(user) ?? 0;
    expect(await place.site(user).complete(port)).toMatchObject({ model: "tiny" });
    const before = apiServer(user);
    process.kill(before?.pid ?? 0, "SIGKILL");
    await eventually(`another server of ${user} answers`, async () => {
      const now = apiServer(user);
      if (now === undefined || now.pid === before?.pid) return null;
      return place.site(user).get(port, "/health");
    });
    expect(await place.site(user).complete(port)).toMatchObject({ model: "tiny" });
  });

  it("leaves a refresh with nothing to tell but the restart, and a destroy with nothing to leave", async () => {
    expect((await place.project.refresh()).code).toBe(0);
    const seen = await outputsOf(place.project);
    expect(
      USERS.map((user) => [seen[user]?.["status"], seen[user]?.["drift"], seen[user]?.["restarts"]]),
    ).toEqual(USERS.map(() => ["ready", [], 1]));
    expect((await place.project.destroy()).code).toBe(0);
    expect(traces()).toEqual(empty);
  });
});

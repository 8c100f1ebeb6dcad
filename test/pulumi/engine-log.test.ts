import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { engineAddress } from "../../provider/src/pulumi/engine-address";
import { engineLogAt } from "../../provider/src/pulumi/engine-log";
import { watchAddress } from "../../provider/src/pulumi/parent-watch";
import { type PulumiEngine, startPulumiEngine } from "../support/pulumi-engine";

const KIMI = "urn:pulumi:dev::shop::t::kimi";
const OTHER = "urn:pulumi:dev::shop::t::other";
let engine: PulumiEngine;

beforeEach(async () => {
  engine = await startPulumiEngine();
});

afterEach(() => {
  engine.stop();
});

const addressOf = (text: string) => engineAddress(["node", "index.js", text]);

test("the engine's address is the last argument, and only when it is one", () => {
  expect(addressOf("127.0.0.1:4711")).toEqual({ host: "127.0.0.1", port: 4711 });
  expect(addressOf("[::1]:4711")).toEqual({ host: "::1", port: 4711 });
  expect(addressOf("run")).toBeNull();
  expect(addressOf("example.org:80")).toBeNull();
  expect(engineAddress([])).toBeNull();
});

test("of progress in quick succession the first and the last are shown, per resource", async () => {
  const log = engineLogAt(addressOf(engine.address));
  for (let shard = 1; shard <= 50; shard += 1) log.progress(KIMI, `shard ${shard}`);
  log.progress(OTHER, "other");
  await log.flush();
  expect(engine.lines).toEqual([
    { urn: KIMI, text: "shard 1", severity: "info", isEphemeral: true },
    { urn: OTHER, text: "other", severity: "info", isEphemeral: true },
    { urn: KIMI, text: "shard 50", severity: "info", isEphemeral: true },
  ]);
});

test("the last progress is shown without a flush", async () => {
  const log = engineLogAt(addressOf(engine.address));
  log.progress(KIMI, "first");
  log.progress(KIMI, "last");
  await expect
    .poll(() => engine.lines.map((line) => line.text), { timeout: 5000 })
    .toEqual(["first", "last"]);
});

test("results stay, in the order they were said, and progress never comes after them", async () => {
  const log = engineLogAt(addressOf(engine.address));
  log.progress(KIMI, "first");
  log.progress(KIMI, "last");
  log.info(KIMI, "ready");
  for (let index = 0; index < 20; index += 1) log.warning(KIMI, `warning ${index}`);
  await log.flush();
  expect(engine.lines.map((line) => [line.text, line.severity, line.isEphemeral])).toEqual([
    ["first", "info", true],
    ["last", "info", true],
    ["ready", "info", false],
    ...Array.from({ length: 20 }, (_, index) => [`warning ${index}`, "warning", false]),
  ]);
});

test("an engine that is gone is noticed and breaks nothing", async () => {
  const log = engineLogAt(addressOf(engine.address));
  expect(await log.isReachable()).toBe(true);
  engine.stop();
  expect(await log.isReachable()).toBe(false);
  log.info(KIMI, "to nobody");
  await log.flush();
});

test("without an engine nothing is said and nothing fails", async () => {
  const log = engineLogAt(null);
  log.progress(KIMI, "a");
  log.info(KIMI, "b");
  await log.flush();
  expect(await log.isReachable()).toBe(true);
});

test("the watch tells once that the engine is gone, after so many looks without an answer", async () => {
  let looks = 0;
  const listener = createServer((socket) => {
    looks += 1;
    socket.destroy();
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  let gone = 0;
  const stop = watchAddress(
    { host: "127.0.0.1", port: address.port },
    { everyMilliseconds: 20, misses: 3, onGone: () => (gone += 1) },
  );
  await expect.poll(() => looks, { timeout: 5000 }).toBeGreaterThan(3);
  expect(gone).toBe(0);
  listener.close();
  await expect.poll(() => gone, { timeout: 5000 }).toBe(1);
  stop();
});

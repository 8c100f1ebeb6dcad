import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  describeDiff,
  describeRename,
  diffContext,
  diffInputs,
  type DiffContext,
} from "../../provider/src/core/diff";
import { EFFECTS } from "../../provider/src/core/diff-effects";
import { UNKNOWN_VALUE } from "../../provider/src/core/input-unknowns";

const base = { host: "gpu1", model: { path: "/models/kimi" } };
const sameHost = { oldHost: "gpu1:22", newHost: "gpu1:22" };
const ready = { lastStartSeconds: 312, status: "ready" };

function words(
  olds: object,
  news: object,
  identities = sameHost,
  context: DiffContext = ready,
): readonly string[] {
  return describeDiff(diffInputs({ ...base, ...olds }, { ...base, ...news }, identities), context);
}

/** [input, before, after, effect, words of the change] */
const CHANGES: readonly (readonly [keyof typeof EFFECTS, object, object, string])[] = [
  ["host", {}, { host: { host: "gpu1", password: "p" } }, "host.password"],
  ["model", {}, { model: { path: "/models/kimi/v2" } }, "engine.servedModelName, model.path"],
  ["kvCacheDtype", {}, { kvCacheDtype: "bfloat16" }, "kvCacheDtype"],
  [
    "quantizationConfigOverrides",
    {},
    { quantizationConfigOverrides: { a: { b: null } } },
    "quantizationConfigOverrides.a",
  ],
  [
    "configOverrides",
    { configOverrides: { a: { b: 1 } } },
    { configOverrides: { a: { b: 2 } } },
    "configOverrides.a.b",
  ],
  ["vllm", {}, { vllm: { executable: "/v/bin/vllm" } }, "vllm.executable"],
  ["engine", { engine: { maxModelLen: 1 } }, { engine: { maxModelLen: 2 } }, "engine.maxModelLen"],
  [
    "engine",
    { engine: { hfOverrides: { a: 1 } } },
    { engine: { hfOverrides: { a: 2 } } },
    "engine.hfOverrides.a",
  ],
  ["extraArgs", {}, { extraArgs: { "stream-interval": 4 } }, 'extraArgs["stream-interval"]'],
  ["environment", {}, { environment: { A: "x" } }, "environment.A"],
  ["gpus", { gpus: [0, 1] }, { gpus: [1, 0] }, "gpus"],
  ["listen", {}, { listen: { port: 9000 } }, "listen.port"],
  ["allowUnauthenticated", {}, { allowUnauthenticated: true }, "allowUnauthenticated"],
  ["apiKey", { apiKey: "a" }, { apiKey: "b" }, "apiKey"],
  ["service", {}, { service: { restart: { max: 0 } } }, "service.restart.max"],
  ["readiness", {}, { readiness: { probe: "chat" } }, "readiness.probe"],
  ["timeouts", {}, { timeouts: { ready: 900 } }, "timeouts.ready"],
  ["update", {}, { update: { returnToLastGood: false } }, "update.returnToLastGood"],
  ["onDelete", {}, { onDelete: { unreachableHost: "forget" } }, "onDelete.unreachableHost"],
];

describe("a changed input", () => {
  it.each(CHANGES)(
    "%s from %j to %j has the effect of the table and is told at its path",
    (input, olds, news, paths) => {
      const diff = diffInputs({ ...base, ...olds }, { ...base, ...news }, sameHost);
      const told = { restart: diff.restart, live: diff.live, credentials: diff.credentials };
      const found = Object.entries(told).flatMap(([effect, changes]) =>
        changes.map((change) => [effect, change.path] as const),
      );
      expect(
        found
          .map(([, path]) => path)
          .sort()
          .join(", "),
      ).toBe(paths);
      expect([...new Set(found.map(([effect]) => effect))]).toEqual([EFFECTS[input]]);
      expect({ hasChanges: diff.hasChanges, replaces: diff.replaces }).toEqual({
        hasChanges: true,
        replaces: [],
      });
    },
  );

  it("is in the table above for every input", () => {
    expect([...new Set(CHANGES.map(([input]) => input))].sort()).toEqual(Object.keys(EFFECTS).sort());
  });

  it("is told without the value of a secret", () => {
    const olds = { apiKey: "old-secret", environment: { A: "env-secret-1", B: "env-secret-2" } };
    const news = {
      environment: { B: "env-secret-3", C: "env-secret-4" },
      host: { host: "gpu1", privateKey: "key-secret" },
    };
    const diff = diffInputs({ ...base, ...olds }, { ...base, ...news }, sameHost);
    expect(JSON.stringify(diff)).not.toMatch(/-secret/);
    expect(describeDiff(diff, ready)).toEqual([
      "restart: environment.A removed, environment.B changed, environment.C added, apiKey removed; down about 5 min (last start took 312 s)",
      "no change on the host: credentials changed (host.privateKey)",
    ]);
  });
});

describe("the same said in another way is no change", () => {
  it.each([
    [
      {},
      {
        kvCacheDtype: "auto",
        listen: { address: "127.0.0.1", port: 8000 },
        timeouts: { stop: 120 },
        engine: {},
        apiKey: null,
      },
    ],
    [
      {},
      {
        service: {
          manager: "auto",
          startOnBoot: true,
          restart: { max: 5, withinSeconds: 600, delaySeconds: 5 },
          logs: { keep: 5, maxBytes: 104857600 },
        },
        onDelete: { unreachableHost: "fail" },
        readiness: { probe: "auto" },
        environment: {},
      },
    ],
    [{}, { host: { host: "gpu1", dialErrorLimit: 10, perDialTimeout: 15 } }],
    [{ host: "u@gpu1:22" }, { host: { user: "u", port: 22, host: "gpu1" } }],
    [{}, { model: { path: "/models/kimi/" } }],
    [{}, { gpus: 1, engine: { servedModelName: ["kimi"] } }],
    [
      { engine: { hfOverrides: { a: 1, b: { c: 2, d: 3 } } } },
      { engine: { hfOverrides: { b: { d: 3, c: 2 }, a: 1 } } },
    ],
    [{ status: "ready", url: "http://x", __provider: "old", __urn: "u" }, { __provider: "new" }],
  ])("%j and %j", (olds, news) => {
    expect(diffInputs({ ...base, ...olds }, { ...base, ...news }, sameHost)).toMatchObject({
      hasChanges: false,
    });
    expect(words(olds, news)).toEqual([]);
  });

  it("for any JSON, whatever the order of its keys", () => {
    const inputs = fc.record({
      engine: fc.record({
        maxModelLen: fc.integer({ min: 1 }),
        hfOverrides: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
      }),
      configOverrides: fc.dictionary(fc.stringMatching(/^[a-p]+$/), fc.jsonValue({ maxDepth: 3 })),
      environment: fc.dictionary(fc.stringMatching(/^X[A-Z_]*$/), fc.stringMatching(/^[ -~]*$/)),
    });
    fc.assert(
      fc.property(inputs, (given) => {
        expect(diffInputs({ ...base, ...given }, turned({ ...base, ...given }), sameHost).hasChanges).toBe(
          false,
        );
      }),
    );
  });
});

describe("the words of a preview", () => {
  it("say what is restarted, for how long, and what is not", () => {
    const olds = { engine: { maxModelLen: 8192, tensorParallelSize: 1 } };
    const news = { engine: { maxModelLen: 16384, tensorParallelSize: 2 }, timeouts: { ready: 900 } };
    expect(words(olds, news)).toEqual([
      "restart: engine.maxModelLen 8192 -> 16384, engine.tensorParallelSize 1 -> 2; down about 5 min (last start took 312 s)",
      "no restart: timeouts.ready 3600 -> 900",
    ]);
  });

  it.each([
    [{ extraArgs: { seed: 1 } }, { extraArgs: { seed: "1" } }, 'extraArgs.seed 1 -> "1"'],
    [
      { engine: { chatTemplate: "a" } },
      { engine: { chatTemplate: "b\n\u009b31m" } },
      'engine.chatTemplate a -> "b\\n\\u009b31m"',
    ],
    [
      { engine: { chatTemplate: `${"x".repeat(90)}old` } },
      { engine: { chatTemplate: `${"x".repeat(90)}new` } },
      `engine.chatTemplate ...${"x".repeat(20)}old -> ...${"x".repeat(20)}new`,
    ],
    [
      { engine: { chatTemplate: "y".repeat(90) } },
      {},
      `engine.chatTemplate ${"y".repeat(60)}... -> (not set)`,
    ],
    [
      { extraArgs: { connector: { password: "old-password" } } },
      { extraArgs: { connector: { password: "new-password" } } },
      "extraArgs.connector.password changed",
    ],
  ])("show on one line what differs: %j and %j", (olds, news, change) => {
    expect(words(olds, news, sameHost, { lastStartSeconds: null, status: null })).toEqual([
      `restart: ${change}; down until it is ready again`,
    ]);
  });

  it("say nothing about a time that is not recorded", () => {
    expect(words({}, { listen: { port: 1 } }, sameHost, { lastStartSeconds: null, status: null })).toEqual([
      "restart: listen.port 8000 -> 1; down until it is ready again",
    ]);
  });

  it("say that a server which does not run is started", () => {
    expect(words({}, { listen: { port: 1 } }, sameHost, { lastStartSeconds: 9, status: "crashed" })).toEqual([
      "start: listen.port 8000 -> 1; the server is not running (crashed)",
    ]);
  });

  it("tell a move to another machine, and only then a replacement", () => {
    const news = { host: { host: "gpu2", password: "p" } };
    expect(words({}, news, { oldHost: "gpu1:22", newHost: "gpu2:22" })).toEqual([
      "replacement: host gpu1:22 -> gpu2:22; the new server is started first, then the old one is stopped",
    ]);
    expect(words({}, { host: "alias-of-gpu1" })).toEqual([
      "no change on the host: credentials changed (host.host)",
    ]);
  });

  it("tell what is not known yet, and compare the rest", () => {
    const news = { apiKey: UNKNOWN_VALUE, engine: { maxModelLen: 4 }, timeouts: { stop: UNKNOWN_VALUE } };
    expect(words({ engine: { maxModelLen: 2 } }, news)).toEqual([
      "restart: engine.maxModelLen 2 -> 4; down about 5 min (last start took 312 s)",
      "restart possible: apiKey not known yet",
      "no restart: timeouts.stop not known yet",
    ]);
    expect(words({}, { host: UNKNOWN_VALUE }, { oldHost: "gpu1:22", newHost: "" })).toEqual([
      "replacement possible: host not known yet",
    ]);
    expect(words({}, { model: { path: UNKNOWN_VALUE } })).toEqual([
      "restart possible: model.path not known yet",
    ]);
  });

  it("stay true when the recorded inputs cannot be read", () => {
    expect(words({ listen: "of an older version" }, {})).toEqual([
      "restart: the recorded inputs unreadable -> as declared; down about 5 min (last start took 312 s)",
    ]);
  });

  it("take time and status from the recorded outputs", () => {
    expect(diffContext({ startDurationSeconds: 12.5, status: "ready" })).toEqual({
      lastStartSeconds: 12.5,
      status: "ready",
    });
    expect(diffContext({})).toEqual({ lastStartSeconds: null, status: null });
  });
});

function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]: [string, unknown]) => [key, turned(inner)]),
  );
}

describe("describeRename", () => {
  it("tells a new name of the resource, its stack or its project, where both are known", () => {
    const old = "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/vllm:VllmServer::kimi";
    const moved = "urn:pulumi:live::shop::pulumi-nodejs:dynamic/vllm:VllmServer::k2";
    expect(describeRename(old, moved)).toBe("no restart: renamed from shop/prod kimi to shop/live k2");
    expect([describeRename(old, old), describeRename("", old), describeRename(old, "")]).toEqual([
      null,
      null,
      null,
    ]);
  });
});

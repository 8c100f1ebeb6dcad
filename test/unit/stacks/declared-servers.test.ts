import { runtime } from "@pulumi/pulumi";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { declaredServers } from "../../../stacks/declared-servers";

beforeAll(async () => {
  await runtime.setMocks(
    { newResource: () => ({ id: "", state: {} }), call: () => ({}) },
    "vllm-servers",
    "fleet",
  );
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** What the stack's config is, by the names of its keys; a value that is no text is handed over as JSON, as Pulumi does. */
function configure(config: Readonly<Record<string, unknown>>): void {
  const entries = Object.entries(config).map(([key, value]) => [
    `vllm-servers:${key}`,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  runtime.setAllConfig(Object.fromEntries(entries));
}

function refusalOf(config: Readonly<Record<string, unknown>>): string {
  configure(config);
  try {
    declaredServers();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("nothing was refused");
}

const model = { path: "/models/m" };

describe("servers", () => {
  test("are names with their inputs, as they stand there", () => {
    const servers = { one: { host: "gpu1", model }, two: { host: "gpu2", model, gpus: [0] } };
    configure({ servers });
    expect(declaredServers()).toEqual(Object.entries(servers));
  });

  test("get defaults, then their groups in the order named, then what is their own", () => {
    configure({
      defaults: { model, engine: { maxModelLen: 1, dtype: "auto" }, listen: { port: 8001 } },
      groups: {
        big: { engine: { maxModelLen: 2, tensorParallelSize: 4 } },
        long: { engine: { maxModelLen: 3 }, listen: null },
      },
      servers: {
        plain: { host: "gpu1" },
        one: { host: "gpu2", group: "big" },
        both: { host: "gpu3", group: ["big", "long"], engine: { dtype: null } },
        turned: { host: "gpu4", group: ["long", "big"], engine: { maxModelLen: 4 } },
      },
    });
    const listen = { port: 8001 };
    expect(declaredServers()).toEqual([
      ["plain", { host: "gpu1", model, engine: { maxModelLen: 1, dtype: "auto" }, listen }],
      [
        "one",
        { host: "gpu2", model, engine: { maxModelLen: 2, dtype: "auto", tensorParallelSize: 4 }, listen },
      ],
      ["both", { host: "gpu3", model, engine: { maxModelLen: 3, tensorParallelSize: 4 } }],
      ["turned", { host: "gpu4", model, engine: { maxModelLen: 4, dtype: "auto", tensorParallelSize: 4 } }],
    ]);
  });
});

test("everything that is wrong is told at once, each where it is written", () => {
  const config = {
    default: { model },
    defaults: { engine: { maxModelLen: "16000" }, gpus: 2, group: "big" },
    groups: { big: { engin: { dtype: "auto" } }, unused: { listen: { port: 0 } }, none: null },
    servers: {
      kimi: { host: "gpu1", model, group: ["big", "bigg"], engine: { tensorParallelSize: 4, tool: 1 } },
      chat: { model, groups: ["big"], engine: { tensorParallelSize: 4 } },
      "in-two": { host: "gpu2", group: 7, model: { path: "/m", repo: "org/name" } },
      empty: null,
    },
  };
  expect(refusalOf(config).split("\n")).toEqual([
    "Cannot declare servers: 13 problems in the config of stack fleet",
    "  1. vllm-servers:default: found an object, need one of servers, defaults, groups",
    "  2. vllm-servers:servers.empty: found empty, need an object: inputs of VllmServer",
    "  3. vllm-servers:groups.none: found empty, need an object: inputs of VllmServer",
    "  4. vllm-servers:defaults.group: found text, need nothing: only a server names groups",
    '  5. vllm-servers:servers.kimi.group[1]: found "bigg", need one of big, unused, the groups of vllm-servers:groups',
    "  6. vllm-servers:servers.chat.groups: found a list, need the name group, also for a list",
    "  7. vllm-servers:servers.in-two.group: found a number, need one of big, unused, the groups of vllm-servers:groups",
    '  8. vllm-servers:defaults.engine.maxModelLen: found "16000", need a whole number of tokens of at least 1, or "auto", here 16000',
    "  9. vllm-servers:groups.big.engin: found an object, need engine (the nearest known name)",
    "  10. vllm-servers:groups.unused.listen.port: found 0, need a whole number from 1 to 65535 (TCP port)",
    "  11. vllm-servers:servers.kimi.engine.tool: found 1, need one of engine's 43 flags (did you mean toolCallParser?); any other flag goes to extraArgs.tool",
    '  12. vllm-servers:servers.chat.host: found nothing, need text such as "ubuntu@gpu1", or an object { host, user, ... }',
    "  13. vllm-servers:servers.in-two.model: found an object, need either path or repo, here path, repo",
  ]);
});

test("two servers with one port of one host are told, where the second one would say its own", () => {
  const servers = {
    a: { host: "gpu1", model },
    b: { host: "gpu1", model, listen: { port: 8000, address: "0.0.0.0" }, apiKey: "k" },
    c: { host: "gpu1", model, listen: { port: 8001 } },
    d: { host: "gpu2", model },
    "e.f": { host: { host: "gpu1", privateKey: "key" }, model },
  };
  expect(refusalOf({ servers }).split("\n")).toEqual([
    "Cannot declare servers: 2 problems in the config of stack fleet",
    "  1. vllm-servers:servers.b.listen.port: found 8000, which server a has on this host, need a port of its own",
    '  2. vllm-servers:servers["e.f"].listen.port: found 8000, which server a has on this host, need a port of its own',
  ]);
});

test.each([
  ["nothing at all", {}, "servers: found nothing"],
  ["plain text", { servers: "hello" }, "servers: found text"],
  ["a list of servers", { servers: [{ host: "gpu1" }] }, "servers: found a list"],
])("%s is not a fleet", (_, config, refusal) => {
  expect(refusalOf(config)).toBe(
    `Cannot declare servers: vllm-servers:${refusal}, need an object: name -> inputs of VllmServer (host, model, ...)`,
  );
});

test("a server without a name is refused", () => {
  expect(refusalOf({ servers: { "": { host: "gpu1", model } } })).toContain(
    "a name in vllm-servers:servers: found empty",
  );
});

test("one problem is one line", () => {
  expect(refusalOf({ servers: { kimi: { host: "gpu1", model, engin: {} } } })).toBe(
    "Cannot declare servers: vllm-servers:servers.kimi.engin: found an object, need engine (the nearest known name)",
  );
});

test("what is one server's alone but stands in the defaults names the server", () => {
  const config = {
    defaults: { model, gpus: 2 },
    servers: {
      one: { host: "gpu1", engine: { tensorParallelSize: 4 } },
      two: { host: "gpu2", engine: { tensorParallelSize: 2 } },
      three: { host: "gpu3", engine: { tensorParallelSize: 4 } },
    },
  };
  expect(refusalOf(config)).toBe(
    "Cannot declare servers: vllm-servers:defaults.gpus: found 2, need at least 4: the product of engine's parallel sizes (for one, three)",
  );
});

test("no text of a config that holds secrets is told, wherever it stands", () => {
  const kimi = { host: "gpu1", model, kvCacheDtype: "SECRET", gpus: ["SECRET"], group: "SECRET" };
  const config = { servers: { kimi } };
  expect(refusalOf(config)).toContain("SECRET");
  vi.stubEnv("PULUMI_CONFIG_SECRET_KEYS", JSON.stringify(["vllm-servers:servers"]));
  expect(refusalOf(config).split("\n").slice(1)).toEqual([
    "  1. vllm-servers:servers.kimi.group: found text, need a group of vllm-servers:groups, where there is none",
    "  2. vllm-servers:servers.kimi.kvCacheDtype: found text (not shown), need vLLM's own name in small letters",
    '  3. vllm-servers:servers.kimi.gpus: found text (not shown), need a number of GPUs of at least 1, or a list of different indexes and UUIDs such as [0, 1] or ["GPU-..."]',
  ]);
});

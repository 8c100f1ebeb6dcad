import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseInputs } from "../../provider/src/core/parse-inputs";
import { flagTableFor } from "../../provider/src/core/vllm-flags";
import { renderServeConfig, type ServeConfigFacts } from "../../provider/src/core/vllm-command";
import { spec } from "../support/host-facts";
import { vllmArgv } from "../support/vllm-argv";

const facts: ServeConfigFacts = {
  kvCacheDtypeFlag: null,
  servedModelNames: ["kimi"],
  fingerprint: null,
  shutdownTimeoutSeconds: null,
  flagKinds: flagTableFor("0.32.0"),
};

/** Only what the given flags add: host, port and the name are always there. */
function lines(parts: Parameters<typeof spec>[0], other: Partial<ServeConfigFacts> = {}): string {
  const text = renderServeConfig(spec(parts), { ...facts, ...other });
  return text
    .replace('host: "127.0.0.1"\n', "")
    .replace("port: 8000\n", "")
    .replace('served-model-name:\n  - "kimi"\n', "");
}

describe("vLLM's YAML file", () => {
  it("holds everything that is declared, sorted by flag", () => {
    const declared = spec({
      engine: {
        tensorParallelSize: 8,
        maxModelLen: "auto",
        enforceEager: false,
        trustRemoteCode: true,
        gpuMemoryUtilization: 0.92,
      },
      extraArgs: { "stream-interval": 4, "allowed-origins": ["*"], "offload-params": ["a.b", "c.d"] },
      listen: { address: "::", port: 9000 },
    });
    const told = {
      ...facts,
      kvCacheDtypeFlag: "bfloat16",
      fingerprint: "0123456789abcdef",
      shutdownTimeoutSeconds: 20,
    };
    expect(renderServeConfig(declared, told)).toBe(`allowed-origins: "[\\"*\\"]"
no-enforce-eager: true
fingerprint-mode: "custom"
fingerprint-value: "0123456789abcdef"
gpu-memory-utilization: 0.92
host: "::"
kv-cache-dtype: "bfloat16"
max-model-len: "auto"
offload-params:
  - "a.b"
  - "c.d"
port: 9000
served-model-name:
  - "kimi"
shutdown-timeout: 20
stream-interval: 4
tensor-parallel-size: 8
trust-remote-code: true
`);
  });

  it.each([
    ["false of a flag with a negative form", { "enable-dbo": false }, "no-enable-dbo: true\n"],
    ["false of a flag without one", { "disable-log-stats": false }, ""],
    ["false of a flag that no table knows", { "flag-of-2027": false }, "no-flag-of-2027: true\n"],
    ["a flag whose name is a word of YAML", { on: 1, "3d": true }, '"3d": true\n"on": 1\n'],
    ["one item of a flag that is given once an item", { middleware: ["a.b"] }, 'middleware: "a.b"\n'],
    [
      "an object",
      { "pooler-config": { a: null, b: [true] } },
      'pooler-config: "{\\"a\\":null,\\"b\\":[true]}"\n',
    ],
    [
      "objects in a list",
      { "cpu-offload-params": [{ a: 1 }, 2] },
      'cpu-offload-params:\n  - "{\\"a\\":1}"\n  - 2\n',
    ],
    ["a list for a scalar flag", { seed: [1, 2] }, 'seed: "[1,2]"\n'],
    ["a list that no table knows", { "flag-of-2027": ["a", 1] }, 'flag-of-2027:\n  - "a"\n  - 1\n'],
    [
      "text that YAML 1.1 reads as something else",
      { "code-revision": "0123456", "cohere-format": "no" },
      'code-revision: "0123456"\ncohere-format: "no"\n',
    ],
    ["small and large numbers", { watermark: 1e-7, seed: 1e21 }, "seed: 1.0e+21\nwatermark: 1.0e-7\n"],
    [
      "control and other characters",
      { "root-path": 'a\n\t"\\\u0085\u{1f600}é' },
      'root-path: "a\\n\\u0009\\"\\\\\\u0085\\U0001f600\\u00e9"\n',
    ],
  ])("writes %s so that nothing is lost", (_, extraArgs, text) => {
    expect(lines({ extraArgs })).toBe(text);
  });

  it("writes the typed flags by their own kind when no table is there", () => {
    const engine = {
      limitMmPerPrompt: { image: 1 },
      loraModules: ["a=/b"],
      enableLora: false,
      dtype: "half",
    };
    expect(lines({ engine }, { flagKinds: null })).toBe(
      'dtype: "half"\nno-enable-lora: true\nlimit-mm-per-prompt: "{\\"image\\":1}"\nlora-modules:\n  - "a=/b"\n',
    );
  });

  it("takes our shutdown timeout for the user's, or none where the version has none", () => {
    const extraArgs = { "shutdown-timeout": 45 };
    expect(lines({ extraArgs }, { shutdownTimeoutSeconds: 45 })).toBe("shutdown-timeout: 45\n");
    expect(lines({ extraArgs })).toBe("");
  });

  it("writes ~/ as the home folder in paths, because vLLM does not", () => {
    const engine = {
      chatTemplate: "~/t.jinja",
      loraModules: ["a=~/l", { name: "b", path: "~/m" }],
      dtype: "~/x",
      speculativeConfig: { model: "~/draft", num_speculative_tokens: 2 },
    };
    const extraArgs = {
      "tool-parser-plugin": "~/p.py",
      "download-dir": "~/d",
      "kv-transfer-config": { a: "~/k" },
    };
    expect(lines({ engine, extraArgs }, { home: "/home/u" })).toBe(
      'chat-template: "/home/u/t.jinja"\ndownload-dir: "/home/u/d"\ndtype: "~/x"\nkv-transfer-config: "{\\"a\\":\\"~/k\\"}"\nlora-modules:\n  - "a=/home/u/l"\n  - "{\\"name\\":\\"b\\",\\"path\\":\\"/home/u/m\\"}"\nspeculative-config: "{\\"model\\":\\"/home/u/draft\\",\\"num_speculative_tokens\\":2}"\ntool-parser-plugin: "/home/u/p.py"\n',
    );
  });
});

describe("any inputs that are taken", () => {
  // Two letters at least: the yaml library reads a bare e-0 as a number, which PyYAML does not.
  const flagName = fc.stringMatching(/^[a-z]{2,6}(-[a-z0-9]{1,6}){0,2}$/);
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("yes", "off", "~", "null", "1e3", "0o7", "1:30", "2026-12-01", "=", "<<"),
  );
  const json = fc.jsonValue({ maxDepth: 2 });
  const value = fc.oneof(
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.array(text),
    json,
  );

  it("reach vLLM's argparse word by word as they were given", () => {
    fc.assert(
      fc.property(fc.dictionary(flagName, value, { maxKeys: 4 }), fc.boolean(), (extraArgs, hasTable) => {
        const parsed = parseInputs({ host: "gpu1", model: { path: "/m" }, extraArgs });
        if (!parsed.ok) return;
        const argv = vllmArgv(
          renderServeConfig(parsed.spec, { ...facts, flagKinds: hasTable ? facts.flagKinds : null }),
        );
        for (const [flag, given] of Object.entries(parsed.spec.extraArgs)) {
          const at = argv.indexOf(given === false ? `--no-${flag}` : `--${flag}`);
          if (typeof given === "string") expect(argv[at + 1]).toBe(given);
          else if (typeof given === "number") expect(Number(argv[at + 1])).toBe(given === 0 ? 0 : given);
          else if (Array.isArray(given) && !hasTable)
            expect(argv.slice(at + 1, at + 1 + given.length)).toEqual(given.map(asWord));
          else if (typeof given === "object" && !Array.isArray(given))
            expect(JSON.parse(argv[at + 1] ?? "")).toEqual(plain(given));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("give the same file whatever the order of their keys", () => {
    fc.assert(
      fc.property(fc.dictionary(flagName, fc.oneof(text, fc.integer({ min: 0 }))), (extraArgs) => {
        const turned = Object.fromEntries(Object.entries(extraArgs).reverse());
        expect(renderServeConfig(spec({ extraArgs: turned }), facts)).toBe(
          renderServeConfig(spec({ extraArgs }), facts),
        );
      }),
    );
  });
});

function asWord(item: unknown): string {
  return typeof item === "string" ? item : JSON.stringify(item);
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

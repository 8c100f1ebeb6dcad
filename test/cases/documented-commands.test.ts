import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { nodeBinFolder, repositoryFolder } from "../../scripts/places.mjs";
import { CONFIG_PATCH_CASES } from "../support/config-patch-cases";
import { documentedLines, documents, printedBlocks } from "../support/documents";

/**
 * Commands of the documents that need no host are typed into a shell as they stand, in a folder that has what they name, and
 * print what the document says they print. Those of docs/coming-from.md: coming-from.test.ts.
 */

const HOSTLESS = /(^| )pulumi-vllm (from-command|to-command|patch|diagnose) (?!'|FILE)/;

const folder = realpathSync(mkdtempSync(join(tmpdir(), "documented-")));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

// Without the line that says how much memory is left, as older versions are.
const log = readCase("diagnosis/no-kv-memory-gpt-oss-h100.json").replace(/^.*Available KV cache.*\n/m, "");
writeFileSync(join(folder, "vllm.log"), log);
writeFileSync(join(folder, "vllm.log.1"), log.slice(0, log.indexOf("\n") + 1));
writeFileSync(join(folder, "vllm.log.2.gz"), gzipSync(log.slice(0, log.indexOf("\n") + 1)));
writeFileSync(join(folder, "start.sh"), "vllm serve Qwen/Qwen3-8B --port 8001\n");
writeFileSync(join(folder, "inputs.yaml"), "model: { repo: Qwen/Qwen3-8B }\n");
for (const name of ["nvidia/Kimi-K2.5-NVFP4", "my-model-FP8"]) layOutKimi(join(folder, "models", name));
// Where npx finds the program, as in a project that has it.
mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
symlinkSync(
  join(repositoryFolder, "provider/bin/pulumi-vllm.js"),
  join(folder, "node_modules/.bin/pulumi-vllm"),
);

function readCase(path: string): string {
  const { log: text }: { log: string } = JSON.parse(readFileSync(join(import.meta.dirname, path), "utf8"));
  return text;
}

/** The published checkpoint's configs, and as many other files as it has. */
function layOutKimi(checkpoint: string): void {
  mkdirSync(checkpoint, { recursive: true });
  const kimi = CONFIG_PATCH_CASES.find(({ id }) => id === "kimi-k25-nvfp4-bf16");
  const configs = Object.entries(kimi?.files ?? {});
  for (const [name, config] of configs) writeFileSync(join(checkpoint, name), JSON.stringify(config));
  for (let index = configs.length; index < 119; index += 1)
    writeFileSync(join(checkpoint, `model-${String(index)}.safetensors`), "");
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function typed(line: string): Ran {
  rmSync(join(folder, "kimi"), { recursive: true, force: true });
  // What a document writes to /tmp is ours to clear away.
  const { status, stdout, stderr } = spawnSync("bash", ["-c", line.replaceAll("/tmp/", `${folder}/`)], {
    cwd: folder,
    encoding: "utf8",
    env: {
      ...{ HOME: folder, PATH: [nodeBinFolder, process.env["PATH"] ?? ""].join(delimiter) },
      // Nothing is installed for a command that is not there.
      ...{ npm_config_yes: "false", npm_config_offline: "true", npm_config_cache: join(folder, ".npm") },
    },
    timeout: 20_000,
  });
  return { code: status, out: stdout.replaceAll(`${folder}/`, "/tmp/"), err: stderr };
}

const pages = documents().filter(({ path }) => path !== "docs/coming-from.md");
const lines = pages.flatMap(documentedLines).filter(({ line }) => HOSTLESS.test(line));
const blocks = pages.flatMap(printedBlocks).filter(({ line }) => HOSTLESS.test(line));

test("there are some of each kind", () => {
  const kinds = lines.map(({ line }) => HOSTLESS.exec(line)?.[2]);
  expect([...new Set(kinds)].sort()).toEqual(["diagnose", "from-command", "patch", "to-command"]);
  expect(blocks.map(({ document }) => document)).toEqual(["docs/failures.md", "docs/kv-cache.md"]);
});

test.each(lines)("$document: $line", ({ line }) => {
  const { code, out, err } = typed(line);
  expect({ code, err: /error|cannot/i.test(err) ? err : "" }).toEqual({ code: 0, err: "" });
  expect(out).not.toBe("");
});

test.each(blocks)("$document: $line prints what stands below it", ({ line, printed }) => {
  const out = plain(typed(line).out);
  // "..." on a line of its own: some are left out.
  for (const part of printed.split(/^\.\.\.\n/m)) expect(out).toContain(plain(part));
});

/** Our log is a shorter one. */
function plain(text: string): string {
  return text.replace(/log line \d+/, "log line N");
}

import { createHash } from "node:crypto";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { z } from "zod";
import { TINY_LLAMA } from "./checkpoints.ts";

/** Texts of a checkpoint that brings code of its own, a tokenizer, a chat template and an adapter. */
export const CUSTOM_FILES = {
  "config.json": JSON.stringify({ ...TINY_LLAMA, auto_map: { AutoConfig: "modeling_tiny.TinyConfig" } }),
  "modeling_tiny.py": "from .says_tiny import SAYS\n",
  "says_tiny.py": 'SAYS = "it was found beside it"\n',
  "tokenizer.json": '{"version": "1.0"}',
  "tokenizer_config.json": '{"tokenizer_class": "PreTrainedTokenizerFast"}',
  "chat_template.jinja": "{{ messages[0].content }}\n",
  "adapters/sql/adapter_config.json": '{"peft_type": "LORA"}',
  "templates/tools/one.jinja": "{{ tools }}\n",
} as const;

const readSchema = z.object({ files: z.record(z.string(), z.string()), says: z.string() });

/** Puts the reading vllm (reading_vllm.py) beside `vllm` in a folder of programs; returns its file name. */
export function addReadingVllm(programs: string): string {
  const text = readFileSync(join(import.meta.dirname, "reading_vllm.py"), "utf8");
  const path = join(programs, "reading-vllm");
  writeFileSync(path, `#!/usr/bin/python3 -I\n${text}`);
  chmodSync(path, 0o755);
  return "reading-vllm";
}

/** What it read at its last start. @param path of its READ_INTO, as this machine sees it */
export function readByVllm(path: string): z.infer<typeof readSchema> {
  return readSchema.parse(JSON.parse(readFileSync(path, "utf8")));
}

/** sha256 of every file below a folder, by their paths. */
export function hashesIn(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [relative(folder, path), hashOf(readFileSync(path))];
      }),
  );
}

export function hashOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

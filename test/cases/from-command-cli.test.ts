import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { nodeBinFolder, repositoryFolder } from "../../scripts/places.mjs";
import { asConfig, asJson, asProgram, notesText } from "../../provider/src/cli/from-command/report";
import { fromCommand as fromText } from "../../provider/src/core/from-command";
import { type Ran, runProgram } from "../support/patch-command";
import { FROM_COMMAND_CASES } from "../support/from-command-cases";

const LINE = "vllm serve a/b --max-num-seqs 2 --host 127.0.0.1";
const FOR_PROGRAM = { text: "", form: "program", name: null, host: null } as const;
const FOR_CONFIG = { text: "", form: "yaml", name: null, host: null } as const;
const SERVED = FROM_COMMAND_CASES.filter(({ expect: { rejected } }) => rejected === false);

let folder = "";
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "from-command-cli-")));
  writeFileSync(join(folder, "start.sh"), `${LINE} \\\n`);
  mkdirSync(join(folder, "vllm"));
  writeFileSync(
    join(folder, "inputs.yaml"),
    "tiny:\n  host: gpu1\n  model: a/b\n  engine: { maxNumSeqs: 2 }\n",
  );
  writeFileSync(join(folder, "wrong.yaml"), "model: a/b\nengin: {}\nlisten: { port: 0 }\n");
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const fromCommand = (...words: readonly string[]): Promise<Ran> =>
  runProgram(["from-command", ...words], folder);
const toCommand = (...words: readonly string[]): Promise<Ran> => runProgram(["to-command", ...words], folder);

const PROGRAM = `import { VllmServer } from "pulumi-vllm";

const server = new VllmServer("tiny", {
  host: "gpu1",
  model: { repo: "a/b" },
  engine: { maxNumSeqs: 2 },
  listen: { address: "127.0.0.1" },
});

/** Base of the OpenAI API, as seen on the host. */
export const baseUrl = server.baseUrl;
`;
const JSON_OF_LINE = {
  inputs: {
    model: { repo: "a/b" },
    engine: { maxNumSeqs: 2 },
    extraArgs: {},
    environment: {},
    listen: { address: "127.0.0.1" },
  },
  secrets: [],
  notes: [],
};

describe("pulumi-vllm from-command", () => {
  test("takes a text, a file and standard input", async () => {
    const wanted = { code: 0, out: PROGRAM, err: "" };
    const options = ["--name", "tiny", "--host", "gpu1"];
    expect(await fromCommand(LINE, ...options)).toEqual(wanted);
    expect(await fromCommand("start.sh", ...options)).toEqual(wanted);
    expect(await runProgram(["from-command", "-", ...options], folder, Buffer.from(LINE))).toEqual(wanted);
  });

  test("prints one JSON object for programs, also of what it refuses, and ends with 1 then", async () => {
    const { code, out, err } = await fromCommand("--json", LINE);
    expect({ code, json: JSON.parse(out), err }).toEqual({ code: 0, json: JSON_OF_LINE, err: "" });
    const refused = await fromCommand("--json", "vllm serve a/b c");
    expect({ ...refused, out: JSON.parse(refused.out) }).toEqual({
      code: 1,
      out: {
        error: {
          code: "stray-word",
          message: "Cannot make a VllmServer of this text: stray-word c: c belongs to no flag",
        },
      },
      err: "",
    });
  });

  test.each<[readonly string[], number, string]>([
    [["vllm serve a/b c"], 1, "Cannot make a VllmServer of this text: stray-word c: c belongs to no flag\n"],
    [
      ["no-such-file"],
      1,
      "Cannot read no-such-file: no such file or directory, need a command that starts vLLM\n",
    ],
    [["vllm"], 1, "Cannot read vllm: it is a folder, need a command that starts vLLM\n"],
    [
      [],
      2,
      "pulumi-vllm from-command: TEXT, what starts vLLM, is missing (- is standard input)\npulumi-vllm from-command --help says more.\n",
    ],
    [
      ["vllm", "serve", "--json", "--yaml", "--name", "a b", "--max-num-seqs"],
      2,
      [
        "pulumi-vllm from-command: --max-num-seqs is no option",
        "pulumi-vllm from-command: TEXT has to be one word: put it in single quotes",
        "pulumi-vllm from-command: --yaml and --json exclude each other",
        'pulumi-vllm from-command: --name is "a b", need letters, digits, -, _ and .',
        "pulumi-vllm from-command --help says more.\n",
      ].join("\n"),
    ],
  ])("%j ends with %i and says why", async (words, code, err) => {
    const ran = await fromCommand(...words);
    expect([ran.code, ran.err]).toEqual([code, err]);
  });
});

describe.skipIf(SERVED.length === 0)("what is printed of every text", () => {
  test("is a program that the package's types take", async () => {
    const project = mkdtempSync(join(folder, "types-"));
    symlinkSync(join(repositoryFolder, "node_modules"), join(project, "node_modules"));
    for (const { name, command } of SERVED)
      writeFileSync(join(project, `${name}.ts`), asProgram(await fromText(command), FOR_PROGRAM));
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "printed", private: true }));
    const compilerOptions = {
      ...{ target: "es2022", module: "nodenext", moduleResolution: "nodenext", types: ["node"] },
      ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true, noEmit: true },
    };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    expect(said(join(nodeBinFolder, "tsc"), ["-p", project])).toBe("");
  });

  test.each(SERVED)("$name: an entry for a stack's config without secrets", async ({ command }) => {
    const conversion = await fromText(command);
    const entry: unknown = parse(asConfig(conversion, { ...FOR_CONFIG, host: "gpu1", name: "server" }));
    expect(entry).toEqual({ server: withoutSecrets({ host: "gpu1", ...conversion.inputs }) });
  });

  test.each(SERVED)("$name: no secret of the text", async ({ command }) => {
    const conversion = await fromText(command);
    const all = [
      asProgram(conversion, FOR_PROGRAM),
      notesText(conversion, FOR_PROGRAM),
      asConfig(conversion, FOR_CONFIG),
      notesText(conversion, FOR_CONFIG),
      asJson(conversion),
    ].join("\n");
    const secrets = command.match(/\b(?:change-me-\d+|hf_EXAMPLE\w*|token-abc123)\b/g) ?? [];
    expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
  });
});

/** Without secrets, and without what is empty except the model. */
function withoutSecrets(inputs: object): object {
  const text = JSON.stringify(inputs, (_, value: unknown) => (value === "<secret>" ? undefined : value));
  const plain: object = JSON.parse(text);
  return Object.fromEntries(
    Object.entries(plain).filter(([key, value]) => key === "model" || JSON.stringify(value) !== "{}"),
  );
}

function said(program: string, words: readonly string[]): string {
  try {
    return execFileSync(program, words, { encoding: "utf8" });
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout) : String(error);
  }
}

describe("pulumi-vllm to-command", () => {
  test("takes inputs with and without a name around them, and tells what the line does not do", async () => {
    const wanted = {
      code: 0,
      out: "vllm serve a/b \\\n  --host 127.0.0.1 \\\n  --max-num-seqs 2 \\\n  --port 8000 \\\n  --served-model-name a/b\n",
      err: "gpus: the resource takes free ones, this line the first ones: choose with\n  CUDA_VISIBLE_DEVICES\n",
    };
    expect(await toCommand("inputs.yaml")).toEqual(wanted);
    const json = Buffer.from(JSON.stringify({ inputs: { model: "a/b", engine: { maxNumSeqs: 2 } } }));
    expect(await runProgram(["to-command", "-"], folder, json)).toEqual(wanted);
  });

  test("tells all that is wrong with the inputs", async () => {
    const { code, out, err } = await toCommand("wrong.yaml");
    expect({ code, out, err }).toEqual({
      code: 1,
      out: "",
      err: [
        "Cannot make a command of wrong.yaml:",
        "  engin: found an object, need engine (the nearest known name)",
        "  listen.port: found 0, need a whole number from 1 to 65535 (TCP port)",
        "",
      ].join("\n"),
    });
  });
});

/** What is declared, how people write it by hand, what vLLM makes of that, and what it has to make of our file for the same wish. */
interface Trap {
  readonly trap: string;
  readonly yaml: string;
  readonly words: readonly string[];
  /** error: part of the last line; null: it is taken. Other keys: values by Python name. */
  readonly byHand: Outcome;
  readonly wish: object;
  /** refused: the inputs are refused before anything is written. */
  readonly ours: Outcome | "refused";
}

type Outcome = Readonly<Record<string, unknown>> & { readonly error: string | null };

const MODEL_AND_FILE = ["/m", "--config", "{file}"];
const FILE_ALONE = ["--config", "{file}"];
const TAKEN = { error: null, model_tag: "/m" };

/** Source: vLLM 0.32.0 utils/argparse_utils.py; each row is asked of the real parser. */
export const TRAPS: readonly Trap[] = [
  {
    trap: "false is dropped",
    yaml: "enable-log-deltas: false\n",
    words: MODEL_AND_FILE,
    byHand: { ...TAKEN, enable_log_deltas: true },
    wish: { extraArgs: { "enable-log-deltas": false } },
    ours: { ...TAKEN, enable_log_deltas: false },
  },
  {
    trap: "false of a flag that does not exist is dropped without a word",
    yaml: "no-such-flag: false\n",
    words: MODEL_AND_FILE,
    byHand: TAKEN,
    wish: { extraArgs: { "such-flag": false } },
    ours: { error: "unrecognized arguments: --no-such-flag" },
  },
  {
    trap: "null becomes the text None",
    yaml: "tokenizer: null\n",
    words: MODEL_AND_FILE,
    byHand: { ...TAKEN, tokenizer: "None" },
    wish: { engine: { tokenizer: null } },
    ours: { ...TAKEN, tokenizer: null },
  },
  {
    trap: "null for a number",
    yaml: "max-model-len: null\n",
    words: MODEL_AND_FILE,
    byHand: { error: "'None'" },
    wish: { engine: { maxModelLen: null } },
    ours: { ...TAKEN, max_model_len: null },
  },
  {
    trap: "a null among extra flags",
    yaml: "generation-config: null\n",
    words: MODEL_AND_FILE,
    byHand: { ...TAKEN, generation_config: "None" },
    wish: { extraArgs: { "generation-config": null } },
    ours: "refused",
  },
  {
    trap: "the second item of a list for a scalar becomes the model",
    yaml: "model: /m\nseed: [1, 2]\n",
    words: FILE_ALONE,
    byHand: { error: null, model_tag: "2", seed: 1 },
    wish: { extraArgs: { seed: [1, 2] } },
    ours: { error: "argument --seed: invalid int value: '[1,2]'" },
  },
  {
    trap: "a list for a flag that wants one word with commas",
    yaml: "model: /m\ndevice-ids: [2, 3]\n",
    words: FILE_ALONE,
    byHand: { error: null, model_tag: "3" },
    wish: { extraArgs: { "device-ids": [2, 3] } },
    ours: "refused",
  },
  {
    trap: "a quoted false turns the flag on and becomes the model",
    yaml: 'model: /m\nenforce-eager: "false"\n',
    words: FILE_ALONE,
    byHand: { error: null, model_tag: "false", enforce_eager: true },
    wish: { engine: { enforceEager: "false" } },
    ours: "refused",
  },
  {
    trap: "an empty list is dropped",
    yaml: "ignore-patterns: []\n",
    words: MODEL_AND_FILE,
    byHand: { ...TAKEN, ignore_patterns: ["original/**/*"] },
    wish: { extraArgs: { "ignore-patterns": [] } },
    ours: "refused",
  },
  {
    trap: "mappings in a list become Python text",
    yaml: "lora-modules:\n  - {name: a, path: /b}\n",
    words: MODEL_AND_FILE,
    byHand: { error: "lora-modules" },
    wish: { engine: { loraModules: [{ name: "a", path: "/b" }] } },
    ours: TAKEN,
  },
  {
    trap: "a mapping is taken as JSON text",
    yaml: "hf-overrides: {a: {b: null, c: [true]}}\n",
    words: MODEL_AND_FILE,
    byHand: { ...TAKEN, hf_overrides: { a: { b: null, c: [true] } } },
    wish: { engine: { hfOverrides: { a: { b: null, c: [true] } } } },
    ours: { ...TAKEN, hf_overrides: { a: { b: null, c: [true] } } },
  },
  {
    trap: "a list for a flag that wants JSON",
    yaml: 'allowed-origins: ["*"]\n',
    words: MODEL_AND_FILE,
    byHand: { error: "allowed-origins" },
    wish: { extraArgs: { "allowed-origins": ["a", "b"] } },
    ours: { ...TAKEN, allowed_origins: ["a", "b"] },
  },
  {
    trap: "digits without quotes are read as an octal number",
    yaml: "revision: 0123456\n",
    words: MODEL_AND_FILE,
    byHand: { ...TAKEN, revision: "42798" },
    wish: { extraArgs: { revision: "0123456" } },
    ours: { ...TAKEN, revision: "0123456" },
  },
  {
    trap: "quoted numbers are numbers all the same",
    yaml: 'seed: "7"\n',
    words: MODEL_AND_FILE,
    byHand: { ...TAKEN, seed: 7 },
    wish: { extraArgs: { seed: "-7" } },
    ours: { ...TAKEN, seed: -7 },
  },
  {
    trap: "a name without quotes is read as true",
    yaml: "served-model-name: on\n",
    words: MODEL_AND_FILE,
    byHand: { error: "expected at least one argument" },
    wish: { engine: { servedModelName: ["on", "2026-12-01"] } },
    ours: { ...TAKEN, served_model_name: ["on", "2026-12-01"] },
  },
  {
    trap: "text that begins with a dash and has a dot in it is taken for an option",
    yaml: 'watermark: "-0.5"\n',
    words: MODEL_AND_FILE,
    byHand: { error: "IndexError" },
    wish: { extraArgs: { watermark: "-0.5" } },
    ours: "refused",
  },
  {
    trap: "text that begins with -O becomes the optimization level",
    yaml: 'generation-config: "-O3"\n',
    words: MODEL_AND_FILE,
    byHand: { error: "generation-config" },
    wish: { extraArgs: { "generation-config": "-O3" } },
    ours: "refused",
  },
  {
    trap: "--config=FILE as one word is ignored",
    yaml: "port: 9000\n",
    words: ["/m", "--config={file}"],
    byHand: { ...TAKEN, port: 8000 },
    wish: { listen: { port: 9000 } },
    ours: { ...TAKEN, port: 9000 },
  },
  {
    trap: "--config=FILE with the model in it serves another model",
    yaml: "model: /m\n",
    words: ["--config={file}"],
    byHand: { error: null, model_tag: null, model: "Qwen/Qwen3-0.6B" },
    wish: { extraArgs: { model: "/m" } },
    ours: "refused",
  },
  {
    trap: "short names are no keys",
    yaml: "tp: 2\n",
    words: MODEL_AND_FILE,
    byHand: { error: "unrecognized arguments: --tp" },
    wish: { extraArgs: { tp: 2 } },
    ours: "refused",
  },
];

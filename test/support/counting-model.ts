import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TINY_LLAMA } from "./checkpoints.ts";

/**
 * A model with real weights whose answers are known: after the word 12 comes 13. Its layers add nothing, each embedding points in a
 * direction of its own, and the head of a word points where its predecessor does. Only what was really loaded can count.
 */

const {
  hidden_size: HIDDEN,
  intermediate_size: INNER,
  num_hidden_layers: LAYERS,
  vocab_size: WORDS,
} = TINY_LLAMA;
/** 1.0 in bfloat16, little-endian. */
const ONE = Buffer.from([0x80, 0x3f]);

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** Positions that are 1; the others are 0. */
  readonly ones: readonly number[];
}

/** Shards in which the weights lie, and the list of them. */
const SHARDS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"] as const;

/** Writes the model into a new folder, its config with `more` in it; returns the names of its files. */
export function writeCountingModel(
  folder: string,
  more: Readonly<Record<string, unknown>>,
): readonly string[] {
  mkdirSync(folder, { recursive: true });
  const halves = [
    [embeddings(), ...layer(0)],
    [...rest(), head()],
  ];
  const files: Readonly<Record<string, string | Buffer>> = {
    "config.json": json({ ...TINY_LLAMA, ...more }),
    "tokenizer.json": json(tokenizer()),
    "tokenizer_config.json": json({
      tokenizer_class: "PreTrainedTokenizerFast",
      model_max_length: TINY_LLAMA.max_position_embeddings,
      chat_template: "{% for message in messages %}{{ message.content }} {% endfor %}",
    }),
    "model.safetensors.index.json": json({
      metadata: {},
      weight_map: Object.fromEntries(
        halves.flatMap((tensors, index) => tensors.map(({ name }) => [name, SHARDS[index]])),
      ),
    }),
    ...Object.fromEntries(SHARDS.map((name, index) => [name, safetensors(halves[index] ?? [])])),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return Object.keys(files).sort();
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Words are numbers, and their ids are what they say. */
function tokenizer(): object {
  return {
    version: "1.0",
    added_tokens: [],
    pre_tokenizer: { type: "WhitespaceSplit" },
    model: {
      type: "WordLevel",
      unk_token: "0",
      vocab: Object.fromEntries(Array.from({ length: WORDS }, (_none, id) => [String(id), id])),
    },
  };
}

const embeddings = (): Tensor => ({
  name: "model.embed_tokens.weight",
  shape: [WORDS, HIDDEN],
  ones: Array.from({ length: HIDDEN }, (_none, id) => id * HIDDEN + id),
});

const head = (): Tensor => ({
  name: "lm_head.weight",
  shape: [WORDS, HIDDEN],
  ones: Array.from({ length: HIDDEN }, (_none, id) => (id + 1) * HIDDEN + id),
});

const norm = (name: string): Tensor => ({
  name,
  shape: [HIDDEN],
  ones: Array.from({ length: HIDDEN }, (_none, at) => at),
});

const rest = (): readonly Tensor[] => [
  ...Array.from({ length: LAYERS - 1 }, (_none, index) => layer(index + 1)).flat(),
  norm("model.norm.weight"),
];

function layer(index: number): readonly Tensor[] {
  const at = (part: string): string => `model.layers.${String(index)}.${part}.weight`;
  const zeros = (part: string, rows: number, columns: number): Tensor => ({
    name: at(part),
    shape: [rows, columns],
    ones: [],
  });
  return [
    norm(at("input_layernorm")),
    norm(at("post_attention_layernorm")),
    ...["q", "k", "v", "o"].map((one) => zeros(`self_attn.${one}_proj`, HIDDEN, HIDDEN)),
    ...["gate", "up"].map((one) => zeros(`mlp.${one}_proj`, INNER, HIDDEN)),
    zeros("mlp.down_proj", HIDDEN, INNER),
  ];
}

/** Source: the safetensors format, 0.6: length of the header, header, data. */
function safetensors(tensors: readonly Tensor[]): Buffer {
  const data: Buffer[] = [];
  const header: Record<string, unknown> = {};
  let offset = 0;
  for (const { name, shape, ones } of tensors) {
    const bytes = Buffer.alloc(2 * shape.reduce((product, size) => product * size, 1));
    for (const position of ones) ONE.copy(bytes, 2 * position);
    header[name] = { dtype: "BF16", shape, data_offsets: [offset, offset + bytes.length] };
    data.push(bytes);
    offset += bytes.length;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...data]);
}

import { isSixteenBit } from "../model-config";
import type { JsonObject } from "../json";
import { appendMembers, applyJsonEdits, type JsonEdit, mergeInto, replaceValue } from "./json-edit";
import { type JsonText, memberOf, notJsonObject, parseJsonText } from "./json-text";
import type { NumberForms } from "./number-forms";
import { patchWarnings } from "./patch-warnings";
import { kvRequestsOf, quantizationConfigsOf, settingsOf } from "./quantization-configs";
import type { FileChange, PatchInput, PatchRejection, PatchRejectionCode, PatchResult } from "./patch-result";
import { refuseWish } from "./refuse-inputs";

const CONFIG = "config.json";

/**
 * What an overlay of a checkpoint must hold so that the KV cache gets the wished dtype and the overrides are in.
 * Works on the texts: what is not asked for keeps every byte. Pure; patching the result again changes nothing.
 */
export function patchCheckpoint(input: PatchInput): PatchResult {
  const refused = refuseWish(input);
  if (refused !== null) return refused;
  const isWishSixteenBit = isSixteenBit(input.kvCacheDtype);
  const hasOverrides = Object.keys(input.quantizationConfigOverrides).length > 0;
  const hasConfigOverrides = Object.keys(input.configOverrides).length > 0;
  if (!isWishSixteenBit && !hasOverrides && !hasConfigOverrides) {
    return { kind: "patched", files: {}, changes: [], warnings: [] };
  }

  const files = new Map<string, JsonText>();
  for (const [name, text] of Object.entries(input.files).sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (text === null) continue;
    const parsed = parseJsonText(text);
    if (parsed === null)
      return rejected("file-not-json", `Cannot patch ${name}: ${notJsonObject(text)}`, name);
    files.set(name, parsed);
  }
  const changes: FileChange[] = [];
  const edit: EditFile = (name, editsOf) => {
    const file = files.get(name);
    if (file === undefined) return;
    const edits = editsOf(file);
    if (edits.length === 0) return;
    const after = parseJsonText(applyJsonEdits(file.text, edits));
    if (after === null) throw new Error(`edits of ${name} do not leave JSON`);
    files.set(name, after);
    changes.push(...edits.flatMap((one) => one.changes.map((change) => ({ file: name, ...change }))));
  };

  if (isWishSixteenBit) for (const name of files.keys()) edit(name, (file) => neutralise(name, file));
  if (hasOverrides) {
    const isQuantized = [...files].some(([name, file]) => quantizationConfigsOf(name, file.root).length > 0);
    const forms = input.numberForms?.quantizationConfigOverrides ?? null;
    if (isQuantized) overrideAll(files, edit, input.quantizationConfigOverrides, forms);
    else if (typeof input.quantizationConfigOverrides["quant_method"] !== "string")
      return withoutQuantization();
    else if (!files.has(CONFIG)) return withoutConfig("quantizationConfigOverrides");
    else edit(CONFIG, (file) => addQuantization(file, input.quantizationConfigOverrides, forms));
  }
  if (hasConfigOverrides) {
    if (!files.has(CONFIG)) return withoutConfig("configOverrides");
    const forms = input.numberForms?.configOverrides ?? null;
    edit(CONFIG, (file) => mergeInto(file, file.root, "", input.configOverrides, forms));
  }

  const changed = [...files].filter(([name, file]) => file.text !== input.files[name]);
  return {
    kind: "patched",
    files: Object.fromEntries(changed.map(([name, file]) => [name, file.text])),
    changes: netChanges(changes),
    warnings: patchWarnings(input, textsOf(files)),
  };
}

/** An explicit 16-bit wish: every request for a quantized KV cache becomes null. */
function neutralise(name: string, file: JsonText): readonly JsonEdit[] {
  return quantizationConfigsOf(name, file.root)
    .flatMap(kvRequestsOf)
    .map(({ node, pointer }) => replaceValue(file, node, pointer, null));
}

/** One change a place: overrides may say again what was just made null. */
function netChanges(changes: readonly FileChange[]): readonly FileChange[] {
  const net = new Map<string, FileChange>();
  for (const change of changes) {
    const place = `${change.file}#${change.pointer}`;
    net.set(place, { ...change, ...net.get(place), to: change.to });
  }
  return [...net.values()].filter(
    ({ isNew, from, to }) => isNew || JSON.stringify(from) !== JSON.stringify(to),
  );
}

type EditFile = (name: string, editsOf: (file: JsonText) => readonly JsonEdit[]) => void;

/** One quantization config after the other: one may stand in another, which the overrides may replace. */
function overrideAll(
  files: ReadonlyMap<string, JsonText>,
  edit: EditFile,
  overrides: JsonObject,
  forms: NumberForms,
): void {
  for (const [name, before] of [...files]) {
    for (const { pointer } of quantizationConfigsOf(name, before.root)) {
      edit(name, (file) => {
        const config = quantizationConfigsOf(name, file.root).find((place) => place.pointer === pointer);
        if (config === undefined) return [];
        const settings = settingsOf(config);
        return mergeInto(file, settings.node, settings.pointer, overrides, forms);
      });
    }
  }
}

function addQuantization(file: JsonText, overrides: JsonObject, forms: NumberForms): readonly JsonEdit[] {
  const pointer = "/quantization_config";
  const here = memberOf(file.root, "quantization_config");
  if (here !== undefined) return [replaceValue(file, here, pointer, overrides, forms)];
  const added = new Map([["quantization_config", forms]]);
  return appendMembers(file, file.root, "", [["quantization_config", overrides]], added);
}

function textsOf(files: ReadonlyMap<string, JsonText>): Readonly<Record<string, string>> {
  return Object.fromEntries([...files].map(([name, file]) => [name, file.text]));
}

function withoutQuantization(): PatchRejection {
  const message =
    "Cannot apply quantizationConfigOverrides: the checkpoint has no quantization config, need one (or a quant_method in the overrides)";
  return rejected("overrides-without-quantization-config", message, "quantizationConfigOverrides");
}

function withoutConfig(path: string): PatchRejection {
  return rejected("config-json-missing", `Cannot apply ${path}: the checkpoint has no config.json`, path);
}

function rejected(code: PatchRejectionCode, message: string, path: string): PatchRejection {
  return { kind: "rejected", code, message, path };
}

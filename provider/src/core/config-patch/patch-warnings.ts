import { isSixteenBit, modelDtypeOf } from "../model-config";
import { unreadExcludeKeys } from "./exclude-keys";
import type { PatchInput, PatchWarning } from "./patch-result";
import { QUANTIZATION_KEYS } from "./quantization-configs";
import { readConfigOf } from "./read-config";

/** What a patch does as it was told and is likely not what was meant. `files`: the texts afterwards. */
export function patchWarnings(
  input: PatchInput,
  files: Readonly<Record<string, string>>,
): readonly PatchWarning[] {
  return [
    ...ofDtype(input, files["config.json"] ?? null),
    ...ofOuterKey(input),
    ...ofExcludeKeys(input, files),
  ];
}

function ofDtype({ kvCacheDtype }: PatchInput, configText: string | null): readonly PatchWarning[] {
  const modelDtype = configText === null ? null : modelDtypeOf(configText);
  if (!isSixteenBit(kvCacheDtype) || !isSixteenBit(modelDtype) || modelDtype === kvCacheDtype) return [];
  const message = `kvCacheDtype is "${kvCacheDtype}" and the checkpoint is ${modelDtype}: vLLM 0.33 and later refuse that`;
  return [{ code: "kv-dtype-differs-from-model-dtype", message }];
}

function ofOuterKey({ quantizationConfigOverrides }: PatchInput): readonly PatchWarning[] {
  const outer = ["quantization", ...QUANTIZATION_KEYS].find((key) =>
    Object.hasOwn(quantizationConfigOverrides, key),
  );
  if (outer === undefined) return [];
  const message = `quantizationConfigOverrides are merged into the settings themselves: leave the outer \`${outer}\` key out`;
  return [{ code: "quantization-key-in-overrides", message }];
}

function ofExcludeKeys(
  { quantizationConfigOverrides }: PatchInput,
  files: Readonly<Record<string, string>>,
): readonly PatchWarning[] {
  const config = readConfigOf(files);
  return unreadExcludeKeys(quantizationConfigOverrides, config).map(({ key, instead }) => {
    const method = config?.method ?? "this quantization method";
    const right =
      instead === null ? "it has no list of what is not quantized" : `the right name is ${instead}`;
    const message = `quantizationConfigOverrides.${key} is not read by vLLM for ${method} in ${config?.file ?? "the config"}: ${right}`;
    return { code: "exclude-key-not-read", message };
  });
}

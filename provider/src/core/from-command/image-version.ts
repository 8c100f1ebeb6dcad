import { type GivenWord, isKnown } from "./given-word";
import type { Notes } from "./note";

/** Tags of the project's own image: `v0.26.0-cu129` is vLLM 0.26.0. Source: tags of vllm/vllm-openai. */
const OWN_IMAGE = /(?:^|\/)vllm\/vllm-openai:v(\d+\.\d+\.\d+(?:\.post\d+|rc\d+)?)(?:[-+@].*)?$/;

/** The version that an image pins; null: it names none, and that is told. */
export function imageVersion(image: GivenWord, notes: Notes): string | null {
  const version = isKnown(image) ? OWN_IMAGE.exec(image.text)?.[1] : undefined;
  if (version !== undefined) return version;
  notes.add(
    "image-tag",
    "vllm.version",
    `${image.text} names no version: pin one, or the vllm of the login PATH is served`,
  );
  return null;
}

/** Whether an image is one of vLLM, whose words are those of `vllm serve`. */
export function isVllmImage(image: GivenWord): boolean {
  return /vllm/i.test(image.text);
}

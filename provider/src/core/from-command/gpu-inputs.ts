import type { JsonObject } from "../json";
import { gpuIds } from "./container-run";
import { isKnown } from "./given-word";
import type { Container, Launch } from "./launch";
import type { Notes } from "./note";
import type { WrittenFlag } from "./written-flags";

/** What NVIDIA's runtime takes for no choice. Source: NVIDIA Container Toolkit, "Environment variables (OCI spec)". */
const NO_CHOICE: ReadonlySet<string> = new Set(["", "all", "none", "void"]);

/** `gpus`: which of the host, where the text says it; nothing where vLLM had all of them. */
export function gpuInputs(
  others: ReadonlyMap<string, WrittenFlag>,
  launch: Launch,
  notes: Notes,
): JsonObject {
  const visible = launch.environment.get("CUDA_VISIBLE_DEVICES");
  const byFlag = others.get("device-ids")?.values;
  const given = launch.container?.gpus ?? byRuntime(launch, notes);
  if (byFlag !== undefined && byFlag.length > 0) {
    if (byFlag.every((word) => isKnown(word))) return { gpus: byFlag.flatMap(({ text }) => gpuIds(text)) };
    notes.addUnknown("gpus", byFlag.map(({ text }) => text).join(" "));
    return {};
  }
  if (visible === undefined || visible.text.trim() === "") return given === null ? {} : { gpus: given };
  if (!isKnown(visible)) {
    notes.addUnknown("gpus", visible.text);
    return {};
  }
  const ids = gpuIds(visible.text);
  // In a container they count what it was given.
  const onHost = given === null ? ids : ids.map((id) => (typeof id === "number" ? (given[id] ?? id) : id));
  const order = launch.environment.get("CUDA_DEVICE_ORDER")?.text;
  if (ids.some((id) => typeof id === "number") && order !== "PCI_BUS_ID")
    notes.add(
      "gpu-order",
      "gpus",
      "CUDA counts fastest first unless CUDA_DEVICE_ORDER=PCI_BUS_ID; the resource counts like nvidia-smi",
    );
  return { gpus: onHost };
}

/**
 * The GPUs that a container has from NVIDIA_VISIBLE_DEVICES, which count as nvidia-smi does; null: it says nothing. Without `--runtime nvidia` too:
 * a container that asks for no GPU has them only from that runtime.
 */
function byRuntime({ container, environment }: Launch, notes: Notes): Container["gpus"] {
  const visible = environment.get("NVIDIA_VISIBLE_DEVICES");
  if (container === null || container.asksForGpus || visible === undefined) return null;
  if (!isKnown(visible)) {
    notes.addUnknown("gpus", visible.text);
    return null;
  }
  return NO_CHOICE.has(visible.text.trim()) ? null : gpuIds(visible.text);
}

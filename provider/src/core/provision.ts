import { checkpointKey, modelLabel } from "./model-source";
import type { Observed } from "./observed";
import type { HubModel, Spec, VllmEnvironment } from "./spec";
import type { FetchStep, HubCheckpoint, InstallStep } from "./step";
import { environmentName, executableWish } from "./vllm-source";

/** What a host has to have before anything can be started there. */
export interface Provision {
  /** null: a vLLM that is there, and is never changed. */
  readonly install: InstallStep | null;
  readonly fetch: FetchStep;
}

export type ProvisionStep = InstallStep | FetchStep;

/** @param resolved commit that a branch or tag was resolved to before; null: it is to be resolved. */
export function provision(spec: Spec, urn: string, resolved: string | null): Provision {
  const { model, vllm, timeouts } = spec;
  return {
    install:
      vllm.kind === "executable"
        ? null
        : { kind: "install", environment: environmentWish(vllm), timeoutSeconds: timeouts.install },
    fetch: {
      kind: "fetch",
      executable: executableWish(vllm),
      checkpoint:
        model.kind === "local"
          ? { key: null, path: model.path, verify: model.verify, loadFormat: loadFormatOf(spec) }
          : hubCheckpoint(spec, model, urn, resolved),
    },
  };
}

/** What of it is ours to bring there and is not there yet: nothing can be planned before it is. */
export function missingParts(needed: Provision, observed: Observed): readonly ProvisionStep[] {
  const isHub = needed.fetch.checkpoint.key !== null;
  return [
    ...(needed.install !== null && observed.executable?.found !== true ? [needed.install] : []),
    ...(isHub && observed.checkpoint?.found !== true ? [needed.fetch] : []),
  ];
}

/** All of it, for a look before each start; quick where it is complete. */
export function allParts({ install, fetch }: Provision): readonly ProvisionStep[] {
  return [...(install === null ? [] : [install]), fetch];
}

/** "vLLM 0.33.0", "nvidia/Kimi-K2.5-NVFP4@main" */
export function partLabel(spec: Spec, kind: ProvisionStep["kind"]): string {
  if (kind === "fetch") return modelLabel(spec.model);
  const version = spec.vllm.kind === "environment" ? spec.vllm.version : null;
  return version === null ? "vLLM" : `vLLM ${version}`;
}

function environmentWish(vllm: VllmEnvironment): InstallStep["environment"] {
  const { kind: _, ...declared } = vllm;
  return { ...declared, name: environmentName(vllm) };
}

function hubCheckpoint(spec: Spec, model: HubModel, urn: string, resolved: string | null): HubCheckpoint {
  const { kind: _, ...declared } = model;
  return {
    ...declared,
    key: checkpointKey(model, urn),
    resolved,
    loadFormat: loadFormatOf(spec),
    stallSeconds: spec.timeouts.download,
  };
}

/**
 * vLLM's "auto" takes Mistral's layout of the weights wherever it sees one, whatever the format of the config. It is left out of a download
 * beside plain weights, unless the config is to be Mistral's: that describes the layers as Mistral's layout names them.
 * Source: vLLM 0.32.0, model_loader/default_loader.py _prepare_weights, transformers_utils/config.py MistralConfigParser.
 */
const AUTO_OF_MISTRAL = "auto:mistral";

function loadFormatOf({ engine }: Spec): string | null {
  const { loadFormat, configFormat } = engine;
  const isAuto = typeof loadFormat !== "string" || loadFormat.toLowerCase() === "auto";
  if (isAuto && configFormat === "mistral") return AUTO_OF_MISTRAL;
  return typeof loadFormat === "string" ? loadFormat : null;
}

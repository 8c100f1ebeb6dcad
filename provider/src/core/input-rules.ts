import { misplacedQuantization, requestInOverrides } from "./config-patch/refuse-inputs";
import { ruleProblem, type Problem } from "./input-problem";
import { gpusNeeded, isLoopback, listedGpuCount } from "./identity";
import { isSixteenBit } from "./model-config";
import { modelName } from "./model-source";
import type { Spec } from "./spec";

/** A rule over several inputs. It is asked only when every input it needs is known and right by itself. */
export interface InputRule {
  readonly needs: readonly string[];
  readonly broken: (spec: Spec) => Problem | null;
}

export const INPUT_RULES: readonly InputRule[] = [
  {
    needs: ["model", "onDelete"],
    broken: ({ model, onDelete }) =>
      model.kind === "local" && onDelete.model === "purge"
        ? ruleProblem(
            "onDelete.model",
            '"purge" for a folder of your own, which is never removed',
            '"keep", or a model with repo',
          )
        : null,
  },
  {
    needs: ["model", "engine"],
    broken: ({ model, engine }) => {
      const name = modelName(model);
      if (!name.startsWith("-") || "servedModelName" in engine) return null;
      const found = `${JSON.stringify(name)} as the name of the model: vLLM takes it for an option`;
      return ruleProblem("model.path", found, "engine.servedModelName, or another folder name");
    },
  },
  {
    needs: ["listen", "apiKey", "allowUnauthenticated"],
    broken: ({ listen, apiKey, allowUnauthenticated }) =>
      isLoopback(listen.address) || apiKey !== null || allowUnauthenticated
        ? null
        : ruleProblem(
            "listen.address",
            `${JSON.stringify(listen.address)}, which other machines can reach, and no apiKey`,
            "apiKey, or allowUnauthenticated: true",
          ),
  },
  {
    needs: ["gpus", "engine", "extraArgs"],
    broken: ({ gpus, engine, extraArgs }) => {
      const needed = gpusNeeded(engine, extraArgs);
      const given = listedGpuCount(gpus);
      if (gpus.kind === "derived" || given >= needed) return null;
      return ruleProblem(
        "gpus",
        String(given),
        `at least ${String(needed)}: the product of engine's parallel sizes`,
      );
    },
  },
  {
    needs: ["kvCacheDtype", "quantizationConfigOverrides"],
    broken: ({ kvCacheDtype, quantizationConfigOverrides }) => {
      const request = isSixteenBit(kvCacheDtype) ? requestInOverrides(quantizationConfigOverrides) : null;
      if (request === null) return null;
      return ruleProblem(
        request,
        "a request for a quantized KV cache",
        `null there, or another kvCacheDtype than ${JSON.stringify(kvCacheDtype)}`,
      );
    },
  },
  {
    needs: ["configOverrides"],
    broken: ({ configOverrides }) => {
      const path = misplacedQuantization(configOverrides);
      if (path === null) return null;
      return ruleProblem(path, "a quantization config", "quantizationConfigOverrides");
    },
  },
];

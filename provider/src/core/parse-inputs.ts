import type { z } from "zod";
import { environmentSchema } from "./input-environment";
import { engineSchema, jsonObjectSchema } from "./input-engine";
import { extraArgsSchema } from "./input-extra-args";
import { hostSchema, UNKNOWN_HOST } from "./input-host";
import { withoutUndefinedMembers } from "./input-json";
import { modelSchema } from "./input-model";
import type { Problem } from "./input-problem";
import { InputReader } from "./input-reader";
import { INPUT_RULES } from "./input-rules";
import * as server from "./input-server";
import { withoutUnknowns } from "./input-unknowns";
import { vllmSchema } from "./input-vllm";
import { gpusNeeded } from "./identity";
import { DEFAULTS, type GpuWish, type ModelSpec, type ServiceSpec, type Spec } from "./spec";

export type { Problem } from "./input-problem";
export { INPUT_NAMES, inputsOf } from "./input-reader";

export type ParsedInputs =
  /** With unknowns, the spec holds defaults in their places: good for comparing, not for acting. */
  | { readonly ok: true; readonly spec: Spec; readonly unknowns: readonly string[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Raw Pulumi inputs -> Spec with every default filled in, or all problems at once. null and undefined inputs are not given.
 * Values that are unknown in a preview are skipped at any depth; then `unknowns` says where they stand.
 */
export function parseInputs(raw: unknown): ParsedInputs {
  const { known, unknowns } = withoutUnknowns(raw);
  const reader = new InputReader(known === undefined && unknowns.length > 0 ? {} : known, unknowns);
  const spec = readSpec(reader);
  for (const rule of INPUT_RULES) {
    const problem = rule.needs.every((name) => reader.isSettled(name)) ? rule.broken(spec) : null;
    if (problem !== null) reader.add(problem);
  }
  return reader.problems.length > 0 ? { ok: false, problems: reader.problems } : { ok: true, spec, unknowns };
}

function readSpec(reader: InputReader): Spec {
  const engine = reader.optional("engine", engineSchema) ?? {};
  const extraArgs = reader.optional("extraArgs", extraArgsSchema) ?? {};
  const listen = reader.optional("listen", server.listenSchema);
  const service = reader.optional("service", server.serviceSchema);
  const timeouts = reader.optional("timeouts", server.timeoutsSchema);
  const onDelete = reader.optional("onDelete", server.onDeleteSchema);
  return {
    host: reader.required("host", hostSchema) ?? UNKNOWN_HOST,
    model: reader.required("model", modelSchema) ?? UNKNOWN_MODEL,
    kvCacheDtype: reader.optional("kvCacheDtype", server.kvCacheDtypeSchema) ?? DEFAULTS.kvCacheDtype,
    quantizationConfigOverrides: withoutUndefinedMembers(
      reader.optional("quantizationConfigOverrides", jsonObjectSchema) ?? {},
    ),
    configOverrides: withoutUndefinedMembers(reader.optional("configOverrides", jsonObjectSchema) ?? {}),
    vllm: reader.optional("vllm", vllmSchema) ?? { kind: "executable", executable: null },
    engine,
    extraArgs,
    environment: reader.optional("environment", environmentSchema) ?? {},
    gpus: gpuWish(reader.optional("gpus", server.gpusSchema), gpusNeeded(engine, extraArgs)),
    listen: {
      address: listen?.address ?? DEFAULTS.listen.address,
      port: listen?.port ?? DEFAULTS.listen.port,
    },
    allowUnauthenticated:
      reader.optional("allowUnauthenticated", server.allowUnauthenticatedSchema) ??
      DEFAULTS.allowUnauthenticated,
    apiKey: reader.optional("apiKey", server.apiKeySchema) ?? null,
    service: serviceSpec(service ?? {}),
    readiness: { probe: reader.optional("readiness", server.readinessSchema)?.probe ?? DEFAULTS.probe },
    timeouts: {
      connect: timeouts?.connect ?? DEFAULTS.timeouts.connect,
      install: timeouts?.install ?? DEFAULTS.timeouts.install,
      download: timeouts?.download ?? DEFAULTS.timeouts.download,
      ready: timeouts?.ready ?? DEFAULTS.timeouts.ready,
      stall: timeouts?.stall ?? DEFAULTS.timeouts.stall,
      stop: timeouts?.stop ?? DEFAULTS.timeouts.stop,
    },
    update: {
      returnToLastGood:
        reader.optional("update", server.updateSchema)?.returnToLastGood ?? DEFAULTS.returnToLastGood,
    },
    onDelete: {
      unreachableHost: onDelete?.unreachableHost ?? DEFAULTS.unreachableHost,
      model: onDelete?.model ?? DEFAULTS.modelOnDelete,
    },
  };
}

/** Stands in for a model that is not known yet. */
const UNKNOWN_MODEL: ModelSpec = { kind: "local", path: "/unknown", verify: DEFAULTS.verify };

function serviceSpec({
  manager,
  startOnBoot,
  restart,
  logs,
}: z.output<typeof server.serviceSchema>): ServiceSpec {
  return {
    manager: manager ?? DEFAULTS.manager,
    startOnBoot: startOnBoot ?? DEFAULTS.startOnBoot,
    restart: {
      max: restart?.max ?? DEFAULTS.restart.max,
      withinSeconds: restart?.withinSeconds ?? DEFAULTS.restart.withinSeconds,
      delaySeconds: restart?.delaySeconds ?? DEFAULTS.restart.delaySeconds,
    },
    logs: {
      keep: logs?.keep ?? DEFAULTS.logs.keep,
      maxBytes: logs?.maxBytes ?? DEFAULTS.logs.maxBytes,
    },
  };
}

function gpuWish(given: number | readonly (number | string)[] | undefined, needed: number): GpuWish {
  if (given === undefined) return { kind: "derived", count: needed };
  return typeof given === "number" ? { kind: "count", count: given } : { kind: "list", ids: given };
}

import { z } from "zod";
import { observationSchema, serverSeenSchema } from "./observed";

const { host, gpus, gpuError, servers } = observationSchema.shape;

/** What a host is and has, whoever wants to start what there. */
export const hostSurveySchema = z.object({
  machine: z.object({ host, gpus, gpuError }),
  /** `vllm` of the login environment. */
  executable: servers.element.shape.executable.unwrap(),
  /** Path of the hub's client, `hf`; null: the host has none. */
  hubClient: z.string().nullable(),
  /** One line for each tool that vLLM compiles with and the login does not find, and what needs it. */
  missingTools: z.array(z.string()),
  /** Service managers, best first; `reason` why one does not work for this user, null: it does. */
  managers: z.array(z.object({ name: z.string(), reason: z.string().nullable() })),
  /** Of this tool, whichever stack they belong to; null: it could not be looked at. */
  servers: z.array(z.object({ serverId: z.string(), server: serverSeenSchema.nullable() })),
});
export type HostSurvey = z.infer<typeof hostSurveySchema>;

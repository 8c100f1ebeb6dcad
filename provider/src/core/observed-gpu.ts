import { z } from "zod";

/** A GPU as nvidia-smi and the host's processes tell of it. */

const gpuConditionSchema = z.object({
  /** "0000:41:00": domain, bus and device, as in the kernel's log. */
  pciBusId: z.string().nullable(),
  isPersistent: z.boolean().nullable(),
  /** "Default", "Exclusive_Process", "Prohibited". */
  computeMode: z.string().nullable(),
  isMig: z.boolean().nullable(),
  /** ECC errors that were not corrected, since the driver was loaded. */
  uncorrectedErrors: z.number().nullable(),
  /** Memory rows or pages that are replaced at the next reset. */
  isRepairPending: z.boolean().nullable(),
  hasRepairFailed: z.boolean().nullable(),
});
export type GpuCondition = z.infer<typeof gpuConditionSchema>;

export const gpuSchema = z.object({
  index: z.number(),
  uuid: z.string(),
  name: z.string(),
  memoryTotalMib: z.number(),
  memoryUsedMib: z.number(),
  /** "12.0", or null where nvidia-smi does not say. */
  computeCapability: z.string().nullable(),
  driverVersion: z.string().nullable(),
  processes: z.array(
    z.object({
      pid: z.number(),
      usedMib: z.number().nullable(),
      user: z.string().nullable(),
      command: z.string().nullable(),
      /** Server of this tool it belongs to (any of the user's), else null. */
      serverId: z.string().nullable(),
    }),
  ),
  /** serverId of a registered server that runs on it or is starting on it, else null. */
  reservedBy: z.string().nullable(),
  /** null: it was not asked for. Members are null where the driver does not tell. */
  condition: gpuConditionSchema.nullable().default(null),
});

import { z } from "zod";

/** How a server that runs differs from what was last started. Part of observed.ts. */
export const differencesSchema = z.object({
  /** Words of its command line that the process proven ready did not have, and the other way round; null: none, or it cannot be told. */
  arguments: z.object({ added: z.array(z.string()), missing: z.array(z.string()) }).nullable(),
  /** Variables of the process, likewise; values are told as short salted hashes alone. */
  environment: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(["changed", "missing", "added"]),
      hash: z.string().nullable(),
    }),
  ),
  /** Names of secrets that it was not started with as the query has them. */
  secrets: z.array(z.string()),
  /** serve.yaml where it is not as it was written; found: null: it is gone, or no text. */
  config: z
    .object({
      wanted: z.string(),
      found: z.string().nullable(),
      /** It was so when the running process began. */
      isRead: z.boolean(),
    })
    .nullable(),
  /** Entries of the overlay that are not as they were made; "redirected": a link that leads elsewhere, or is none any more. */
  overlay: z.array(
    z.object({
      file: z.string(),
      kind: z.enum(["changed", "missing", "added", "redirected"]),
      isRead: z.boolean(),
    }),
  ),
  /** Where it listens instead of where it was told to; null: as told, or nowhere. */
  listening: z.object({ address: z.string(), port: z.number() }).nullable(),
  /** What came of the request for one token; null: it was not asked. "busy": it worked for others; "unclear": nothing tells whether it did. */
  token: z
    .object({
      outcome: z.enum(["answered", "busy", "unclear", "unanswered", "refused"]),
      detail: z.string().nullable(),
    })
    .nullable(),
});
export type Differences = z.infer<typeof differencesSchema>;

export const NO_DIFFERENCES: Differences = {
  arguments: null,
  environment: [],
  secrets: [],
  config: null,
  overlay: [],
  listening: null,
  token: null,
};

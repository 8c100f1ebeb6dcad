import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { z } from "zod";
import { LogsFailure } from "./failure";

const execFileText = promisify(execFile);
const LARGEST_STATE_BYTES = 1024 ** 3;

const stateSchema = z.object({
  deployment: z
    .object({
      resources: z
        .array(
          z.object({
            urn: z.string(),
            type: z.string(),
            id: z.string().optional(),
            inputs: z.record(z.string(), z.unknown()).optional(),
          }),
        )
        .nullish(),
    })
    .nullable(),
});

export interface StateResource {
  readonly urn: string;
  readonly type: string;
  /** Of a VllmServer: its serverId. */
  readonly id?: string | undefined;
  readonly inputs?: Readonly<Record<string, unknown>> | undefined;
}

export interface StackPlace {
  readonly stack: string | null;
  readonly cwd: string;
}

/** Resources of a stack, as the Pulumi CLI on the PATH tells them. Fails with LogsFailure. */
export async function stackResources(
  { stack, cwd }: StackPlace,
  { showsSecrets }: { readonly showsSecrets: boolean },
): Promise<readonly StateResource[]> {
  const words = [
    ...["stack", "export", "--non-interactive", "--cwd", cwd],
    ...(stack === null ? [] : ["--stack", stack]),
    ...(showsSecrets ? ["--show-secrets"] : []),
  ];
  const text = await execFileText("pulumi", words, { maxBuffer: LARGEST_STATE_BYTES }).then(
    ({ stdout }) => stdout,
    (error: unknown) => {
      throw notReadable(error, stack ?? "the selected stack", cwd);
    },
  );
  return stateSchema.parse(JSON.parse(text)).deployment?.resources ?? [];
}

function notReadable(error: unknown, stack: string, cwd: string): LogsFailure {
  if (hasCode(error) && error.code === "ENOENT")
    return new LogsFailure(
      "pulumi-not-found",
      "Cannot read the state: there is no pulumi on the PATH, need the Pulumi CLI",
      error,
    );
  const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
  const found = said.replace(/^error: /, "").replace(/\s+/g, " ");
  return new LogsFailure(
    "stack-not-readable",
    `Cannot read the state of ${stack} in ${cwd}: ${found}`,
    error,
  );
}

function hasCode(error: unknown): error is { readonly code: unknown } {
  return typeof error === "object" && error !== null && "code" in error;
}

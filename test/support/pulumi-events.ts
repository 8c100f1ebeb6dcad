import { readFile } from "node:fs/promises";
import { joinedError } from "./joined-errors.ts";

/** One line of Pulumi's event log; only what tests look at. Source: pulumi 3.276 sdk/go/common/apitype/events.go. */
export interface PulumiEvent {
  readonly sequence: number;
  readonly diagnosticEvent?: {
    readonly urn?: string;
    readonly message: string;
    readonly severity: "debug" | "info" | "info#err" | "warning" | "error";
    readonly ephemeral?: boolean;
  };
  readonly resourcePreEvent?: { readonly metadata: StepMetadata };
  readonly resOutputsEvent?: { readonly metadata: StepMetadata };
  readonly resOpFailedEvent?: { readonly metadata: StepMetadata };
  readonly summaryEvent?: { readonly resourceChanges: Readonly<Record<string, number>> };
}

export interface StepMetadata {
  /** "create", "update", "same", "replace", "delete", "refresh", ... */
  readonly op: string;
  readonly urn: string;
  readonly type: string;
  readonly diffs: readonly string[] | null;
  readonly detailedDiff: Readonly<Record<string, unknown>> | null;
  readonly new: {
    readonly inputs: Readonly<Record<string, unknown>>;
    readonly outputs: Readonly<Record<string, unknown>>;
  } | null;
}

/**
 * Errors have each part on one line again. Without debug messages: the event log has them always, and @pulumi/pulumi writes inputs into them as they are.
 * A killed CLI may have left half a line.
 */
export async function readEvents(path: string): Promise<readonly PulumiEvent[]> {
  const lines = (await readFile(path, "utf8").catch(() => "")).split("\n");
  return lines.flatMap((line) => {
    try {
      const event: PulumiEvent = JSON.parse(line);
      const said = event.diagnosticEvent;
      if (said?.severity === "debug") return [];
      if (said?.severity !== "error") return [event];
      return [{ ...event, diagnosticEvent: { ...said, message: joinedError(said.message) } }];
    } catch {
      return [];
    }
  });
}

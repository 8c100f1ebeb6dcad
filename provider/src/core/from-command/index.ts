import type { JsonObject } from "../json";
import { tellRefused } from "./check-inputs";
import { withConfigFile } from "./config-file";
import { launchesInCompose } from "./compose";
import { type FindContext, type FoundLaunch, launchesIn, onlyOne } from "./find-launch";
import type { Launch } from "./launch";
import { type Note, Notes, Rejected } from "./note";
import { serverInputs } from "./server-inputs";
import { formOf } from "./text-form";
import { tidyShell, withoutTypography } from "./tidy-text";
import { launchesInUnit } from "./unit";

export { configEntry } from "./config-entry";
export { configKeyOf } from "./config-keys";
export { NOTE_CODES, type NoteGroup, Rejected, rejectionText } from "./note";
export { isWithoutPlace, programText } from "./program-text";
export { resourceName } from "./resource-name";

/** What a launch text says as inputs of VllmServer. */
export interface Conversion {
  /** Without `host`; "<secret>" stands for every secret. */
  readonly inputs: JsonObject;
  /** Paths of the secrets: `apiKey`, `environment.HF_TOKEN`. */
  readonly secrets: readonly string[];
  readonly notes: readonly Note[];
}

/**
 * Reads a command, a script, a systemd unit or a compose file that starts vLLM, and says the same as inputs. Nothing of the text is run, and no
 * file is looked at. Fails with Rejected where the text is broken, or is no single server.
 */
export async function fromCommand(text: string): Promise<Conversion> {
  const notes = new Notes();
  const launch = await launchIn(text, notes);
  const { inputs, secrets } = serverInputs(launch, notes);
  tellRefused(inputs, launch.version, notes);
  return { inputs, secrets, notes: notes.all() };
}

/** The one server that a text starts. Fails with Rejected. */
export async function launchIn(text: string, notes: Notes): Promise<Launch> {
  const { parse } = await import("unbash");
  const context: FindContext = { parse, notes, files: new Map() };
  const launch = onlyOne(foundIn(text, context));
  if (launch === null)
    throw new Rejected(
      "no-server",
      "",
      "no command in it starts vLLM: vllm serve, its API server, or an image of vLLM",
    );
  return withConfigFile(launch, context);
}

/** A script that writes a script that writes a file: deeper than this nobody looks. */
const MOST_WRITTEN = 3;

function foundIn(text: string, context: FindContext, written = 0): readonly FoundLaunch[] {
  const form = formOf(text);
  if (form === "shell") {
    const found = launchesIn(tidyShell(text, context.notes), context);
    if (found.length > 0 || written === MOST_WRITTEN) return found;
    // A script that only writes the file which starts it.
    return [...context.files.values()].flatMap((file) =>
      foundIn(file, { ...context, files: new Map() }, written + 1),
    );
  }
  const plain = withoutTypography(text, context.notes);
  const launches = form === "unit" ? launchesInUnit(plain, context) : launchesInCompose(plain, context);
  return launches.map((launch) => ({ launch, times: 1 }));
}

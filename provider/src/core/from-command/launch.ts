import type { GivenWord } from "./given-word";
import type { Notes } from "./note";

/** One vLLM server as a text starts it, whatever the text is: what all forms of text become first. */
export interface Launch {
  /** Behind `vllm serve`. */
  readonly words: readonly GivenWord[];
  readonly environment: ReadonlyMap<string, GivenWord>;
  readonly container: Container | null;
  /** Path of the `vllm` command; null: found by PATH. */
  readonly executable: GivenWord | null;
  /** Version that the text pins; null: none. */
  readonly version: string | null;
}

/** What else the text holds. */
export interface Sources {
  readonly notes: Notes;
  /** Files that the text writes, by the name it gives them. */
  readonly files: ReadonlyMap<string, string>;
}

export interface Container {
  readonly mounts: readonly Mount[];
  readonly ports: readonly PortMapping[];
  /** Its ports are the host's. */
  readonly isHostNetwork: boolean;
  /** GPUs that it is given, of the host; null: all, or as many as it needs. */
  readonly gpus: readonly (number | string)[] | null;
  /** It is asked for GPUs by an option or a reservation, be it for all: NVIDIA_VISIBLE_DEVICES does not count then. */
  readonly asksForGpus: boolean;
}

export interface Mount {
  /** On the host; not known where it is made of a variable. */
  readonly source: GivenWord;
  readonly target: string;
}

export interface PortMapping {
  readonly address: GivenWord | null;
  /** null: any free one. */
  readonly host: GivenWord | null;
  readonly container: GivenWord;
}

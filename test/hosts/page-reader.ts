import { operationsBlocks, type OperationsBlock } from "../support/operations-page";
import type { SystemdHost } from "../support/systemd-host";

/** The id that the page uses as its example. */
const EXAMPLE_ID = "chat-82ac0a30";

/** Somebody logged in on a machine who types what stands in docs/operations.md, block by block. */
export class PageReader {
  readonly #machine: SystemdHost;
  readonly #user: string;
  readonly #typed = new Set<OperationsBlock>();
  readonly #blocks = operationsBlocks();

  constructor(machine: SystemdHost, user: string) {
    this.#machine = machine;
    this.#user = user;
  }

  /**
   * Types a block as it stands, in a login of its own, and returns what came to the screen.
   * @param number which of the blocks below that heading
   * @param id the server that it is about: put in where the page says to
   */
  type(heading: string, number: number, id?: string): string {
    const preamble =
      id === undefined ? "" : this.#take("How to look: on the host", 2).text.replace(EXAMPLE_ID, id);
    // Several commands end with something else than 0 when they find nothing.
    const text = `exec 2>&1\n${preamble}${this.#take(heading, number).text}true\n`;
    return this.#machine.run(text, this.#user);
  }

  /** A block that is typed elsewhere: where Pulumi runs. */
  textOf(heading: string, number: number): string {
    return this.#take(heading, number).text;
  }

  /** What nobody has typed so far. */
  untyped(): readonly OperationsBlock[] {
    return this.#blocks.filter((block) => !this.#typed.has(block));
  }

  #take(heading: string, number: number): OperationsBlock {
    const block = this.#blocks.filter((one) => one.heading === heading)[number];
    if (block === undefined) throw new Error(`the page has no block ${String(number)} below "${heading}"`);
    this.#typed.add(block);
    return block;
  }
}

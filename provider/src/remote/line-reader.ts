const LONGEST_LINE_BYTES = 64 * 1024 * 1024;

/** Cuts a stream of bytes into lines, wherever the chunks end. */
export class LineReader {
  readonly #onLine: (line: string) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Throws RangeError for a line over 64 MiB, so that an endless one cannot fill the memory. */
  feed(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10, from); end !== -1; end = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, end));
      from = end + 1;
      this.end();
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  /** Gives what is left without a line break, if anything is. */
  end(): void {
    const line = Buffer.concat(this.#parts).toString("utf8").replace(/\r$/, "");
    this.#parts = [];
    this.#bytes = 0;
    if (line !== "") this.#onLine(line);
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > LONGEST_LINE_BYTES) throw new RangeError("a line is longer than 64 MiB");
    this.#parts.push(part);
  }
}

/** Lines kept from the start of a log and from its end; what lies between is dropped and counted. */
const HEAD_LINES = 40_000;
const TAIL_LINES = 40_000;

/**
 * The log of one start as its lines come in, in bounded memory: causes stand near the beginning or near the end, never in hours of
 * repetition between. A generation that changes under it (an automatic restart) begins a new log.
 */
export class StartLog {
  private head: string[] = [];
  private tail: string[] = [];
  private droppedLines = 0;
  private isHeadOpen = true;
  private next = 1;

  /** @param first number of the first of these lines, counted from 1; 1 again means a new log, a leap that the host dropped lines. */
  add(first: number, lines: readonly string[]): void {
    if (first === 1) {
      this.head = [];
      this.tail = [];
      this.droppedLines = 0;
      this.isHeadOpen = true;
      this.next = 1;
    }
    if (first > this.next) {
      this.isHeadOpen = false;
      this.droppedLines += this.tail.length + first - this.next;
      this.tail = [];
    }
    this.next = first + lines.length;
    for (const line of lines) {
      if (this.isHeadOpen && this.head.length < HEAD_LINES) this.head.push(line);
      else this.tail.push(line);
    }
    const surplus = this.tail.length - TAIL_LINES;
    if (surplus > TAIL_LINES) {
      this.tail.splice(0, surplus);
      this.droppedLines += surplus;
    }
  }

  /** Dropped lines stand as empty ones, so that line numbers stay those of the file. */
  text(): string {
    return [...this.head, ...Array<string>(this.droppedLines).fill(""), ...this.tail].join("\n");
  }
}

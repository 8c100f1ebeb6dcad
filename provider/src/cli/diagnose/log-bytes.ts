import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { reasonOf } from "../patch/failure";
import { DiagnoseFailure } from "./failure";
import { HEAD_BYTES, kindOf } from "./log-kind";

type Bytes = AsyncIterable<Uint8Array>;

const PIECE_BYTES = 1024 * 1024;
const STANDARD_INPUT = "standard input";

/**
 * The text of a log as UTF-8, in pieces that are good until the next one is asked for. Fails with log-not-readable, log-not-text.
 * @param file "-": standard input
 */
export async function* logBytes(file: string): AsyncGenerator<Uint8Array> {
  const name = nameOf(file);
  try {
    yield* textOf(file === "-" ? process.stdin : fileBytes(file), name, true);
  } catch (error) {
    if (error instanceof DiagnoseFailure) throw error;
    throw new DiagnoseFailure(
      "log-not-readable",
      `Cannot read ${name}: ${wordsOf(error)}, need a log`,
      error,
    );
  }
}

/** As errors name it. */
export function nameOf(file: string): string {
  return file === "-" ? STANDARD_INPUT : file;
}

async function* fileBytes(file: string): AsyncGenerator<Uint8Array> {
  const handle = await open(file);
  try {
    // The same memory again and again: what the garbage collector has not yet found would be several times as much.
    const room = Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await handle.read(room, 0, room.length, null);
      if (bytesRead === 0) return;
      yield room.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

async function* textOf(source: Bytes, name: string, mayBeGzip: boolean): AsyncGenerator<Uint8Array> {
  const pieces = withoutHole(source);
  try {
    const head = await headOf(pieces);
    const kind = kindOf(head);
    if (kind.kind === "text") yield* withoutMark(head, pieces);
    else if (kind.kind === "utf-16") yield* fromUtf16(joined(head, pieces), kind.encoding);
    else if (kind.kind === "gzip" && mayBeGzip) yield* textOf(unpacked(joined(head, pieces)), name, false);
    else if (kind.kind === "gzip") throw notText(name, "gzip inside gzip", "zcat");
    else throw notText(name, kind.found, kind.change);
  } finally {
    // What is not read to its end would keep the program waiting for the rest.
    await pieces.return(undefined);
  }
}

/** Without the NUL bytes that a log begins with that was cut while a program went on writing into it. */
async function* withoutHole(source: Bytes): AsyncGenerator<Uint8Array> {
  let isInHole = true;
  for await (const piece of source) {
    const start = isInHole ? piece.findIndex((byte) => byte !== 0) : 0;
    if (start === -1) continue;
    isInHole = false;
    yield piece.subarray(start);
  }
}

async function headOf(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  while (length < HEAD_BYTES) {
    const next = await pieces.next();
    if (next.done === true) break;
    parts.push(Uint8Array.from(next.value));
    length += next.value.length;
  }
  return Buffer.concat(parts);
}

async function* joined(head: Uint8Array, rest: Bytes): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  // Whoever takes these keeps more than one.
  for await (const piece of rest) yield Uint8Array.from(piece);
}

async function* withoutMark(head: Uint8Array, rest: Bytes): AsyncGenerator<Uint8Array> {
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
  yield hasMark ? head.subarray(3) : head;
  yield* rest;
}

async function* fromUtf16(source: Bytes, encoding: string): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding);
  const encoder = new TextEncoder();
  for await (const piece of source) yield encoder.encode(decoder.decode(piece, { stream: true }));
  yield encoder.encode(decoder.decode());
}

async function* unpacked(source: Bytes): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  // What fails on the way ends the reading of `gunzip` with the same error.
  const done = pipeline(Readable.from(source), gunzip).catch(() => undefined);
  yield* gunzip;
  await done;
}

function notText(name: string, found: string, change: string | null): DiagnoseFailure {
  const file = name === STANDARD_INPUT ? "" : ` ${name}`;
  const way = change === null ? "" : `: ${change}${file} | pulumi-vllm diagnose -`;
  return new DiagnoseFailure(
    "log-not-text",
    `Cannot diagnose ${name}: found ${found}, need the text of a log${way}`,
  );
}

function wordsOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "EISDIR") return "it is a folder";
  if (code === "Z_BUF_ERROR") return "its gzip data ends too early";
  if (typeof code === "string" && code.startsWith("Z_")) return "its gzip data is broken";
  return reasonOf(error);
}

/** What the first bytes of a file tell of the rest. */
export type LogKind =
  | { readonly kind: "text" }
  | { readonly kind: "gzip" }
  | { readonly kind: "utf-16"; readonly encoding: "utf-16le" | "utf-16be" }
  /** @property found words for an error; change: a command that makes text of it, or null */
  | { readonly kind: "no-log"; readonly found: string; readonly change: string | null };

interface Signature {
  readonly bytes: readonly number[];
  readonly found: string;
  readonly change: string | null;
}

/** Source: the formats' own specifications (RFC 8878, the .xz file format, bzip2, APPNOTE.TXT). */
const OTHER_FORMATS: readonly Signature[] = [
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], found: "zstd-compressed data", change: "zstdcat" },
  { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], found: "xz-compressed data", change: "xzcat" },
  { bytes: [0x42, 0x5a, 0x68], found: "bzip2-compressed data", change: "bzcat" },
  { bytes: [0x50, 0x4b, 0x03, 0x04], found: "a zip archive", change: "unzip -p" },
];
/** Where a tar header says what it is. Source: POSIX ustar. */
const TAR_AT = 257;
/** More control characters than this share, and it is no text; compressed data has a tenth. */
const MOST_CONTROL_SHARE = 0.05;

/** As many bytes as kindOf() wants to see, where there are so many. */
export const HEAD_BYTES = 8192;

export function kindOf(head: Uint8Array): LogKind {
  if (head[0] === 0x1f && head[1] === 0x8b) return { kind: "gzip" };
  // A shell on Windows writes so what it is given.
  if (head[0] === 0xff && head[1] === 0xfe) return { kind: "utf-16", encoding: "utf-16le" };
  if (head[0] === 0xfe && head[1] === 0xff) return { kind: "utf-16", encoding: "utf-16be" };
  const other = OTHER_FORMATS.find(({ bytes }) => bytes.every((byte, at) => head[at] === byte));
  if (other !== undefined) return { kind: "no-log", found: other.found, change: other.change };
  if (new TextDecoder().decode(head.subarray(TAR_AT, TAR_AT + 5)) === "ustar")
    return { kind: "no-log", found: "a tar archive", change: "tar -xO -f" };
  const controls = head.reduce((count, byte) => (isControl(byte) ? count + 1 : count), 0);
  return controls > head.length * MOST_CONTROL_SHARE
    ? { kind: "no-log", found: "binary data", change: null }
    : { kind: "text" };
}

/** Not those of line ends, tabs, pages, progress bars and colours. */
function isControl(byte: number): boolean {
  return byte < 0x20 && !(byte >= 0x07 && byte <= 0x0d) && byte !== 0x1b;
}

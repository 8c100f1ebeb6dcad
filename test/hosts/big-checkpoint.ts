import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { sizeText } from "../../provider/src/core/amount-text";
import { TINY_LLAMA } from "../support/checkpoints";

/** A checkpoint of 200 shards, 20 GB where the disk has room for it. The hub makes it while it sends; a host writes all of it. */

const SHARDS = 200;
const WHOLE_SHARD_BYTES = 100_000_000;
/** What is left to everybody else on the disk. */
const SPARE_BYTES = 5_000_000_000;

export interface BigCheckpoint {
  readonly repository: string;
  readonly revision: string;
  /** Names of the shards. */
  readonly shards: readonly string[];
  readonly shardBytes: number;
  /** Of the shards together. */
  readonly bytes: number;
  /** How large it is, and why when it is smaller than it should be. */
  readonly told: string;
  /** For the hub: all of it, and slow enough that it takes more than a minute. */
  readonly served: object;
  readonly bytesPerSecond: number;
}

/** @param free bytes on the disk to which test hosts write */
export function bigCheckpoint(free = freeBytes()): BigCheckpoint {
  const needed = SHARDS * WHOLE_SHARD_BYTES + SPARE_BYTES;
  const room = Math.floor((free - SPARE_BYTES) / 2 / SHARDS);
  const shardBytes = free >= needed ? WHOLE_SHARD_BYTES : Math.max(room, 1_000_000);
  const bytes = SHARDS * shardBytes;
  const why =
    shardBytes === WHOLE_SHARD_BYTES
      ? ""
      : ` (${sizeText(free)} are free in ${tmpdir()}, ${sizeText(needed)} are needed for ${sizeText(SHARDS * WHOLE_SHARD_BYTES)})`;
  const revision = "d".repeat(40);
  return {
    repository: "org/big",
    revision,
    shards: Array.from({ length: SHARDS }, (_, index) => shardName(index + 1)),
    shardBytes,
    bytes,
    told: `${String(SHARDS)} shards, ${sizeText(bytes)}${why}`,
    served: {
      revisions: [
        {
          sha: revision,
          refs: ["main"],
          files: { "config.json": { json: TINY_LLAMA } },
          // Hashing them would take longer than sending them.
          shards: { count: SHARDS, sizeBytes: shardBytes, namedHash: true },
        },
      ],
    },
    bytesPerSecond: Math.ceil(bytes / 80),
  };
}

function shardName(number: number): string {
  const digits = (count: number): string => String(count).padStart(5, "0");
  return `model-${digits(number)}-of-${digits(SHARDS)}.safetensors`;
}

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(tmpdir());
  return bavail * bsize;
}

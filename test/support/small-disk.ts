import { execFileSync } from "node:child_process";
import { mkdirSync, statfsSync } from "node:fs";

/** A disk in memory whose free bytes a test sets; what is not written takes no memory. */
export interface SmallDisk {
  free(): number;
  /** @param bytes a multiple of 4096, the disk's block */
  setFree(bytes: number): void;
  unmount(): void;
}

/** Mounts it there; null: no right to mount. */
export function mountSmallDisk(folder: string): SmallDisk | null {
  mkdirSync(folder, { recursive: true });
  const mount = (options: string, ...words: readonly string[]): void => {
    execFileSync("mount", ["-t", "tmpfs", "-o", options, ...words, folder], { stdio: "pipe" });
  };
  try {
    mount("size=1g,mode=0755", "tmpfs");
  } catch {
    return null;
  }
  const free = (): number => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  return {
    free,
    setFree: (bytes) => {
      const { blocks, bfree, bsize } = statfsSync(folder);
      mount(`remount,size=${String((blocks - bfree) * bsize + bytes)}`);
      if (free() !== bytes)
        throw new Error(`${folder} has ${String(free())} bytes free, not ${String(bytes)}`);
    },
    unmount: () => {
      execFileSync("umount", ["-l", folder]);
    },
  };
}

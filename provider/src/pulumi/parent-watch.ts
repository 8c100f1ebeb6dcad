import { connect } from "node:net";
import { type EngineAddress, engineAddress } from "./engine-address";

export interface WatchOptions {
  /** Time between two looks, default 2000. */
  readonly everyMilliseconds?: number;
  /** Looks in a row without an answer that make the engine gone, default 3. */
  readonly misses?: number;
  /** Default: ends the process with code 1. */
  readonly onGone?: () => void;
}

let isWatching = false;

/**
 * Ends the provider process when Pulumi's engine is gone: a CLI that is killed with SIGKILL leaves the provider
 * running, and it would go on with its work beside the next `up`. Safe to call again; without an engine nothing is watched.
 */
export function watchParent(): void {
  const address = engineAddress();
  if (address === null || isWatching) return;
  isWatching = true;
  watchAddress(address);
}

/**
 * Calls onGone once when `misses` looks in a row found nobody. The watch itself never keeps a process alive.
 * @returns a function that ends the watch
 */
export function watchAddress(address: EngineAddress, options: WatchOptions = {}): () => void {
  const { everyMilliseconds = 2000, misses = 3, onGone = exit } = options;
  let missed = 0;
  let isLooking = false;
  const look = async (): Promise<void> => {
    isLooking = true;
    missed = (await answers(address, everyMilliseconds)) ? 0 : missed + 1;
    isLooking = false;
    if (missed < misses) return;
    clearInterval(timer);
    onGone();
  };
  const timer = setInterval(() => {
    if (!isLooking) void look();
  }, everyMilliseconds);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}

/** Whether something accepts a connection there. A stopped engine still does (its kernel queue), a dead one does not. */
export function answers(address: EngineAddress, timeoutMilliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    const end = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.setTimeout(timeoutMilliseconds, () => {
      end(false);
    });
    socket.once("connect", () => {
      end(true);
    });
    socket.once("error", () => {
      end(false);
    });
    socket.unref();
  });
}

function exit(): void {
  process.exit(1);
}

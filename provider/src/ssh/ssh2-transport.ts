import { setTimeout as delay } from "node:timers/promises";
import type { Client, ClientChannel } from "ssh2";
import type { VllmServerError } from "../core/errors";
import { ChannelSlots } from "./channel-slots";
import { runChannel } from "./exec-channel";
import { commandLate, connectionLost, noSession, refusesCommands } from "./exec-failure";
import { hangUp } from "./hang-up";
import type { ExecOptions, ExecResult, Transport } from "./transport";

/** OpenSSH allows 10 sessions on a connection (MaxSessions); two stay free for the user. */
const MOST_CHANNELS = 8;
/** Pauses of 0.1 to 1.6 s, 3 s together. */
const MOST_REFUSALS = 5;
const FIRST_PAUSE_MILLISECONDS = 50;

/** A Transport that also tells whether it still works. */
export interface Connection extends Transport {
  readonly isOpen: boolean;
}

interface Running {
  readonly channel: ClientChannel;
  readonly result: Promise<ExecResult>;
}

/** One logged-in ssh2 client, and those of the jump hosts it goes through, which end with it. */
export class Ssh2Transport implements Connection {
  readonly #client: Client;
  readonly #jumps: readonly Client[];
  readonly #label: string;
  readonly #slots = new ChannelSlots(MOST_CHANNELS);
  readonly #running = new Set<(error: VllmServerError) => void>();
  #ending: string | null = null;

  constructor(client: Client, jumps: readonly Client[], label: string) {
    this.#client = client;
    this.#jumps = jumps;
    this.#label = label;
    for (const one of [client, ...jumps]) {
      one.on("error", (error) => {
        this.#break(error.message);
      });
      one.once("close", () => {
        this.#break("the connection was closed by the other side");
      });
    }
  }

  get isOpen(): boolean {
    return this.#ending === null;
  }

  async exec(command: string, options: ExecOptions): Promise<ExecResult> {
    for (let refusals = 0; ;) {
      await this.#slots.acquire();
      const place = { isFree: false };
      const free = (): void => {
        if (!place.isFree) this.#slots.release();
        place.isFree = true;
      };
      const end = performance.now() + options.deadlineSeconds * 1000;
      try {
        const running = await this.#open(command, options, end, free);
        if (running !== null) return await this.#bounded(running, options, end);
        // The host lets fewer in than we thought. Alone, it can only be late in counting the last one out.
        const isAlone = !this.#slots.shrink();
        free();
        if (!isAlone) continue;
        refusals += 1;
        if (refusals > MOST_REFUSALS) throw noSession(this.#label);
        await delay(FIRST_PAUSE_MILLISECONDS * 2 ** refusals);
      } catch (error) {
        if (!this.isOpen) free();
        throw error;
      }
    }
  }

  close(): void {
    this.#break("it was closed on this side");
  }

  /** null: the host opens no channel more. */
  async #open(command: string, options: ExecOptions, end: number, free: () => void): Promise<Running | null> {
    let isLate = false;
    const late = (): void => {
      isLate = true;
    };
    const opened = await this.#orLate<Running | Error>(options, end, late, (resolve) => {
      this.#client.exec(command, (error, channel) => {
        if (error !== undefined) {
          if (isLate) free();
          resolve(error);
          return;
        }
        // A command that was given up keeps its place until the host has closed the channel: only then sshd counts it out.
        channel.once("close", free);
        if (isLate) {
          channel.on("error", () => undefined);
          channel.close();
          return;
        }
        // Now, not after an await: the exit may stand in the same packet as the answer to exec.
        resolve({ channel, result: runChannel(channel, options) });
      });
    });
    if (!(opened instanceof Error)) return opened;
    if ("reason" in opened) return null;
    free();
    throw refusesCommands(this.#label, opened.message);
  }

  #bounded({ channel, result: ended }: Running, options: ExecOptions, end: number): Promise<ExecResult> {
    const close = (): void => {
      if (this.isOpen) channel.close();
    };
    void options.enough?.then(close, () => undefined);
    return this.#orLate<ExecResult>(options, end, close, (resolve, reject) => {
      ended.then((result) => {
        // ssh2 closes the channels of a dead connection too; without an exit that was no end of the command.
        if (this.isOpen || result.exitCode !== null || result.signal !== null) resolve(result);
        else reject(connectionLost(this.#label, this.#ending));
      }, reject);
    });
  }

  /** A promise that its deadline rejects too, after `onLate`. */
  #orLate<T>(
    options: ExecOptions,
    end: number,
    onLate: () => void,
    start: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
  ): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    return this.#orBroken<T>(
      (resolve, reject) => {
        timer = setTimeout(() => {
          onLate();
          reject(commandLate(this.#label, options.deadlineSeconds));
        }, end - performance.now());
        start(resolve, reject);
      },
      () => {
        clearTimeout(timer);
      },
    );
  }

  /** A promise that a broken connection rejects, for as long as it is not settled otherwise. */
  async #orBroken<T>(
    start: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
    cleanUp: () => void,
  ): Promise<T> {
    if (!this.isOpen) throw connectionLost(this.#label, this.#ending);
    let fail: (error: VllmServerError) => void = () => undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        fail = reject;
        this.#running.add(fail);
        start(resolve, reject);
      });
    } finally {
      this.#running.delete(fail);
      cleanUp();
    }
  }

  #break(reason: string): void {
    if (this.#ending !== null) return;
    this.#ending = reason;
    for (const fail of [...this.#running]) fail(connectionLost(this.#label, this.#ending));
    for (const one of [this.#client, ...[...this.#jumps].reverse()]) hangUp(one);
  }
}

import { credentials, Metadata } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb.js";
import { type EngineAddress, engineAddress } from "./engine-address";
import { answers } from "./parent-watch";
import { Throttle } from "./throttle";

/** Words on the resource's own line while Pulumi runs. Never fails: what cannot be shown is lost. */
export interface EngineLog {
  /** Replaces what the line says now and is gone afterwards. At most one per 250 ms and resource is sent, the last one always. */
  progress(urn: string, text: string): void;
  /** Stays: on the line, under Diagnostics, in `--json`. Also from diff(), so in `preview`. */
  info(urn: string, text: string): void;
  warning(urn: string, text: string): void;
  /** Resolves when everything said so far was handed over; a hook that returns before may have its last words lost. */
  flush(): Promise<void>;
  /** Whether the CLI that started this operation is still there. Without an engine (tests): true. */
  isReachable(): Promise<boolean>;
}

const THROTTLE_MILLISECONDS = 250;
const REACH_MILLISECONDS = 2000;
const SEND_MILLISECONDS = 5000;

let own: EngineLog | undefined;

/** The log of the engine that started this provider process, one for the whole process. Without an engine everything is a no-op. */
export function engineLog(): EngineLog {
  own ??= engineLogAt(engineAddress());
  return own;
}

export function engineLogAt(address: EngineAddress | null): EngineLog {
  return address === null ? silent : new GrpcEngineLog(address);
}

const silent: EngineLog = {
  progress: () => undefined,
  info: () => undefined,
  warning: () => undefined,
  flush: () => Promise.resolve(),
  isReachable: () => Promise.resolve(true),
};

class GrpcEngineLog implements EngineLog {
  readonly #address: EngineAddress;
  readonly #client: EngineClient;
  readonly #progress: Throttle;
  #lastSent: Promise<void> = Promise.resolve();

  constructor(address: EngineAddress) {
    this.#address = address;
    const host = address.host.includes(":") ? `[${address.host}]` : address.host;
    this.#client = new EngineClient(`${host}:${address.port}`, credentials.createInsecure());
    this.#progress = new Throttle(THROTTLE_MILLISECONDS, (urn, text) => {
      this.#send(urn, text, LogSeverity.INFO, true);
    });
  }

  progress(urn: string, text: string): void {
    this.#progress.push(urn, text);
  }

  info(urn: string, text: string): void {
    this.#progress.flush(urn);
    this.#send(urn, text, LogSeverity.INFO, false);
  }

  warning(urn: string, text: string): void {
    this.#progress.flush(urn);
    this.#send(urn, text, LogSeverity.WARNING, false);
  }

  flush(): Promise<void> {
    this.#progress.flushAll();
    return this.#lastSent;
  }

  isReachable(): Promise<boolean> {
    return answers(this.#address, REACH_MILLISECONDS);
  }

  /** One after the other: the engine handles calls that are made together in any order. */
  #send(urn: string, text: string, severity: LogSeverity, isEphemeral: boolean): void {
    const request = new LogRequest();
    request.setUrn(urn);
    request.setMessage(text);
    request.setSeverity(severity);
    // Stream 0: every message stands for itself; those of another stream would be joined into one text.
    request.setStreamid(0);
    request.setEphemeral(isEphemeral);
    this.#lastSent = this.#lastSent.then(() => this.#hand(request));
  }

  #hand(request: LogRequest): Promise<void> {
    return new Promise((resolve) => {
      this.#client.log(request, new Metadata(), { deadline: Date.now() + SEND_MILLISECONDS }, () => {
        resolve();
      });
    });
  }
}

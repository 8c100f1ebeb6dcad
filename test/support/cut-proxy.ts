import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy on loopback that misbehaves on request; the network between a client and its host. */
export interface CutProxy {
  readonly port: number;
  /** Connections accepted so far. */
  connectionCount(): number;
  /** Breaks every open connection with a reset. New ones still work. */
  cut(): void;
  /** Nothing passes any more, in both directions, and nothing is closed: a dead link. New connections stall too; `false`: they do not. */
  stall(on?: boolean): void;
  /** From now on every new connection is reset at once; `false` accepts again. */
  refuse(on: boolean): void;
  /** Nothing listens on the port any more, and what is open breaks; `false` listens on the same port again. */
  shut(on: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface CutProxyOptions {
  readonly target: { readonly address: string; readonly port: number };
  /** Milliseconds added to every chunk in each direction; 0 by default. */
  readonly delayMilliseconds?: number;
}

export async function startCutProxy(options: CutProxyOptions): Promise<CutProxy> {
  const open = new Set<Socket>();
  let count = 0;
  let isStalled = false;
  let isRefusing = false;

  const server = createServer((near) => {
    count += 1;
    track(near);
    if (isRefusing) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(options.target.port, options.target.address);
    track(far);
    pass(near, far);
    pass(far, near);
  });

  function track(socket: Socket): void {
    open.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => open.delete(socket));
  }

  function pass(from: Socket, to: Socket): void {
    // Timers of the same length fire in order, so chunks stay in order.
    const later = (action: () => void): void => {
      if (options.delayMilliseconds === undefined || options.delayMilliseconds === 0) action();
      else setTimeout(action, options.delayMilliseconds);
    };
    from.on("data", (chunk) => {
      if (!isStalled) later(() => to.writable && to.write(chunk));
    });
    from.on("end", () => {
      if (!isStalled) later(() => to.end());
    });
    from.on("close", () => {
      if (!isStalled) later(() => to.destroy());
    });
  }

  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
  const stopListening = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    cut();
    await closed;
  };
  await listen(0);
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("no port");
  return {
    port: bound.port,
    connectionCount: () => count,
    cut,
    stall: (on = true) => {
      isStalled = on;
    },
    refuse: (on) => {
      isRefusing = on;
    },
    shut: (on) => (on ? stopListening() : listen(bound.port)),
    close: async () => {
      if (server.listening) await stopListening();
    },
  };
}

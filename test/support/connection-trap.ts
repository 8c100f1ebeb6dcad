import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ConnectionTrap {
  /** A home folder whose ~/.ssh/config leads every host here. */
  readonly home: string;
  /** Connections so far. */
  connections(): number;
  close(): void;
}

/** Counts who tries to reach a host, whichever: it answers, but nothing that SSH would take. */
export async function connectionTrap(): Promise<ConnectionTrap> {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.on("error", () => undefined).end("this is no SSH\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const home = realpathSync(mkdtempSync(join(tmpdir(), "trap-")));
  mkdirSync(join(home, ".ssh"), { mode: 0o700 });
  writeFileSync(join(home, ".ssh/config"), `Host *\n  HostName 127.0.0.1\n  Port ${String(port)}\n`);
  return {
    home,
    connections: () => count,
    close: () => {
      server.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

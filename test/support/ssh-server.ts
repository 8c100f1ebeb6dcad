import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ssh2, { type AuthContext, type Connection, type ServerChannel } from "ssh2";
import { makeKey, publicLine, type HostKeyType } from "./sshd.ts";

/** ssh2's server in this process, for what a real sshd will not do on request: passwords without PAM, and faults. */
export interface SshServerOptions {
  readonly user?: string;
  /** Accepted by "password". */
  readonly password?: string;
  /** Questions of "keyboard-interactive" and the answers that are right. */
  readonly questions?: readonly {
    readonly prompt: string;
    readonly echo: boolean;
    readonly answer: string;
  }[];
  /** Methods offered, in the server's words; by default those that can succeed, or "none" alone, which lets everybody in. */
  readonly methods?: readonly ("password" | "keyboard-interactive" | "publickey")[];
  readonly hostKeyType?: HostKeyType;
  /** Runs in place of a command; by default it ends with 0 and says nothing. */
  readonly onCommand?: (command: string, channel: ServerChannel, connection: Connection) => void;
  /** Never answers a request to forward, as one to an address where nothing answers. */
  readonly stallsForwards?: boolean;
  /** More session channels at once than this are refused, as sshd's MaxSessions does. */
  readonly maxSessions?: number;
}

export interface SshServer {
  readonly address: string;
  readonly port: number;
  readonly user: string;
  readonly knownHostsPath: string;
  readonly hostKeyLine: string;
  connectionCount(): number;
  openConnections(): number;
  commands(): readonly string[];
  /** Most session channels that were open at the same time. */
  mostChannels(): number;
  /** Breaks every connection. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startSshServer(options: SshServerOptions = {}): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), "ssh-server-"));
  const keyPath = makeKey(folder, "host", options.hostKeyType ?? "ed25519");
  const user = options.user ?? "tester";
  const connections = new Set<Connection>();
  const commands: string[] = [];
  let connectionCount = 0;
  let openChannels = 0;
  let mostChannels = 0;

  const server = new ssh2.Server({ hostKeys: [readFileSync(keyPath)] }, (connection) => {
    connectionCount += 1;
    connections.add(connection);
    connection.on("error", () => undefined);
    connection.on("close", () => connections.delete(connection));
    connection.on("authentication", (context) => {
      authenticate(context, user, options);
    });
    if (options.stallsForwards === true) connection.on("tcpip", () => undefined);
    connection.on("session", (accept, reject) => {
      if (openChannels >= (options.maxSessions ?? Infinity)) {
        reject();
        return;
      }
      openChannels += 1;
      mostChannels = Math.max(mostChannels, openChannels);
      const session = accept();
      session.on("close", () => (openChannels -= 1));
      session.on("exec", (acceptExec, _reject, info) => {
        commands.push(info.command);
        const channel = acceptExec();
        channel.on("error", () => undefined);
        (options.onCommand ?? endAtOnce)(info.command, channel, connection);
      });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("no port");
  const knownHostsPath = join(folder, "known_hosts");
  writeFileSync(knownHostsPath, `[127.0.0.1]:${String(bound.port)} ${publicLine(keyPath)}\n`);
  const cut = (): void => {
    for (const connection of connections) connection.end();
  };
  return {
    address: "127.0.0.1",
    port: bound.port,
    user,
    knownHostsPath,
    hostKeyLine: publicLine(keyPath),
    connectionCount: () => connectionCount,
    openConnections: () => connections.size,
    commands: () => commands,
    mostChannels: () => mostChannels,
    cut,
    stop: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      cut();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function endAtOnce(_command: string, channel: ServerChannel): void {
  channel.exit(0);
  channel.end();
}

function authenticate(context: AuthContext, user: string, options: SshServerOptions): void {
  const possible = [
    ...(options.password === undefined ? [] : ["password" as const]),
    ...(options.questions === undefined ? [] : ["keyboard-interactive" as const]),
  ];
  const methods = [...(options.methods ?? possible)];
  const refuse = (): void => {
    context.reject(methods);
  };
  if (context.username !== user) refuse();
  else if (context.method === "none" && methods.length === 0) context.accept();
  else if (context.method === "password" && context.password === options.password) context.accept();
  else if (context.method === "keyboard-interactive" && options.questions !== undefined) {
    const questions = options.questions;
    context.prompt([...questions.map(({ prompt, echo }) => ({ prompt, echo }))], (answers) => {
      if (questions.every(({ answer }, index) => answers[index] === answer)) context.accept();
      else refuse();
    });
  } else refuse();
}

/** Where Pulumi's engine listens: `host:port`. */
export interface EngineAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * The engine that started this provider process, from the process's last argument; null in any other process.
 * Source: @pulumi/pulumi 3.276 cmd/dynamic-provider/index.js main(), whose arguments end with the engine's address.
 */
export function engineAddress(argv: readonly string[] = process.argv): EngineAddress | null {
  const match = /^(127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})$/.exec(argv.at(-1) ?? "");
  const [, host, port] = match ?? [];
  if (host === undefined || port === undefined) return null;
  return { host: host === "[::1]" ? "::1" : host, port: Number(port) };
}

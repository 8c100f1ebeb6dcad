import { VllmServer } from "pulumi-vllm";
import { declaredServers } from "./declared-servers";

const servers = declaredServers().map(([name, args]) => ({
  name,
  server: new VllmServer(name, args),
}));

/** Base of the OpenAI API per server, as seen on its host. */
export const baseUrls = Object.fromEntries(servers.map(({ name, server }) => [name, server.baseUrl]));

/** The ssh command per server that brings its port to this machine; null where it listens elsewhere than loopback. */
export const tunnelCommands = Object.fromEntries(
  servers.map(({ name, server }) => [name, server.tunnelCommand]),
);

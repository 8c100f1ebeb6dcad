import { VllmServer } from "pulumi-vllm";
import { machines } from "./machines";
import { roles } from "./roles";

const servers = machines.map(({ host, role, overrides = {} }) => {
  const inputs = roles[role];
  const engine = { ...inputs.engine, ...overrides };
  // By its machine, not by its role: a new name would be a new server, started while the old one still holds the GPUs.
  return { role, server: new VllmServer(host, { ...inputs, host, engine }) };
});

/** Where each server answers on its host, by its role. */
export const baseUrls = Object.fromEntries(
  Object.keys(roles).map((name) => [
    name,
    servers.filter(({ role }) => role === name).map(({ server }) => server.baseUrl),
  ]),
);

/** The ssh command that brings each to your machine; null where other machines can reach it anyway. */
export const tunnelCommands = servers.map(({ server }) => server.tunnelCommand);

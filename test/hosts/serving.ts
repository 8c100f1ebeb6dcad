import { eventually } from "../support/eventually";
import { isApiServer, type Fleet } from "./fleet";
import type { SiteProcess } from "./site";

/** Resolves with the API server of another process start than that of `former`, once it answers. */
export function servingAgain(fleet: Fleet, name: string, former: number | null): Promise<SiteProcess> {
  return eventually(`another process of ${name} answers`, async () => {
    const apiServer = fleet.processes(name).find(isApiServer);
    if (apiServer === undefined || apiServer.pid === former) return null;
    return (await fleet.site(name).get(fleet.port(name), "/health")) === null ? null : apiServer;
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${fleet.site(name).journal()}`);
  });
}

export function apiServerOf(fleet: Fleet, name: string): SiteProcess {
  const found = fleet.processes(name).find(isApiServer);
  if (found === undefined) throw new Error(`no API server of ${name} runs`);
  return found;
}

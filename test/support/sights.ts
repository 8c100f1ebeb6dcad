import type { Others, ServerQuery } from "../../provider/src/remote/protocol";
import { secretHashes } from "../../provider/src/remote/secret-hash";
import type { Sight } from "../../provider/src/remote/sight";
import { launch, observed, runningServer, SERVER_ID } from "./host-facts";

/** A look at a host that told of one server nobody had asked for, and a query that it answers. */

const SALT = "5a17";
const { host, gpus, gpuError } = observed();
const running = runningServer({ launch, overlay: null, warnings: [], kvCacheAuto: null });
const found = { found: true as const, path: "/opt/vllm/bin/vllm", version: "0.32.0" };

export const query: ServerQuery = {
  serverId: SERVER_ID,
  urn: "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/vllm:VllmServer::kimi",
  executable: null,
  checkpointPath: "/models/kimi",
  listen: { address: "127.0.0.1", port: 8000 },
  secretEnvironment: { VLLM_API_KEY: "k" },
};

const others: Others = {
  servers: [
    { serverId: SERVER_ID, secretHashes: secretHashes(query.secretEnvironment, SALT), server: running },
  ],
  executables: [
    { wish: null, seen: found },
    { wish: "/home/ann/v/bin/vllm", seen: { ...found, path: "/home/ann/v/bin/vllm" } },
  ],
  checkpoints: [
    { found: false, path: "/home/ann/models/kimi", reason: "it does not exist" },
    { found: true, path: "/models/kimi", files: {}, weightFiles: 1, weightBytes: 5 },
  ],
  ports: [{ address: "127.0.0.1", port: 8000, seen: { free: true } }],
};

export function sight(parts: Partial<Others> = {}): Sight {
  return { observation: { host, gpus, gpuError, servers: [] }, others: { ...others, ...parts }, salt: SALT };
}

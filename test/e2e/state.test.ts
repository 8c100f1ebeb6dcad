import { readFileSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { freePort } from "../support/free-port";

const API_KEY = "sk-4f1d-never-in-plain-sight";
const VARIABLE = "hf_never-in-plain-sight-either";

let bed: GpuHost;
let everythingPrinted = "";

beforeAll(async () => {
  bed = await gpuHost();
  await bed.declare({
    secretive: {
      model: { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA }) },
      vllm: { executable: bed.executable },
      listen: { port: await freePort("127.0.0.1") },
      apiKey: API_KEY,
      environment: { HF_TOKEN: VARIABLE },
    },
  });
  const up = await bed.project.up();
  everythingPrinted = up.stdout + up.stderr;
  expect(up.code).toBe(0);
});

afterAll(async () => {
  await bed.close();
});

describe("secrets", () => {
  const secrets = [API_KEY, VARIABLE, "OPENSSH PRIVATE KEY"];

  it("are ciphertext in the state and absent from what was printed", async () => {
    const state = JSON.stringify(await bed.project.stackExport());
    for (const secret of secrets) {
      expect(state).not.toContain(secret);
      expect(everythingPrinted).not.toContain(secret);
    }
  });

  it("are in no command line and in no log of the host, and in one file that only its owner can read", async () => {
    const lines = bed
      .processes()
      .map(({ command }) => command)
      .join("\n");
    const logPath = String((await bed.project.servers())[0]?.outputs?.["logPath"]);
    const folder = join(logPath, "../..");
    for (const secret of secrets) {
      expect(lines).not.toContain(secret);
      expect(readFileSync(logPath, "utf8")).not.toContain(secret);
    }
    const holding = [];
    for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      if ((await readFile(path, "utf8")).includes(API_KEY)) holding.push(entry.name);
    }
    expect(holding).toEqual(["secrets.json"]);
  });

  it("guard the API: without the key there is no answer", async () => {
    const { baseUrl } = (await bed.project.servers())[0]?.outputs ?? {};
    const models = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${String(baseUrl)}/models`, { headers });
    expect((await models({})).status).toBe(401);
    expect((await models({ authorization: `Bearer ${API_KEY}` })).status).toBe(200);
  });
});

describe("the state of one server", () => {
  it("with a private key written into it is at most 8 KB", async () => {
    const resource = (await bed.project.servers())[0];
    expect(resource?.outputs).toMatchObject({ status: "ready" });
    expect(JSON.stringify(resource).length).toBeLessThanOrEqual(8192);
  });

  it("that is reached through ~/.ssh/config is at most 6 KB, the provider's text in it at most 1 KB", async () => {
    const sshConfigFile = join(bed.folder, "ssh_config");
    writeFileSync(
      sshConfigFile,
      [
        "Host gpu1",
        `  HostName ${bed.sshd.address}`,
        `  Port ${String(bed.sshd.port)}`,
        `  User ${bed.sshd.user}`,
        `  IdentityFile ${bed.sshd.privateKeyPath}`,
        `  UserKnownHostsFile ${bed.sshd.knownHostsPath}`,
        "",
      ].join("\n"),
    );
    await bed.declare({
      alias: {
        host: { host: "gpu1", sshConfigFile },
        model: { path: join(bed.folder, "tiny") },
        vllm: { executable: bed.executable },
        engine: {
          maxModelLen: 128,
          gpuMemoryUtilization: 0.9,
          tensorParallelSize: 2,
          servedModelName: ["a"],
        },
        listen: { port: await freePort("127.0.0.1") },
        apiKey: API_KEY,
        environment: { HF_TOKEN: VARIABLE },
      },
    });
    expect((await bed.project.up()).code).toBe(0);
    const resource = (await bed.project.servers())[0];
    expect(resource?.outputs).toMatchObject({ status: "ready" });
    expect(JSON.stringify(resource).length).toBeLessThanOrEqual(6144);
    expect(String(resource?.inputs?.["__provider"]).length).toBeLessThanOrEqual(1024);
  });
});

import * as pulumi from "@pulumi/pulumi";
import { VllmServer } from "pulumi-vllm";
import { GpuHost } from "pulumi-vllm/gpu-host";

const config = new pulumi.Config();

const gpu = new GpuHost("gpu1", {
  connection: {
    host: config.require("address"),
    user: "ubuntu",
    privateKey: config.requireSecret("privateKey"),
    hostKey: config.require("hostKey"),
  },
  driver: { minimum: "570" },
  user: { name: "vllm", authorizedKeys: [config.require("publicKey")] },
});

// Its host makes the server wait until the machine is ready.
const server = new VllmServer("llm", {
  host: gpu.host,
  model: { path: config.require("modelPath") },
  vllm: { version: "0.32.0" },
  engine: { servedModelName: ["llm"], maxModelLen: 8192 },
});

/** Base of the OpenAI API, as seen on the host. */
export const baseUrl = server.baseUrl;

/** Version of the NVIDIA driver, as last looked at. */
export const driverVersion = gpu.driverVersion;

import * as pulumi from "@pulumi/pulumi";
import { VllmServer } from "pulumi-vllm";

const config = new pulumi.Config();

const server = new VllmServer("llm", {
  host: config.require("host"),
  model: { path: config.require("modelPath") },
  engine: { servedModelName: ["llm"], maxModelLen: 8192 },
});

/** Base of the OpenAI API, as seen on the host. */
export const baseUrl = server.baseUrl;

/** The server listens on its host's loopback: this brings it to your machine. */
export const tunnelCommand = server.tunnelCommand;

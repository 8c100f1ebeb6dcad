import * as pulumi from "@pulumi/pulumi";
import { VllmServer } from "pulumi-vllm";

const config = new pulumi.Config();
const host = config.require("host");

/** Two of the host's GPUs; which ones, is decided when it starts, from those that are free, and kept. */
const chat = new VllmServer("chat", {
  host,
  model: { path: config.require("chatModelPath") },
  engine: { servedModelName: ["chat"], tensorParallelSize: 2, maxModelLen: 8192 },
  listen: { port: config.requireNumber("chatPort") },
});

/** Half of a GPU would be enough, but a server that shares one fails when the other one grows: each has its own. */
const embed = new VllmServer("embed", {
  host,
  model: { path: config.require("embedModelPath") },
  engine: { servedModelName: ["embed"], runner: "pooling" },
  listen: { port: config.requireNumber("embedPort") },
});

/** Bases of the OpenAI API, as seen on the host. */
export const baseUrls = { chat: chat.baseUrl, embed: embed.baseUrl };

/** What brings each to your machine. */
export const tunnelCommands = { chat: chat.tunnelCommand, embed: embed.tunnelCommand };

/** The GPUs that each one has; no GPU is in both. */
export const gpus = { chat: chat.gpuUuids, embed: embed.gpuUuids };

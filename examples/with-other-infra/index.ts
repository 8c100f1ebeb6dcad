import * as pulumi from "@pulumi/pulumi";
import { VllmServer } from "pulumi-vllm";
import { NginxUpstream } from "./nginx-upstream";

const config = new pulumi.Config();

// One key for all of them: the load balancer passes on what a client sends. Other machines reach the servers, so they need one.
const apiKey = config.requireSecret("apiKey");

const servers = config.requireObject<string[]>("hosts").map(
  (host, index) =>
    new VllmServer(`llm-${index + 1}`, {
      host,
      model: { path: config.require("modelPath") },
      engine: { servedModelName: ["llm"], maxModelLen: 8192 },
      listen: { address: config.require("listenAddress"), port: config.requireNumber("port") },
      apiKey,
    }),
);

// `baseUrl` makes the load balancer wait for the servers: when it changes, they have answered.
const balancer = new NginxUpstream("llm", {
  file: config.require("balancerFile"),
  servers: servers.map((server) => server.baseUrl.apply((url) => new URL(url).host)),
});

export const baseUrls = servers.map((server) => server.baseUrl);
export const balancerFile = balancer.file;

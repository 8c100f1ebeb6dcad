export { VllmServer } from "./pulumi/server";
export type {
  ListenArgs,
  ModelArgs,
  ReadinessArgs,
  RestartArgs,
  ServiceArgs,
  TimeoutArgs,
  VllmArgs,
  VllmServerArgs,
} from "./pulumi/args";
export type { EngineArgs } from "./pulumi/engine-args";
export type { HostArgs, ProxyArgs } from "./pulumi/host-args";

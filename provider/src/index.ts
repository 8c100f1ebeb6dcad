export { VllmServer } from "./pulumi/server";
export type {
  ListenArgs,
  LogArgs,
  ModelArgs,
  OnDeleteArgs,
  ReadinessArgs,
  RestartArgs,
  ServiceArgs,
  TimeoutArgs,
  UpdateArgs,
  VllmArgs,
  VllmServerArgs,
} from "./pulumi/args";
export type { EngineArgs, InputObject } from "./pulumi/engine-args";
export type { HostArgs, ProxyArgs } from "./pulumi/host-args";

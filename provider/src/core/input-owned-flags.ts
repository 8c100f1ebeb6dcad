/** What to write instead of a flag that this provider sets itself or cannot carry yet. */
interface OwnedFlag {
  readonly flag: RegExp;
  readonly instead: string;
}

const oneMachine = "nothing: servers over several machines are not supported yet";
const noTls = "nothing: HTTPS of vLLM itself is not supported yet, put a proxy in front";
const ourProof = "nothing: it is how readiness proves that the right server answered";
const onlyPrints = "nothing: vLLM would print a text and end";
const ownSupervisor = "nothing: it would start servers that this provider does not see";

/** Flags that extraArgs refuses. Names: vLLM 0.32.0 `vllm serve` parser. */
const OWNED_FLAGS: readonly OwnedFlag[] = [
  { flag: /^model(-tag)?$/, instead: "model" },
  { flag: /^config$/, instead: "engine and extraArgs, the file is written from them" },
  { flag: /^host$/, instead: "listen.address" },
  { flag: /^port$/, instead: "listen.port" },
  { flag: /^(h|help|v|version)$/, instead: onlyPrints },
  { flag: /^uds$/, instead: "listen: a Unix socket is not supported yet" },
  { flag: /^grpc(-port)?$/, instead: "nothing: a gRPC server cannot be asked for readiness yet" },
  { flag: /^api-key$/, instead: "apiKey" },
  { flag: /^hf-token$/, instead: "environment.HF_TOKEN" },
  { flag: /^kv-cache-dtype$/, instead: "kvCacheDtype" },
  { flag: /^device-ids$/, instead: "gpus" },
  { flag: /^fingerprint-(mode|value)$/, instead: ourProof },
  { flag: /^(headless|nnodes|node-rank|master-addr|master-port)$/, instead: oneMachine },
  {
    flag: /^data-parallel-(rank|start-rank|size-local|address|rpc-port|hybrid-lb|external-lb)$/,
    instead: oneMachine,
  },
  { flag: /^data-parallel-(multi-port-external-lb|supervisor-port)$/, instead: ownSupervisor },
  { flag: /^dp-supervisor-/, instead: ownSupervisor },
  { flag: /^(ssl-.*|enable-ssl-refresh)$/, instead: noTls },
];

/** What to write instead of this flag; null: it may be given. */
export function insteadOfFlag(flag: string): string | null {
  return OWNED_FLAGS.find((row) => row.flag.test(flag))?.instead ?? null;
}

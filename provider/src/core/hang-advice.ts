import type { Phase } from "./log-phase-rows";

interface HangAdvice {
  /** Of the last line that told of one; null: none did yet. */
  readonly phases: readonly (Phase | null)[];
  /** What usually helps there: our inputs, what to do on the host. */
  readonly change: string;
  readonly source: string;
}

const BEFORE_THE_ENGINE: HangAdvice = {
  phases: [null, "importing", "configuring", "starting engine"],
  change:
    "host: look whether `nvidia-smi` answers (the first call to a GPU that hangs waits for ever) and whether the file systems of vLLM's environment, " +
    "of the home folder and of the model do (`ls`, `df`); with several nodes, start the others too",
  source:
    "proc(5), state D; vLLM 0.32.0 v1/engine/utils.py wait_for_engine_startup; Project-HAMi/HAMi-core issue 261",
};

/** What usually helps a start that hangs, by how far it came. Every phase stands in one row. */
const ADVICE: readonly HangAdvice[] = [
  BEFORE_THE_ENGINE,
  {
    phases: ["connecting workers"],
    change:
      'environment.NCCL_DEBUG: "INFO" shows where; environment.NCCL_P2P_DISABLE: "1" where GPUs have no working way to each other (PCIe ACS, IOMMU); ' +
      'extraArgs["disable-custom-all-reduce"]: true; with several networks environment.NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME; with several nodes, ' +
      "start the others too and open the ports between them",
    source: "vllm-project/vllm issues 2466, 8058, 12292, 58290; vLLM 0.32.0 distributed/parallel_state.py",
  },
  {
    phases: ["reading files", "loading weights"],
    change:
      'host: look whether the file system of the model answers (`ls`, reading one file of it); extraArgs["safetensors-load-strategy"]: "prefetch" or "eager" ' +
      "where it is a network file system, or model.cacheDir on a local disk",
    source: "vllm-project/vllm pull requests 24469, 39422, issue 40988",
  },
  {
    phases: ["weights loaded", "compiling"],
    change:
      "engine.enforceEager: true tells whether it is the compiler; host: a build that was killed leaves lock files for which the next one waits for ever, remove them " +
      'while nothing is built (~/.cache/flashinfer, ~/.cache/torch_extensions); extraArgs["safetensors-load-strategy"]: "prefetch" where weights are still read',
    source:
      "vllm-project/vllm issues 15360, 40988, 41865; flashinfer-ai/flashinfer issue 972; pytorch/pytorch issue 189245",
  },
  {
    phases: ["profiling memory", "sizing KV cache", "warming up"],
    change:
      'extraArgs["disable-custom-all-reduce"]: true or environment.NCCL_P2P_DISABLE: "1" where several GPUs wait for each other, environment.NCCL_DEBUG: "INFO" shows where; ' +
      "host: lock files of a build that was killed (~/.cache/flashinfer, ~/.cache/torch_extensions)",
    source: "vllm-project/vllm issues 4277, 41865, 53894; pytorch/pytorch issue 189245",
  },
  {
    phases: ["capturing piecewise graphs", "capturing full graphs"],
    change:
      'engine.enforceEager: true (no CUDA graphs), or extraArgs["disable-custom-all-reduce"]: true; a newer vllm.version',
    source: "vllm-project/vllm issues 5854, 17167, 39010, 52682",
  },
  {
    phases: ["graphs captured", "engine ready", "starting API server", "API server up"],
    change:
      'engine.enforceEager: true, or extraArgs["disable-custom-all-reduce"]: true where several GPUs wait for each other: the first step of the engine hangs; ' +
      "readiness.probe where that request never fits this model",
    source: "vllm-project/vllm issues 2731, 2770, 27313",
  },
];

/** @param phase of the last line of the log that told of one; null: none did. */
export function hangAdvice(phase: Phase | null): string {
  return (ADVICE.find(({ phases }) => phases.includes(phase)) ?? BEFORE_THE_ENGINE).change;
}

import type { CauseRule } from "../rule";
import { error, proof, symptom } from "../signs";

export const LIFE_CYCLE_RULES: readonly CauseRule[] = [
  {
    cause: "ENGINE_READY_TIMEOUT",
    summary: ["the API server gave up waiting for the engine"],
    change: [
      'environment.VLLM_ENGINE_READY_TIMEOUT_S higher (vLLM 0.14 and later; before it was 600 s: vllm.version newer), or load faster: local disk, extraArgs["safetensors-load-strategy"] (--safetensors-load-strategy)',
    ],
    signs: [
      proof(
        /Timed out waiting for engines to send ?initial message/,
        "vllm 0.8 to 0.13 v1/engine/core_client.py",
      ),
      proof(/Timed out waiting for engine core processes to start/, "vllm 0.14 to 0.33 v1/engine/utils.py"),
      error(/Did not receive response from front-end process within/, "vllm 0.10 to 0.33 v1/engine/core.py"),
      error(/failed to report ZMQ addresses within timeout/, "vllm 0.32.0 v1/engine/coordinator.py"),
    ],
  },
  {
    cause: "ENGINE_STEP_TIMEOUT",
    summary: ["a worker hung: the call {rpc} timed out", "a worker hung, a step of the engine timed out"],
    change: [
      'start again; environment.VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS only when a step may really take that long; else try without engine.speculativeConfig (--speculative-config), with environment.NCCL_P2P_DISABLE: "1" or extraArgs["disable-custom-all-reduce"]: true (--disable-custom-all-reduce)',
    ],
    retryable: true,
    signs: [
      proof(/RPC call to (?<rpc>\w+) timed out/, "vllm 0.9 to 0.33 v1/executor/multiproc_executor.py"),
      proof(/Engine iteration timed out/, "vllm 0.4 to 0.8 engine/async_llm_engine.py"),
      proof(/execute_model timed out/, "vllm 0.8 v1/executor"),
    ],
  },
  {
    cause: "CUDA_ILLEGAL_ACCESS",
    summary: ["a kernel crashed (illegal memory access)"],
    change: [
      "vllm.version: another (newer) one, engine.attentionBackend (--attention-backend), or engine.enforceEager: true (--enforce-eager)",
    ],
    retryable: true,
    signs: [
      error(/an illegal memory access was encountered/, "CUDA error 700"),
      error(/CUDA_ERROR_ILLEGAL_ADDRESS/, "CUDA driver"),
      error(/an illegal instruction was encountered/, "CUDA error 715"),
      error(/misaligned address/, "CUDA error 716"),
      error(/device-side assert triggered/, "CUDA error 710"),
    ],
  },
  {
    cause: "TERMINATED_BY_SIGNAL",
    summary: ["it was ended from outside (SIGTERM or SIGINT)"],
    change: [
      "host: find who ends it: a probe, a supervisor, or the end of the login session (loginctl enable-linger); start again",
    ],
    retryable: true,
    signs: [
      symptom(/trigger received signal=SIG(?:TERM|INT)/, "vllm 0.20 to 0.33 v1/engine/core.py", {
        isBestEvidence: true,
      }),
      symptom(/KeyboardInterrupt: terminated/, "vllm 0.6 to 0.33 entrypoints"),
      symptom(/^KeyboardInterrupt$/, "Python"),
      symptom(/Received signal (?:SIGTERM|SIGINT|15|2)\b/, "supervisors"),
      symptom(/Received SIGTERM/, "supervisors, torchrun"),
      symptom(/^Terminated$/, "sh"),
    ],
  },
];

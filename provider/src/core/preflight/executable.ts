import type { Finding } from "../finding";
import type { Observed } from "../observed";
import type { Spec } from "../spec";

export function executableFindings({ vllm }: Spec, { executable }: Observed): readonly Finding[] {
  if (executable?.found === true || vllm.kind === "environment") return [];
  const reason = executable?.found === false ? executable.reason : "it was not looked for";
  return [
    {
      severity: "error",
      code: "VLLM_NOT_FOUND",
      summary: `no vLLM on the host (${reason})`,
      path: "vllm.executable",
      change:
        vllm.executable === null
          ? 'vllm.executable: "/path/of/venv/bin/vllm"   (or put vllm on the PATH of the login shell)'
          : "vllm.executable",
    },
  ];
}

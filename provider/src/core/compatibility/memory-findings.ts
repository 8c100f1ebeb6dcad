import { countText } from "../amount-text";
import type { Finding } from "../finding";
import type { MemoryFit, MemoryQuestion } from "./memory-fit";

const GIB = 1024 ** 3;

/** An estimate in words: "error" where weights cannot fit, "warning" where the longest request likely does not, else a "note". */
export function memoryFindings(fit: MemoryFit, question: MemoryQuestion): readonly Finding[] {
  const { weightBytesPerGpu: weights, kvTokens, largestMaxModelLen: largest, maxModelLen: length } = fit;
  if (fit.verdict === "unknown" || weights === null) return [];
  const memory = gibText(smallestBytes(question));
  const part = `${gibText(weights)} GiB of weights on each GPU`;
  if (fit.verdict === "impossible") {
    return [
      {
        severity: "error",
        code: "GPU_MEMORY_TOO_SMALL",
        summary: `about ${part} of ${memory} GiB, of which engine.gpuMemoryUtilization takes ${String(question.utilization)}`,
        change:
          "engine.tensorParallelSize   (more GPUs, larger ones, or a checkpoint that is quantized further)",
        path: "engine.tensorParallelSize",
        retryable: false,
      },
    ];
  }
  if (fit.verdict === "unlikely") {
    const room = largest === null || largest < 1 ? "nothing" : `${countText(largest)} tokens`;
    const isGiven = typeof question.maxModelLen === "number";
    return [
      {
        severity: "warning",
        code: "GPU_MEMORY_TOO_SMALL",
        summary: `about ${part} of ${memory} GiB leave ${room} of KV cache, need ${length === null ? "some" : countText(length)} for the longest request (an estimate)`,
        change:
          largest === null || largest < 1
            ? "engine.tensorParallelSize, or engine.gpuMemoryUtilization"
            : `engine.maxModelLen: ${String(largest)}   (or more GPUs, or engine.gpuMemoryUtilization)`,
        path: isGiven ? "engine.maxModelLen" : "engine",
      },
    ];
  }
  if (kvTokens === null) return [];
  const atOnce =
    length === null || length === 0
      ? ""
      : `, ${countText(kvTokens / length, 1)} requests of ${countText(length)} at once`;
  return [
    {
      severity: "note",
      code: "GPU_MEMORY_ESTIMATE",
      summary: `about ${part}, and ${roundText(kvTokens)} tokens of KV cache${atOnce} (an estimate)`,
    },
  ];
}

function smallestBytes({ gpus }: MemoryQuestion): number {
  return Math.min(...gpus.map(({ memoryTotalMib }) => memoryTotalMib)) * 1024 ** 2;
}

function gibText(bytes: number): string {
  return (bytes / GIB).toFixed(1);
}

/** Two digits: more would promise too much. */
function roundText(tokens: number): string {
  return countText(Number(tokens.toPrecision(2)));
}

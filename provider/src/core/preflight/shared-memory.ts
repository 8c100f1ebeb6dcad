import type { Finding } from "../finding";
import { gpusNeeded } from "../identity";
import { isBefore, majorMinor } from "../kv-cache-situation";
import type { Observed } from "../observed";
import type { Spec } from "../spec";

const MIB = 1024 ** 2;

/**
 * The queue that each worker answers with: 10 chunks of 24 MiB. Before it is made vLLM asks for so much room that is free, though it
 * takes it only as it is written to.
 * Source: vLLM 0.32.0 distributed/device_communicators/shm_broadcast.py MessageQueue, ShmRingBuffer, check_shm_free_space.
 */
const QUEUE_BYTES = 10 * 24 * MIB;

/** Source: vllm-project/vllm pull request 48879, in 0.27.0. */
const CHECKS_SINCE = [0, 27] as const;

/** Several workers of one engine talk through /dev/shm. */
export function sharedMemoryFindings(spec: Spec, observed: Observed): readonly Finding[] {
  const { host, server, executable } = observed;
  const workers = gpusNeeded({ ...spec.engine, dataParallelSize: 1 }, spec.extraArgs);
  const backend = spec.engine["distributedExecutorBackend"] ?? "mp";
  if (workers < 2 || backend !== "mp" || host.shmTotalBytes === null) return [];
  // What the running server holds it gives back before the start.
  const roomBytes = server.processes.length > 0 ? host.shmTotalBytes : host.shmFreeBytes;
  if (roomBytes >= QUEUE_BYTES) return [];
  const version = majorMinor(executable?.found === true ? executable.version : null);
  const isRefused = version !== null && !isBefore(version, CHECKS_SINCE);
  const found = `/dev/shm has ${mebibytes(roomBytes)} free of ${mebibytes(host.shmTotalBytes)}, and ${String(workers)} workers need ${mebibytes(QUEUE_BYTES)} for a queue`;
  return [
    {
      severity: isRefused ? "error" : "warning",
      code: "SHM_TOO_SMALL",
      summary: isRefused ? found : `${found}: under load they die of a bus error`,
      change:
        "on the host: sudo mount -o remount,size=8G /dev/shm   (of a container: --shm-size 8g, or --ipc=host; or free what is left in it)",
    },
  ];
}

function mebibytes(bytes: number): string {
  return `${String(Math.floor(bytes / MIB))} MiB`;
}

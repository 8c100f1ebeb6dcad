import type { Finding } from "../finding";
import type { GpuSeen, Machine } from "../observed";
import { clockFindings, type Moment } from "./clock";
import { gpuFaultFindings } from "./gpu-faults";
import { gpuModeFindings } from "./gpu-modes";

/**
 * What speaks against any start on a machine, whatever is to be started.
 * @param used the GPUs of it that it is about.
 * @param asked when the host was looked at; null: clocks are not compared.
 */
export function machineFindings(
  machine: Machine,
  used: readonly GpuSeen[],
  asked: Moment | null,
): readonly Finding[] {
  return [
    ...gpuModeFindings(used),
    ...gpuFaultFindings(used, machine),
    ...clockFindings(machine.host.clockSeconds, asked),
  ];
}

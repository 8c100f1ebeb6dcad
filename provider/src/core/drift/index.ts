export { accident } from "./accident";
export { UNSETTLED, type Believed } from "./declared-drift";
export { driftLine, type Drift } from "./drift";
export { driftOf } from "./drift-of";
export { foundInputs, reachedInputs } from "./found-inputs";
export {
  declaredHash,
  isDriftInInputs,
  readDrift,
  recordedDrift,
  type RecordedDrift,
} from "./recorded-drift";
export { untoldIn } from "./shown-value";
export { recovery, takenOver } from "./status-drift";

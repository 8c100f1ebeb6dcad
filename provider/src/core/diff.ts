export { describeDiff, diffContext, type DiffContext } from "./diff-describe";
export { diffInputs, type HostIdentities, type InputDiff } from "./diff-inputs";
export type { Change } from "./diff-compare";

export { patchCheckpoint } from "./patch-checkpoint";
export type { OverrideForms, PatchRejectionCode, PatchResult } from "./patch-result";

export { patchCheckpoint } from "./patch-checkpoint";
export type { PatchRejectionCode, PatchResult } from "./patch-result";

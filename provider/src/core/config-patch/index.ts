export { patchCheckpoint } from "./patch-checkpoint";
export type { FileChange, PatchRejectionCode, PatchResult } from "./patch-result";

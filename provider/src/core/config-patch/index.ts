export { patchCheckpoint } from "./patch-checkpoint";
export type { FileChange, PatchInput, PatchRejectionCode, PatchResult, PatchWarning } from "./patch-result";

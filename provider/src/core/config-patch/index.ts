export { patchCheckpoint } from "./patch-checkpoint";
export type { PatchResult } from "./patch-result";

export type { Moment } from "./clock";
export { flagFindings } from "./flags";
export { preflight } from "./preflight";
export { refusal } from "./refusal";

export { describeDiff, describeDrift, diffContext, type DiffContext } from "./diff-describe";
export { diffInputs } from "./diff-inputs";

export { describeDiff, diffContext, type DiffContext } from "./diff-describe";
export { diffInputs } from "./diff-inputs";

export { describeDiff, describeDrift, describeRename, diffContext, type DiffContext } from "./diff-describe";
export { diffInputs } from "./diff-inputs";

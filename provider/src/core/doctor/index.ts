export { surveyFindings } from "./findings";
export { surveyFacts } from "./rows";

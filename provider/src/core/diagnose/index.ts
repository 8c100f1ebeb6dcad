export { type Diagnosis, type DiagnosisInput, diagnose, explain } from "./diagnose";
export { fatalPatterns } from "./fatal-patterns";

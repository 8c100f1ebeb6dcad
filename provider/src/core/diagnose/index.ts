export { type Diagnosis, type DiagnosisInput, diagnose } from "./diagnose";
export { fatalPatterns } from "./fatal-patterns";

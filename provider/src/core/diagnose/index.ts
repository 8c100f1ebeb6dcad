export { type Diagnosis, diagnose } from "./diagnose";
export { fatalPatterns } from "./fatal-patterns";
export { readLogLine } from "./log-line";

export { type Diagnosis, diagnose, LogReading } from "./diagnose";
export { fatalPatterns } from "./fatal-patterns";
export { readLogLine } from "./log-line";

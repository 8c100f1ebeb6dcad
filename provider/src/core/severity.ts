/** "error": a start is certain to fail, and nothing is stopped or started. "warning": it may fail. "note": worth knowing. */
export type Severity = "error" | "warning" | "note";

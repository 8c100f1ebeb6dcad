/** What is found that is no way of an operation to fail by itself. Match on these, never on text. */
export const FINDING_CODES = [
  "FLAG_DEPRECATED",
  "KV_DTYPE_REFUSED",
  "KV_DTYPE_UNKNOWN_TO_VERSION",
  "KV_DTYPE_DECIDED_BY_MODEL",
  "KV_DTYPE_NOT_SUPPORTED",
  "KV_DTYPE_NOT_THE_MODELS",
  "KV_SCHEME_REFUSED",
  "KV_REQUEST_NOT_KNOWN",
  "QUANTIZATION_REFUSED",
  "OVERRIDE_NOT_READ",
] as const;

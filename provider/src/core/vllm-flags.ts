export { flagRowsFor, flagTableFor } from "./vllm-flags-table";
export { unknownFlags, unsuitableValues } from "./vllm-flags-check";

export { askedFlags, flagRowsFor, flagTableFor, type FlagKinds } from "./vllm-flags-table";
export { unknownFlags } from "./vllm-flags-check";
export { unsuitableValues } from "./vllm-flags-values";

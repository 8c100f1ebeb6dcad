export { askedFlags, flagRowsFor, flagTableFor, type FlagKinds, judgingTable } from "./vllm-flags-table";
export { deprecatedFlags, unknownFlags } from "./vllm-flags-check";
export { unsuitableValues } from "./vllm-flags-values";

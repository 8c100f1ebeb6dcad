export {
  flagRowsFor,
  flagTableFor,
  type FlagKind,
  type FlagKinds,
  type FlagRow,
  type FlagTable,
} from "./vllm-flags-table";
export { unknownFlags, unsuitableValues, type UnknownFlag } from "./vllm-flags-check";

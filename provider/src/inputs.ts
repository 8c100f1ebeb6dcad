/**
 * `pulumi-vllm/inputs`: what is wrong with inputs, before a resource is made of them. Apart from `pulumi-vllm` itself, so that programs that
 * do not ask do not load the schemas.
 */
export { inputProblems } from "./core/input-check";
export type { InputCheck, InputProblem } from "./core/input-check";
export { sharedPorts } from "./core/shared-ports";
export type { SharedPort } from "./core/shared-ports";

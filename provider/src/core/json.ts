/** JSON as it travels: what vLLM's YAML file, the agent protocol and Pulumi's state can all hold. */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

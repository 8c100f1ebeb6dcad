import { z } from "zod";
import { startServed } from "./served-process.ts";

const readySchema = z.object({ url: z.string() });

export interface PackageIndex {
  /** For vllm.indexUrl, without the login. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a package index of `config` (package-index/serve.py) in a process that ends with this one. */
export async function startPackageIndex(config: object): Promise<PackageIndex> {
  const { said, close } = await startServed("package-index", config);
  return { url: readySchema.parse(said).url, close };
}

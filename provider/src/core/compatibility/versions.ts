import type { Version } from "../kv-cache-situation";

/** The first version whose source was not read for these tables: what they say of it and later ones is a warning. */
export const LATEST_READ: Version = [0, 34];

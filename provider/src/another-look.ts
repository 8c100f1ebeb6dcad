import { VllmServerError } from "./core/errors";

/** Connection losses and plans that were overtaken; each try looks at the host anew. */
const MAX_TRIES = 3;

/**
 * What is done to a host is a look and an answer to it. A connection that broke, or a server that was not any more as it was seen
 * (it restarted by itself in between), is a reason to look again; everything else is for the caller.
 * @param hasAdvanced whether the last try came further than those before it: a download of hours may outlive any number of connections.
 */
export async function withAnotherLook<T>(
  once: () => Promise<T>,
  onAgain: (error: VllmServerError) => void = () => undefined,
  hasAdvanced: () => boolean = () => false,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once();
    } catch (error) {
      if (hasAdvanced()) attempt = 0;
      if (!isWorthAnotherLook(error) || attempt === MAX_TRIES) throw error;
      onAgain(error);
    }
  }
}

/** Whether the plan was overtaken, or what came of it was not heard. */
export function isWorthAnotherLook(error: unknown): error is VllmServerError {
  return (
    error instanceof VllmServerError &&
    (error.code === "CONNECTION_LOST" || error.code === "CHANGED_MEANWHILE")
  );
}

/** Asks again until the answer is no longer null; the bound is there only so that a defect ends the test with words. */
export async function eventually<T>(
  what: string,
  ask: () => T | null | Promise<T | null>,
  withinSeconds = 60,
): Promise<T> {
  const end = Date.now() + withinSeconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (Date.now() > end) throw new Error(`not within ${String(withinSeconds)} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

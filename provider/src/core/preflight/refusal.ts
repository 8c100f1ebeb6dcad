import { VllmServerError } from "../errors";
import { isError, type Finding } from "../finding";

/**
 * All that makes a start certain to fail as one error; null: nothing does. Its code is that of the first, and a second try can succeed
 * where it can for each.
 * @param server `server "kimi" on gpu1`
 */
export function refusal(server: string, findings: readonly Finding[]): VllmServerError | null {
  const errors = findings.filter(isError);
  const [first] = errors;
  if (first === undefined) return null;
  const problems = errors.map(({ code, summary, evidence, change, path }) => ({
    code,
    summary,
    evidence,
    change,
    path,
  }));
  const retryable = errors.every((error) => error.retryable === true);
  if (errors.length > 1) {
    return new VllmServerError({
      code: first.code,
      summary: `Cannot start ${server}: ${String(errors.length)} things stand in the way`,
      path: first.path,
      problems,
      retryable,
    });
  }
  const { code, summary, evidence, change, path } = first;
  return new VllmServerError({
    code,
    summary: `Cannot start ${server}: ${summary}`,
    evidence,
    change,
    path,
    problems,
    retryable,
  });
}

import { userInfo } from "node:os";
import { matchesPatternList } from "./pattern";

/** What is known of the connection while a configuration is read. */
export interface MatchContext {
  /** Host as it was written. */
  readonly host: string;
  /** Host name found so far, else the host as written. */
  readonly hostname: string;
  /** User given or found so far, else the local one. */
  readonly user: string;
  /** The second reading, which only "Match final" asks for. */
  readonly isFinal: boolean;
}

/**
 * Whether a Match line holds. "exec" never does, so that reading a file never runs a program; neither does a criterion that
 * is not known here. Source: ssh_config(5), Match.
 */
export function matchesCriteria(criteria: Readonly<Record<string, string>>, context: MatchContext): boolean {
  return Object.entries(criteria).every(([name, patterns]) => {
    const isNegated = name.startsWith("!");
    const holds = matchesCriterion(name.replace("!", "").toLowerCase(), patterns.split(","), context);
    return holds !== null && holds !== isNegated;
  });
}

function matchesCriterion(name: string, patterns: readonly string[], context: MatchContext): boolean | null {
  switch (name) {
    case "all":
      return true;
    case "final":
      return context.isFinal;
    case "canonical":
      return false;
    case "host":
      return matchesPatternList(patterns, context.hostname);
    case "originalhost":
      return matchesPatternList(patterns, context.host);
    case "user":
      return matchesPatternList(patterns, context.user);
    case "localuser":
      return matchesPatternList(patterns, userInfo().username);
    default:
      return null;
  }
}

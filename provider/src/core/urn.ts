/** The parts of a Pulumi URN that people recognise: `urn:pulumi:<stack>::<project>::<types>::<name>`. */
export interface UrnParts {
  readonly stack: string;
  readonly project: string;
  readonly name: string;
}

/** A name may itself contain "::", the other parts cannot. */
export function parseUrn(urn: string): UrnParts {
  const [head = "", project = "", , ...name] = urn.split("::");
  return { stack: head.split(":")[2] ?? "", project, name: name.join("::") };
}

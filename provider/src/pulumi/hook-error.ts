/**
 * What read and delete fail with. Pulumi shows the message with the resource. The dynamic provider prints `${error}: ${error.stack}` as
 * well, which comes out under the stack, far from the resource: there one line that names it is enough.
 * Source: @pulumi/pulumi 3.276 cmd/dynamic-provider/index.js, read and delete.
 */
export class HookError extends Error {
  readonly #resource: string;

  constructor(resource: string, message: string, cause: unknown) {
    super(message, { cause });
    this.name = "HookError";
    this.#resource = resource;
    this.stack = "it failed, and the reason stands with it";
  }

  override toString(): string {
    return this.#resource;
  }
}

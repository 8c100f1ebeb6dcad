import { fromCommand, Rejected } from "../../provider/src/core/from-command";

export type Inputs = Readonly<Record<string, unknown>>;

/** What becomes of a text: inputs without what is empty, and notes as "code subject", without the one that nearly all have. */
export async function converted(
  text: string,
): Promise<{ readonly inputs: Inputs; readonly notes: readonly string[] }> {
  const { inputs, notes } = await fromCommand(text);
  const given = Object.entries(inputs).filter(([, value]) => JSON.stringify(value) !== "{}");
  const told = notes.map(({ code, subject }) => `${code} ${subject}`);
  return {
    inputs: Object.fromEntries(given),
    notes: told.filter((note) => note !== "narrower-address listen.address"),
  };
}

/** "code subject" of the refusal; "taken" where there is none. */
export async function rejection(text: string): Promise<string> {
  const error: unknown = await fromCommand(text).catch((thrown: unknown) => thrown);
  return error instanceof Rejected ? `${error.code} ${error.subject}` : "taken";
}

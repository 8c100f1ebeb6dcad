import {
  configEntry,
  configKeyOf,
  type Conversion,
  isWithoutPlace,
  NOTE_CODES,
  type NoteGroup,
  programText,
  resourceName,
} from "../../core/from-command";
import { wrapText } from "../../core/wrap-text";
import type { FromCommandOptions } from "./options";

const COLUMNS = 80;

/** The object that `--json` promises. */
export function asJson({ inputs, secrets, notes }: Conversion): string {
  const texts = notes.map(({ code, subject, text }) => `${code} ${subject}: ${text}`);
  return `${JSON.stringify({ inputs, secrets, notes: texts })}\n`;
}

export function asProgram({ inputs }: Conversion, { name, host }: FromCommandOptions): string {
  return programText(inputs, { name: name ?? resourceName(inputs), host });
}

export function asConfig({ inputs }: Conversion, { name, host }: FromCommandOptions): string {
  return configEntry(inputs, { name: name ?? resourceName(inputs), host });
}

const GROUPS: readonly (readonly [group: NoteGroup, title: string])[] = [
  ["decide", "needs a decision:"],
  ["changed", "says the same in another way, or means something else:"],
  ["dropped", "left out:"],
];

/** For people: what to decide, what changed, what is gone, and the commands that set the config. */
export function notesText(conversion: Conversion, options: FromCommandOptions): string {
  const blocks = GROUPS.map(([group, title]) => {
    const lines = conversion.notes
      .filter(({ code }) => NOTE_CODES[code] === group)
      .map(({ subject, text }) => `${wrapText(`  ${subject}: ${text}`, { width: COLUMNS, indent: 4 })}\n`);
    return lines.length === 0 ? "" : `${title}\n${lines.join("")}`;
  });
  const commands = configCommands(conversion, options);
  return [...blocks, commands.length === 0 ? "" : `set the config:\n${commands.join("")}`]
    .filter((block) => block !== "")
    .join("\n");
}

function configCommands({ inputs, secrets }: Conversion, options: FromCommandOptions): readonly string[] {
  const isModelless = isWithoutPlace(inputs["model"]);
  const name = options.name ?? resourceName(inputs);
  if (options.form === "yaml") {
    const at = (path: string): string =>
      `'servers${/^\w+$/.test(name) ? `.${name}` : `["${name}"]`}.${path}'`;
    return [
      ...(options.host === null ? [`  pulumi config set --path ${at("host")} HOST\n`] : []),
      ...(isModelless ? [`  pulumi config set --path ${at("model.repo")} ORG/NAME\n`] : []),
      ...secrets.map((path) => `  pulumi config set --path --secret ${at(path)}\n`),
    ];
  }
  const keys = new Set(secrets.map((path) => configKeyOf(path)));
  return [
    ...(options.host === null ? ["  pulumi config set host HOST\n"] : []),
    ...(isModelless ? ["  pulumi config set model ORG/NAME\n"] : []),
    ...[...keys].map((key) => `  pulumi config set --secret ${key}\n`),
  ];
}

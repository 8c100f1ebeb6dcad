import { type Command, EXIT, type ExitCode, type Terminal } from "./command";
import { COMMANDS } from "./commands";

/** Does what the words behind `pulumi-vllm` say. */
export async function run(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const [first, ...rest] = words;
  if (first === "--help" || first === "-h" || first === "help") {
    terminal.out(overview(COMMANDS));
    return EXIT.done;
  }
  const command = COMMANDS.find(({ name }) => name === first);
  if (command === undefined) {
    const found =
      first === undefined ? "no command is given" : `there is no command ${JSON.stringify(first)}`;
    terminal.err(`pulumi-vllm: ${found}\n\n${overview(COMMANDS)}`);
    return EXIT.usage;
  }
  const end = rest.indexOf("--");
  const options = end === -1 ? rest : rest.slice(0, end);
  if (options.includes("--help") || options.includes("-h")) {
    terminal.out(command.help);
    return EXIT.done;
  }
  return await command.run(rest, terminal);
}

function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}   ${summary}`);
  return `usage: pulumi-vllm COMMAND ...\n\n${lines.join("\n")}\n\npulumi-vllm COMMAND --help says more.\n`;
}

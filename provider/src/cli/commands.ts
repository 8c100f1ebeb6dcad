import type { Command } from "./command";
import { diagnoseCommand } from "./diagnose";
import { doctorCommand } from "./doctor";
import { fromCommandCommand } from "./from-command";
import { logsCommand } from "./logs";
import { patchCommand } from "./patch";

/** Every command, in the order of `pulumi-vllm --help`. */
export const COMMANDS: readonly Command[] = [
  fromCommandCommand,
  patchCommand,
  diagnoseCommand,
  doctorCommand,
  logsCommand,
];

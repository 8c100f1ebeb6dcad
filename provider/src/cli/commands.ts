import type { Command } from "./command";
import { diagnoseCommand } from "./diagnose";
import { doctorCommand } from "./doctor";
import { fromCommandCommand } from "./from-command";
import { logsCommand } from "./logs";
import { patchCommand } from "./patch";
import { toCommandCommand } from "./to-command";

/** Every command, in the order of `pulumi-vllm --help`. */
export const COMMANDS: readonly Command[] = [
  fromCommandCommand,
  toCommandCommand,
  patchCommand,
  diagnoseCommand,
  doctorCommand,
  logsCommand,
];

import type { Command } from "./command";
import { diagnoseCommand } from "./diagnose";
import { doctorCommand } from "./doctor";
import { logsCommand } from "./logs";
import { patchCommand } from "./patch";

/** Every command, in the order of `pulumi-vllm --help`. */
export const COMMANDS: readonly Command[] = [patchCommand, diagnoseCommand, doctorCommand, logsCommand];

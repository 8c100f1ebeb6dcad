import { type GivenWord, joinedWords, unknownWord } from "./given-word";
import type { ShellValue } from "./shell-values";

/** What is set only under a condition may have any value; what is added to it may be there or not. */
export function valueAfter(
  before: ShellValue | undefined,
  read: ShellValue,
  {
    name,
    isAppended,
    isCertain,
  }: { readonly name: string; readonly isAppended: boolean; readonly isCertain: boolean },
): ShellValue {
  if (isCertain) return isAppended ? appended(before, read) : read;
  if (!isAppended || before === undefined) return unknownWord(name);
  return "length" in before ? [...before, unknownWord(name)] : appended(before, plainOrUnknown(name));
}

/** A word of its own where the variable is split. */
function plainOrUnknown(name: string): GivenWord {
  const word = unknownWord(name);
  return { ...word, text: ` ${word.text}` };
}

function appended(before: ShellValue | undefined, added: ShellValue): ShellValue {
  if (before === undefined) return added;
  const list = (value: ShellValue): readonly GivenWord[] => [value].flat();
  if ("length" in before || "length" in added) return [...list(before), ...list(added)];
  return joinedWords([before, added]);
}

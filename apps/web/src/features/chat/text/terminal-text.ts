import { visible } from "./visible";

/** Sequences that color a terminal, move its cursor, or name its window. */
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with one
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B\n]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B\n]*(?:\u001B\\)?|[ -/]*[0-~])/g;

/** What a command wrote, as it reads: without the sequences, and of a line that was written over only its last state. */
export function terminalText(text: string): string {
  const plain = text.replace(sequences, "");
  const lines = plain.includes("\r") ? plain.split("\n").map(lastState).join("\n") : plain;
  return visible(lines);
}

function lastState(line: string): string {
  const states = line.split("\r");
  return states.findLast((state) => state !== "") ?? "";
}

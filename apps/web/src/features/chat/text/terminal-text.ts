import { visible } from "../../shared/visible";

/** Escape sequences that color a terminal, move its cursor, or name its window. */
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B\n]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B\n]*(?:\u001B\\)?|[ -/]*[0-~])/g;

/**
 * Returns the visible output of a command: without escape sequences, and with only the last state of an overwritten
 * line.
 */
export function terminalText(text: string): string {
  const plain = text.replace(sequences, "");
  const lines = plain.includes("\r") ? plain.split("\n").map(lastState).join("\n") : plain;
  return visible(lines);
}

function lastState(line: string): string {
  const states = line.split("\r");
  return states.findLast((state) => state !== "") ?? "";
}
